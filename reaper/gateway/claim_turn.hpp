// One claim of a host at a time, while it is compared with what is promised there: the next one
// sees what it took.
#pragma once

#include <set>
#include <utility>

#include "reaper/model/ids.hpp"

namespace reaper {

/// Of one claim: all of its providers but those that somebody has. `claiming` must outlive it.
class ClaimTurn {
public:
    ClaimTurn(std::set<ProviderId>& claiming, std::set<ProviderId> mine)
        : claiming_(claiming), mine_(std::move(mine)) {
        std::erase_if(mine_, [&](const ProviderId& id) { return !claiming_.insert(id).second; });
    }
    ~ClaimTurn() {
        for (const ProviderId& id : mine_) claiming_.erase(id);
    }
    ClaimTurn(const ClaimTurn&) = delete;
    ClaimTurn& operator=(const ClaimTurn&) = delete;

private:
    std::set<ProviderId>& claiming_;
    std::set<ProviderId> mine_;
};

}  // namespace reaper
