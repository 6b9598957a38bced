// What of a host's free room is promised to others than its requester.
//
// The ledger tells what is promised. What victims still hold, or what is kept of theirs, is not
// free, and what the servers
// for whom it was promised hold is promised no more: Placement is asked for both, after the answer
// or reading that it is taken off, so that what changes in between withholds more rather than less.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "reaper/cloud/reader/cache_refresher.hpp"
#include "reaper/escrow/escrow.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

/// References must outlive it.
class PromisedRoom {
public:
    PromisedRoom(CloudPorts cloud, const CacheRefresher& refresher, const Ledger& ledger,
                 const Escrow& kept)
        : cloud_(cloud), refresher_(refresher), ledger_(ledger), kept_(kept) {}

    /// Nothing is promised on any host.
    bool none() const { return !ledger_.promises_anything(); }
    bool any_to_others(const HostId& host, const RequestId& from) const {
        return !ledger_.promised_to_others(host, from).empty();
    }
    /// By host, where it is something.
    Task<std::map<HostId, Resources>> withheld(std::set<HostId> hosts, RequestId from);
    /// Would a claim of `asked` for `from` take room that is promised to others? Why, for people.
    /// Where that is not known, it would not: Placement decides.
    Task<std::optional<std::string>> claimed(Allocations asked, RequestId from);

private:
    Task<Resources> withheld_on(HostId host, RequestId from, TimePoint until, int& looks);
    TimePoint promised_since(const HostId& host, const RequestId& from,
                             const std::map<ServerId, Resources>& holders) const;
    Resources missing(const HostId& host, const RequestId& from, TimePoint until,
                      const std::map<ServerId, Resources>& held) const;
    std::string why_taken(const HostId& host, const RequestId& from, const ResourceClass& name,
                          Amount free, Amount kept) const;

    CloudPorts cloud_;
    const CacheRefresher& refresher_;
    const Ledger& ledger_;
    const Escrow& kept_;
};

}  // namespace reaper
