// What of a host's free room is promised to others than who asks for it.
//
// The ledger tells what is promised. What victims still hold is not free yet, and what the servers
// for whom it was promised hold is promised no more: Placement is asked for both, after the answer
// or reading that it is taken off, so that what changes in between withholds more rather than less.
#pragma once

#include <map>
#include <set>

#include "reaper/cloud_reader/cache_refresher.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

/// References must outlive it.
class PromisedRoom {
public:
    PromisedRoom(CloudPorts cloud, const CacheRefresher& refresher, const Ledger& ledger)
        : cloud_(cloud), refresher_(refresher), ledger_(ledger) {}

    /// Nothing is promised on any host.
    bool none() const { return !ledger_.promises_anything(); }
    /// By host, where it is something.
    Task<std::map<HostId, Resources>> withheld(std::set<HostId> hosts, RequestId from);
    /// Would a claim of `asked` for `from` take room that is promised to others? Where that can't
    /// be told, it would not: Placement decides.
    Task<bool> claimed(Allocations asked, RequestId from);

private:
    Task<Resources> withheld_on(HostId host, RequestId from, int& looks);

    CloudPorts cloud_;
    const CacheRefresher& refresher_;
    const Ledger& ledger_;
};

}  // namespace reaper
