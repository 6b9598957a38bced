// How a host is used, class by class: by whom, and what of it is spoken for. Pure.
//
// For each class:  capacity = free + regular + revocable + lent + evicting + reserved + other
// so that the parts can be drawn side by side. `free` is negative on a host that is overcommitted.
// `promised` overlaps: it is part of what is free, or of what is being evicted.
#pragma once

#include "reaper/model/cloud.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/rooms/ledger.hpp"

namespace reaper::api {

struct HostUseNow {
    Resources capacity;
    Resources free;
    Resources regular;    ///< held by regular servers
    Resources revocable;  ///< by revocable ones that stay
    Resources lent;       ///< by revocable ones in room that is reserved for a role
    Resources evicting;   ///< by those whose deletion has begun, whoever asked for it
    Resources reserved;   ///< by nobody but a reservation
    Resources other;      ///< by whatever else Placement lists: migrations, other programs
    Resources promised;   ///< to requests that the reaper makes room for
    int regular_servers = 0;
    int revocable_servers = 0;  ///< with those that are lent to
    int evicting_servers = 0;   ///< of either kind
};

/// `reserved`: what consumers of reservations hold on the host.
HostUseNow use_of(const Host& host, const Ledger& ledger, const Resources& reserved);

}  // namespace reaper::api
