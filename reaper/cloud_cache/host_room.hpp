// Who holds what on one host of the cloud cache. Pure.
#pragma once

#include "reaper/cloud_cache/host_reading.hpp"
#include "reaper/model/cloud.hpp"

namespace reaper {

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
