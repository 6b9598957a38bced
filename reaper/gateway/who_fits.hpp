// Which requests a query of nova-scheduler's for candidates could be for, by what both say. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reaper/cloud/cache/cloud_cache.hpp"
#include "reaper/model/placement_constraints.hpp"
#include "reaper/model/records.hpp"
#include "reaper/model/request.hpp"
#include "reaper/request_spec/placement_query.hpp"

namespace reaper {

/// Is all of it within what is asked for? What ports and device profiles ask for besides is in the
/// query alone.
bool within(const Resources& resources, const Resources& asked);

/// The aggregates that the query wants hosts to be members of, as far as they have any.
HostAggregates named_aggregates(const CandidatesQuery& query, const CloudCache& cache);

/// Puts the request in the words of the query; why that can't be.
std::optional<std::string> narrow(Request& request, const CandidatesQuery& query,
                                  const CloudCache& cache);

/// Could the query be for this request to boot? `named`: those of the query's aggregates that are
/// known; of zones that it names, one must be the request's.
bool fits(const Request& request, const CandidatesQuery& query, const HostAggregates& named);

/// May full hosts be offered for it? Not for groups; and with dedicated CPUs, nova-scheduler's
/// NUMATopologyFilter refuses a full host before it claims.
bool may_be_offered(const CandidatesQuery& query);

/// Which of the two it is makes no difference to others.
bool alike(const Request& a, const Request& b);

/// Could the query be for this server, as far as its flavor tells?
bool may_be_for(const ServerRecord& record, const CandidatesQuery& query);

/// Do its metadata or its flavor admit neither kind of room?
bool admits_no_room(const ServerRecord& booting, const SchedulerRules& rules);

/// Servers by the request to boot that they belong to.
std::map<std::string, std::vector<ServerRecord>> by_reservation(
    const std::vector<ServerRecord>& servers);

}  // namespace reaper
