// When are two requests, or a request and a server, alike? Each question is asked in several places
// and answered here.
#pragma once

#include "reaper/model/cloud.hpp"
#include "reaper/model/placement_constraints.hpp"
#include "reaper/model/request.hpp"

namespace reaper {

/// A server as large as one slot, of the same project: what a second try of the requester looks
/// like.
inline bool like_a_retry(const Server& server, const ProjectId& project, const Resources& slot) {
    return server.project == project && server.resources() == slot;
}

/// The same for a request, as itself or as its fallback.
inline bool like_a_retry(const Server& server, const Request& request) {
    return like_a_retry(server, request.project, request.resources) ||
           (request.fallback && like_a_retry(server, request.project, request.fallback->resources));
}

/// The same project and shape: the room of one can serve the other, wherever it is.
inline bool same_shape(const Request& a, const Request& b) {
    return a.project == b.project && a.resources == b.resources && a.groups == b.groups &&
           a.group_policy == b.group_policy;
}

/// The same demands on the place, whatever members the server group has now: each try adds
/// one to it.
inline bool same_placement(const PlacementConstraints& a, const PlacementConstraints& b) {
    return a.group.id == b.group.id && a.only_hosts == b.only_hosts &&
           a.aggregates == b.aggregates && a.with == b.with && a.apart_from == b.apart_from;
}

/// The same image, as far as is known: hypervisors take some and refuse others.
inline bool same_image(const Request& a, const Request& b) {
    return a.image == b.image || a.image.empty() || b.image.empty();
}

/// Any place that fits one fits the other, as far as is known; the number of
/// slots is left out.
inline bool same_demands(const Request& a, const Request& b) {
    return same_shape(a, b) && same_image(a, b) && a.operation == b.operation &&
           a.availability_zone == b.availability_zone && a.required_traits == b.required_traits &&
           a.forbidden_traits == b.forbidden_traits &&
           a.root_required_traits == b.root_required_traits && a.fallback == b.fallback &&
           a.flavor_extra_specs == b.flavor_extra_specs && a.excluded_hosts == b.excluded_hosts &&
           a.from_host == b.from_host && same_placement(a.placement, b.placement);
}

}  // namespace reaper
