// One at a time for each of some ids: of those who write allocations of a host; of those who ask
// Nova about a server, so that it is asked once.
#pragma once

#include <set>
#include <utility>

namespace reaper {

/// The turn of one, with all of its ids but those that are taken. `taken` must outlive it.
template <class Id>
class Turn {
public:
    Turn(std::set<Id>& taken, std::set<Id> mine) : taken_(taken), mine_(std::move(mine)) {
        std::erase_if(mine_, [&](const Id& id) { return !taken_.insert(id).second; });
    }
    ~Turn() {
        for (const Id& id : mine_) taken_.erase(id);
    }
    Turn& operator=(Turn&&) = delete;

private:
    std::set<Id>& taken_;
    std::set<Id> mine_;
};

}  // namespace reaper
