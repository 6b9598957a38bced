// What Nova's scheduler asks of Placement for a request: `GET /allocation_candidates`, parameter by
// parameter. tests/data/placement_queries has what it really asked.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reaper/model/error.hpp"
#include "reaper/model/placement_constraints.hpp"
#include "reaper/model/records.hpp"
#include "reaper/model/request.hpp"

namespace reaper {

/// Names and values, in order; a name may be there several times (`member_of`).
using PlacementQuery = std::vector<std::pair<std::string, std::string>>;

/// One query, or two where dedicated CPUs may be had as VCPU; none if nova-scheduler refuses the
/// project before it asks (`placement_aggregate_required_for_tenants`). `aggregates` are all of
/// the cloud's, `hosts` those that the request may name.
std::vector<PlacementQuery> placement_queries(const Request& request, const SchedulerRules& rules,
                                              const std::vector<AggregateRecord>& aggregates,
                                              const std::vector<HypervisorRecord>& hosts);

/// `A,B` taken apart; as many words as there are, empty ones too.
std::vector<std::string> words_of(std::string_view list);

// What a client of Placement asked for in `GET /allocation_candidates`: the inverse of
// `placement_queries`, and a request in its terms. The query has what no message contains: a forced
// host, what ports and device profiles ask for, aggregates that Nova chose.

struct CandidatesQuery {
    /// All that one slot takes, its groups included; the traits are those of no group, without
    /// those of res-type.
    SlotShape shape;
    std::vector<RequestGroup> groups;
    std::optional<GroupPolicy> group_policy;
    std::set<Trait> root_required_traits;
    /// The root provider must be in one aggregate (by UUID) of each set, and in none of these.
    std::vector<std::set<std::string>> aggregates;
    std::set<std::string> forbidden_aggregates;
    ProviderId in_tree;                 ///< the host's tree has this provider; empty: any
    std::vector<std::string> res_type;  ///< constraints (res_type_query.hpp)

    friend bool operator==(const CandidatesQuery&, const CandidatesQuery&) = default;
};

/// `bad_input`: it asks for something that the planner does not know (`same_subtree`, one of
/// several traits), or is no query that Placement answers.
Result<CandidatesQuery> read_candidates_query(const PlacementQuery& query);

/// Does the request ask for just what the query does, as its first choice or as its fallback?
/// Resources and groups; where it may land is not compared.
enum class AskedAs { itself, fallback, other };
AskedAs asked_as(const Request& request, const CandidatesQuery& query);

/// The request with the shape and the places of the query. One that is asked for as itself keeps
/// its fallback. The provider of `in_tree` and forbidden aggregates are left to the caller, who
/// knows the hosts.
Request as_asked(Request request, const CandidatesQuery& query);

}  // namespace reaper
