// The parts of a host that Nova's services and aggregates show. Pure.
#pragma once

#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/records.hpp"

namespace reaper {

/// Status, state and zone as the host's compute service reports them. None: Nova lists no such
/// service, so the host is taken to be down.
void set_service(Host& host, const ComputeServiceRecord* service);

/// The aggregates that the host is in; and its zone, where its service reported none.
void in_allowed_aggregates(Host& host, const std::vector<AggregateRecord>& aggregates);

}  // namespace reaper
