#include "reaper/oversubscription/publication.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "reaper/model/time.hpp"

namespace reaper {
namespace {

/// A host that has not flapped for this time starts afresh.
void close_in_time(Circuit& quiet, TimePoint now, const PublicationRules& rules) {
    const auto until = quiet.until();
    if (until && now - *until >= rules.flap_window) quiet.close();
}

/// One look at one host.
class Publication {
public:
    Publication(const PublishedState& before, const Estimate& estimate, const RoomInUse& in_use,
                TimePoint now, const PublicationRules& rules)
        : before_{before},
          estimate_{estimate},
          used_{std::max<Amount>(in_use.used, 0)},
          cores_{in_use.cores},
          too_busy_{in_use.too_busy},
          now_{now},
          rules_{rules} {
        result_.state = before;
        if (!state().known_at) state().known_at = now;
        state().total = std::max<Amount>(before.total, 0);
        close_in_time(state().quiet, now, rules);
        result_.left_alone = state().quiet.state(now) == CircuitState::open;
    }

    Published run() {
        if (good()) {
            state().known_at = estimate_.measured_at.value_or(now_);
            follow();
        } else {
            wait_for_figures();
        }
        note_fall();
        if (result_.why.empty()) result_.why = estimate_.why;
        result_.closed = state().total == 0 && used_ > 0;
        result_.total = result_.closed ? 1 : state().total;
        return std::move(result_);
    }

private:
    PublishedState& state() { return result_.state; }

    bool good() const {
        return estimate_.known &&
               (!estimate_.measured_at || now_ - *estimate_.measured_at <= rules_.max_age);
    }

    void follow() {
        const Amount most = std::max<Amount>(estimate_.fall_to, 0);
        result_.excess = std::max<Amount>(used_ - std::max(most, estimate_.keep_to), 0);
        if (too_busy_) {
            close();
        } else if (state().total > most) {
            state().total = most;
            state().pending.reset();
            say("falls at once");
        } else {
            rise(std::min(estimate_.rise_to, most));
        }
    }

    void wait_for_figures() {
        const Duration since = now_ - *state().known_at;
        std::string why = estimate_.known ? "the last measurement is too old" : estimate_.why;
        if (since > rules_.max_age) {
            state().total = std::min(state().total, used_);
            state().pending.reset();
            why += "; nothing new for " + format_duration(since);
        }
        result_.why = std::move(why);
        if (too_busy_) close();
    }

    void close() {
        state().total = 0;
        state().pending.reset();
        say("nothing new while the host is too busy");
    }

    void rise(Amount to) {
        if (to - state().total < least_gain()) return stay("");
        if (result_.left_alone) return stay("left alone, as it went up and down");
        if (estimate_.coverage < rules_.least_coverage)
            return stay("not trusted yet: too few readings");
        auto& pending = state().pending;
        if (!pending) pending = PublishedState::Pending{to, now_};
        pending->to = std::min(pending->to, to);
        if (pending->to - state().total < least_gain()) pending = PublishedState::Pending{to, now_};
        if (now_ - pending->since < rules_.rise_after) return say("waits before it rises");
        if (state().rose_at && now_ - *state().rose_at < rules_.interval)
            return say("rises step by step");
        state().total += std::min(step(), pending->to - state().total);
        state().rose = true;
        state().rose_at = now_;
        if (state().total == pending->to) pending.reset();
        say("rises");
    }

    Amount least_gain() const { return std::max<Amount>(rules_.hysteresis, 1); }

    /// No rise is in sight.
    void stay(const std::string& why) {
        state().pending.reset();
        if (!why.empty()) say(why);
    }

    Amount step() const {
        const double part = std::floor(rules_.rise_step * cores_);
        return part >= 1 && part < 1e9 ? static_cast<Amount>(part) : 1;
    }

    void note_fall() {
        if (state().total >= before_.total) return;
        const bool flap = state().rose;
        state().rose = false;
        auto& flaps = state().flaps;
        std::erase_if(flaps, [&](TimePoint at) { return now_ - at > rules_.flap_window; });
        if (!flap) return;
        flaps.push_back(now_);
        if (rules_.flaps == 0 || flaps.size() < static_cast<std::size_t>(rules_.flaps)) return;
        flaps.clear();
        state().quiet.open(now_, rules_.quiet);
        result_.left_alone = true;
    }

    void say(const std::string& what) {
        result_.why = what + (estimate_.why.empty() ? "" : ": " + estimate_.why);
    }

    const PublishedState& before_;
    const Estimate& estimate_;
    Amount used_;
    double cores_;
    bool too_busy_;
    TimePoint now_;
    const PublicationRules& rules_;
    Published result_;
};

}  // namespace

PublishedState PublishedState::found(Amount total) {
    PublishedState state;
    state.total = total;
    return state;
}

void PublishedState::shift(Duration by) {
    if (pending) pending->since += by;
    if (rose_at) *rose_at += by;
    if (known_at) *known_at += by;
    for (auto& flap : flaps) flap += by;
    quiet.shift(by);
}

Circuit left_alone_since(const std::vector<TimePoint>& times, const PublicationRules& rules) {
    Circuit quiet;
    for (const TimePoint at : times) {
        close_in_time(quiet, at, rules);
        quiet.open(at, rules.quiet);
    }
    return quiet;
}

Published next_published(const PublishedState& state, const Estimate& estimate,
                         const RoomInUse& in_use, TimePoint now, const PublicationRules& rules) {
    return Publication{state, estimate, in_use, now, rules}.run();
}

}  // namespace reaper
