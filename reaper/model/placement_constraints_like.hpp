#pragma once

#include "reaper/model/placement_constraints.hpp"

namespace reaper {

/// The same demands, whoever is in the server group by now: each try of a server adds one to it.
inline bool alike(const Landing& a, const Landing& b) {
    return a.group.id == b.group.id && a.only_hosts == b.only_hosts &&
           a.aggregates == b.aggregates && a.with == b.with && a.apart_from == b.apart_from;
}

}  // namespace reaper
