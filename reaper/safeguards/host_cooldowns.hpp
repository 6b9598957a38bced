// Hosts in cooldown: room freed there was not taken, so something that can't be read from outside
// (an image property, NUMA, a filter of the operator's own) may forbid it. For a while they rank
// lower.
#pragma once

#include <map>
#include <string>

#include "reaper/model/ids.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

class HostCooldowns {
public:
    /// Room on the host, freed for `request`, was found untaken at `at`. The latest word counts.
    void note(const HostId& host, const RequestId& request, TimePoint at);
    /// Drops what is older than `lasting`, and sets what lies in the future to `now`.
    void prune(TimePoint now, Duration lasting);

    /// The wall clock was set forward by so much (or back): all times move with it.
    void shift(Duration by);

    /// Each with its reason.
    std::map<HostId, std::string> reasons() const;
    bool empty() const { return cooldowns_.empty(); }

private:
    struct Cooldown {
        RequestId request;
        TimePoint at;
    };
    std::map<HostId, Cooldown> cooldowns_;
};

}  // namespace reaper
