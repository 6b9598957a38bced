#include "reaper/safeguards/hanging_deletions.hpp"

#include <algorithm>
#include <vector>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

constexpr Duration shortest{10'000};
constexpr Duration usual{30'000};
/// So many hosts, and it is no matter of hosts.
constexpr std::size_t too_many = 3;
constexpr Duration remembered_for = std::chrono::hours{1};

bool is_there(const Host& host, const ServerId& server) {
    return std::ranges::any_of(host.servers, [&](const Server& each) { return each.id == server; });
}

}  // namespace

void HangingDeletions::sent(const HostId& host, const ServerId& server, TimePoint at) {
    under_way_.try_emplace(server, Sent{host, at});
}

void HangingDeletions::ended(const ServerId& server, TimePoint at) {
    const auto known = under_way_.extract(server);
    if (known.empty()) return;
    const Sent& sent = known.mapped();
    took_.push_back(std::max(at - sent.at, Duration::zero()));
    if (took_.size() > most_known) took_.pop_front();
    end(sent.host, at);
}

/// One that ended: those that still go have their time from now on.
void HangingDeletions::end(const HostId& host, TimePoint at) {
    TimePoint& last = ended_on_[host];
    last = std::max(last, at);
    ended_last_ = std::max(ended_last_.value_or(at), at);
}

void HangingDeletions::see(const HostLookup& host_of, TimePoint now) {
    for (auto at = under_way_.begin(); at != under_way_.end();) {
        const auto& [server, sent] = *at;
        const Host* const host = host_of(sent.host);
        if (host == nullptr || is_there(*host, server)) {
            ++at;
            continue;
        }
        end(sent.host, now);
        at = under_way_.erase(at);
    }
}

Duration HangingDeletions::limit() const {
    if (took_.size() < fewest_known) return usual;
    std::vector<Duration> sorted(took_.begin(), took_.end());
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return std::clamp<Duration>(4 * *middle, shortest, std::max<Duration>(usual, 2 * *middle));
}

std::map<HostId, std::string> HangingDeletions::reasons(TimePoint now) const {
    const Duration longest = limit();
    std::map<HostId, std::string> reasons;
    std::optional<TimePoint> first;
    for (const auto& [server, sent] : under_way_) {
        const auto last = ended_on_.find(sent.host);
        const TimePoint since = last == ended_on_.end() ? sent.at : std::max(sent.at, last->second);
        if (now - since <= longest) continue;
        first = std::min(first.value_or(sent.at), sent.at);
        reasons.try_emplace(sent.host, "a deletion there hangs: that of server " +
                                           printable(server.str(), 64) + " went out at " +
                                           iso_time(sent.at));
    }
    const bool ended_meanwhile = first && ended_last_ && *ended_last_ > *first;
    if (reasons.size() >= too_many && !ended_meanwhile) reasons.clear();
    return reasons;
}

void HangingDeletions::prune(TimePoint now) {
    const auto old = [&](TimePoint at) { return at <= now - remembered_for; };
    std::erase_if(under_way_, [&](const auto& each) { return old(each.second.at); });
    std::erase_if(ended_on_, [&](const auto& each) { return old(each.second); });
}

void HangingDeletions::shift(Duration by) {
    for (auto& [server, sent] : under_way_) sent.at += by;
    for (auto& [host, at] : ended_on_) at += by;
    if (ended_last_) *ended_last_ += by;
}

}  // namespace reaper
