// The parts of a host that Nova's services and aggregates show. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/records.hpp"

namespace reaper {

// What one reading of one host brought. Plain data.

struct HostReading {
    HostId host;
    TimePoint began{};  ///< nothing in it is older
    /// Inventories and allocations of every provider of the tree.
    std::map<ProviderId, ProviderState> states;
    bool with_traits = false;  ///< the states include traits
    /// UUIDs of the aggregates that Placement knows the root in, if that was read.
    std::optional<std::set<std::string>> aggregates;
    /// The service of the host; the inner one is none if Nova lists no such service.
    std::optional<std::optional<ComputeServiceRecord>> service;
    std::optional<std::vector<ServerRecord>> servers;  ///< all that Nova places on the host
    /// Were on the host, and are not in `servers`: Nova, asked for each, knows them no more.
    std::set<ServerId> gone{};
};

/// Status, state and zone as the host's compute service reports them. None: Nova lists no such
/// service, so the host is taken to be down.
void set_service(Host& host, const ComputeServiceRecord* service);

/// The aggregates that the host is in; and its zone, where its service reported none.
void in_allowed_aggregates(Host& host, const std::vector<AggregateRecord>& aggregates);

// Which server holds what on one host of the cloud cache. Pure.

/// True if the reading has a state for each provider of the host, and for no other.
bool has_tree(const Host& host, const HostReading& reading);

/// Capacities, use, and what each server of the host holds, as the reading shows. What consumers
/// hold that are no servers of the host counts as used anyway.
void set_room(Host& host, const HostReading& reading);

/// What the host's providers list for it as a consumer that was no server of the host becomes the
/// server's: Placement knew it before Nova reported it. False if they list nothing for it.
bool adopt(Host& host, Server& server);

/// The same of use of which a bulk reading has no consumers (`unread_consumers`), if it
/// covers what the server holds. To be asked about servers older than that reading only.
bool adopt_unread(Host& host, const Server& server);

/// What the host's providers list for a consumer that is no server of the host comes free. False if
/// they list nothing for it.
bool drop_consumer(Host& host, const ServerId& consumer);

/// The server's room comes free, or is taken, in the providers' use.
void give_back(Host& host, const Server& server);
void take_up(Host& host, const Server& server);

}  // namespace reaper
