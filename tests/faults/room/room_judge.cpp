#include "faults/room/room_judge.hpp"

#include <algorithm>
#include <cmath>

namespace reaper::faults {

namespace {

/// Counters are read at slightly different times.
constexpr double most_of_all_cores = 1.1;
constexpr double rounding = 1e-9;

std::string numbers(const RoomLook& look) {
    return std::to_string(look.before) + " -> " + std::to_string(look.after) + ", " +
           std::to_string(look.used) + " used, " + std::to_string(look.size.allocated) +
           " allocated";
}

}  // namespace

ToldUse told_of_whole(TimePoint at, double in_use, Amount held) {
    return {at, std::max(in_use - static_cast<double>(held), 0.0), in_use};
}

void ToldHistory::tell(const ToldUse& use) {
    Reading made{use.at, use.least, use.most, use.least, use.most};
    double number = 1;
    for (auto at = readings_.rbegin(); at != readings_.rend(); ++at) {
        if (at->at <= use.at - rules_.smoothing) break;
        made.mean_least += at->least;
        made.mean_most += at->most;
        ++number;
    }
    made.mean_least /= number;
    made.mean_most /= number;
    readings_.push_back(made);
}

std::optional<TimePoint> ToldHistory::good_reading(const HostSize& size, TimePoint now) const {
    if (rules_.fixed) return now;
    if (readings_.empty() || size.cores <= 0) return std::nullopt;
    const TimePoint last = readings_.back().at;
    if (now - last > std::min(rules_.longest_gap, rules_.publication.max_age)) return std::nullopt;
    if (peak(&Reading::mean_most, now) > size.cores * most_of_all_cores) return std::nullopt;
    return last;
}

/// The largest mean of those within the time, and of the last one.
double ToldHistory::peak(double Reading::*mean, TimePoint now) const {
    double most = readings_.back().*mean;
    for (auto at = readings_.rbegin(); at != readings_.rend(); ++at) {
        if (at->at <= now - rules_.peak) break;
        most = std::max(most, (*at).*mean);
    }
    return most;
}

Amount ToldHistory::may_rise_to(const HostSize& size, TimePoint now) const {
    return room(size, rules_.fixed ? 0 : peak(&Reading::mean_most, now));
}

Amount ToldHistory::must_fall_to(const HostSize& size, TimePoint now) const {
    return room(size, rules_.fixed ? 0 : peak(&Reading::mean_least, now));
}

Amount ToldHistory::may_stay(const HostSize& size, TimePoint now) const {
    return room(size, rules_.fixed ? 0 : peak(&Reading::mean_least, now), false);
}

/// `allocated`: no more than that, less what is in use of it.
Amount ToldHistory::room(const HostSize& size, double peak, bool allocated) const {
    if (rules_.fixed)
        return std::min(
            *rules_.fixed,
            static_cast<Amount>(std::floor(static_cast<double>(size.vcpus) * size.ratio)));
    const double cores = std::min(size.cores, static_cast<double>(size.vcpus));
    const double in_use = std::min(peak, size.cores);
    const double unused = static_cast<double>(size.allocated) - in_use;
    const double idle =
        (cores - cores * rules_.margin - in_use) * std::min(rules_.per_core, size.ratio);
    const double least =
        std::min(allocated ? std::min(unused, idle) : idle, cores * rules_.ceiling);
    return least <= 0 ? 0 : static_cast<Amount>(std::floor(least + rounding));
}

double ToldHistory::covered(TimePoint now) const {
    const Duration whole = rules_.publication.trust_after;
    if (rules_.fixed || whole <= Duration::zero()) return 1;
    const TimePoint from = now - whole;
    Duration missing{0};
    const auto hole = [&](TimePoint begin, TimePoint end) {
        if (end - begin > rules_.longest_gap && end > from) missing += end - std::max(begin, from);
    };
    for (std::size_t i = 1; i < readings_.size(); ++i) hole(readings_[i - 1].at, readings_[i].at);
    if (const TimePoint first = readings_.front().at; first - from > rules_.longest_gap)
        missing += first - from;
    return 1 - std::chrono::duration<double>(missing) / std::chrono::duration<double>(whole);
}

void RoomJudge::restart() {
    told_.forget();
    chances_.clear();
    flaps_.clear();
    known_at_ = rose_at_ = fell_at_ = left_alone_until_ = std::nullopt;
    rose_ = false;
    in_a_row_ = 0;
}

std::string RoomJudge::look(const RoomLook& look) {
    const auto reading = told_.good_reading(look.size, look.at);
    if (reading || !known_at_) known_at_ = reading.value_or(look.at);
    chances_.push_back(
        {look.at, reading ? told_.may_rise_to(look.size, look.at) : 0, reading.has_value()});
    if (left_alone_until_ && look.at - *left_alone_until_ >= rules_.publication.flap_window) {
        left_alone_until_.reset();
        in_a_row_ = 0;
    }
    std::string wrong = judge_level(look, reading.has_value());
    if (wrong.empty() && look.after > look.before) wrong = judge_rise(look, reading.has_value());
    if (look.after > look.before) {
        rose_ = true;
        rose_at_ = look.at;
        ++rises_;
    }
    if (look.after < look.before) note_fall(look.at);
    return wrong;
}

std::string RoomJudge::judge_level(const RoomLook& look, bool good) {
    if (look.closed != (look.after == 0 && look.used > 0))
        return "closed: it is closed where it need not be, or open where nothing is to start";
    if (!good) {
        if (look.excess > 0) return "excess-unknown: a server is to go, and nothing is known";
        if (look.at - *known_at_ > rules_.publication.max_age && look.after > look.used)
            return "unknown: there is room for new ones, and nothing is known: " + numbers(look);
        return {};
    }
    const Amount most = told_.must_fall_to(look.size, look.at);
    if (look.after > most)
        return "level: more than " + std::to_string(most) + " is published: " + numbers(look);
    const Amount stay = told_.may_stay(look.size, look.at);
    if (look.excess != std::max<Amount>(look.used - stay, 0))
        return "excess: " + std::to_string(look.excess) + " are to go, and " +
               std::to_string(stay) + " may stay: " + numbers(look);
    return {};
}

std::string RoomJudge::judge_rise(const RoomLook& look, bool good) {
    const auto& rules = rules_.publication;
    const auto wrong = [&](const std::string& what) { return what + ": " + numbers(look); };
    if (!good) return wrong("rise-unknown");
    if (rose_at_ && look.at - *rose_at_ < rules.interval) return wrong("rise-early");
    if (look.after - look.before >
        std::max<Amount>(1, static_cast<Amount>(std::floor(rules.rise_step * look.size.cores))))
        return wrong("rise-step");
    if (told_.may_rise_to(look.size, look.at) - look.before < std::max<Amount>(rules.hysteresis, 1))
        return wrong("rise-hysteresis");
    if (left_alone_until_ && look.at < *left_alone_until_) return wrong("rise-left-alone");
    if (told_.covered(look.at) < rules.least_coverage - rounding) return wrong("rise-untrusted");
    if (fell_at_ && look.at - *fell_at_ < rules.rise_after) return wrong("rise-after-fall");
    // It might have risen at each look of that time.
    const TimePoint since = look.at - rules.rise_after;
    if (chances_.front().at > since) return wrong("rise-after-start");
    for (auto at = chances_.rbegin(); at != chances_.rend() && at->at >= since; ++at)
        if (at->good && at->to < look.after) return wrong("rise-level");
    return {};
}

void RoomJudge::note_fall(TimePoint at) {
    const auto& rules = rules_.publication;
    ++falls_;
    fell_at_ = at;
    if (!rose_) return;
    rose_ = false;
    std::erase_if(flaps_, [&](TimePoint flap) { return at - flap > rules.flap_window; });
    flaps_.push_back(at);
    if (rules.flaps == 0 || static_cast<int>(flaps_.size()) < rules.flaps) return;
    flaps_.clear();
    ++times_left_alone_;
    Duration quiet = rules.quiet.retry_after;
    for (int i = 0; i < in_a_row_; ++i)
        quiet = std::min<Duration>(2 * quiet, rules.quiet.max_retry_after);
    ++in_a_row_;
    left_alone_until_ = at + quiet;
}

}  // namespace reaper::faults
