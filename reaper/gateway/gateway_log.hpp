// What the gateway counts, logs, and remembers of the requests of late.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "reaper/model/ids.hpp"
#include "reaper/runtime/clock.hpp"

namespace reaper {

/// For people and `status`.
struct GatewayCounts {
    std::uint64_t searches = 0;
    Duration last_search{};          ///< when, on the steady clock
    int held = 0;                    ///< calls that wait for room now
    int looking = 0;                 ///< calls that are looked into now, those that wait among them
    int helping = 0;                 ///< calls that are served now, and claims of room in escrow
    std::uint64_t served = 0;        ///< got a host after a cull, or room that was there after all
    std::uint64_t without_room = 0;  ///< were served, and got Placement's own answer
    std::uint64_t offered = 0;       ///< are decided when they are claimed
    std::uint64_t revocable = 0;     ///< got revocable room, as they admit it
    std::uint64_t passed = 0;        ///< found nothing, and nothing was done: see the log
};

/// Counts its life.
class Counted {
public:
    explicit Counted(int& count) : count_(count) { ++count_; }
    ~Counted() { --count_; }
    Counted& operator=(Counted&&) = delete;

private:
    int& count_;
};

/// Each is kept for that time at least. The clock must outlive it.
class RecentRequests {
public:
    RecentRequests(const Clock& clock, Duration kept_for) : clock_(clock), kept_for_(kept_for) {}

    void note(const RequestId& id) {
        const Duration now = clock_.steady();
        std::erase_if(noted_, [&](const auto& each) { return now - each.second > kept_for_; });
        noted_[id] = now;
    }
    void erase(const RequestId& id) { noted_.erase(id); }
    bool contains(const RequestId& id) const { return noted_.contains(id); }
    bool empty() const { return noted_.empty(); }

private:
    const Clock& clock_;
    Duration kept_for_;
    std::map<RequestId, Duration> noted_;
};

struct GatewayLog {
    explicit GatewayLog(const Clock& clock);

    GatewayCounts counts;
    /// Placement had hosts: nova-scheduler got their names, or they were kept for others.
    RecentRequests had_hosts;
    /// They say which kind of room they admit.
    RecentRequests wishes;

    /// Placement's answer is not changed.
    void pass(const RequestId& id, const std::string& why);
    /// Calls wait no more, if there is a reason.
    void pause(const std::optional<std::string>& why) const;
};

}  // namespace reaper
