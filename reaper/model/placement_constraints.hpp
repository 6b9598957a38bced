// Where a request may land, beyond zone, traits and room: what Nova's scheduler would insist on.
// What the failure message loses of it is recovered from the server itself, its server group and
// `select_destinations.start` (reaper/triggers/requester.hpp).
#pragma once

#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "reaper/model/cells.hpp"
#include "reaper/model/ids.hpp"

namespace reaper {

/// A Nova server group: who is to run together, or apart.
struct ServerGroup {
    std::string id;
    std::string name;
    std::string policy;          ///< affinity, anti-affinity; the soft ones bind nobody
    int max_on_a_host = 1;       ///< of anti-affinity (`max_server_per_host`)
    std::set<ServerId> members;  ///< those that Nova has not deleted

    bool apart() const { return policy == "anti-affinity"; }
    bool together() const { return policy == "affinity"; }
    friend bool operator==(const ServerGroup&, const ServerGroup&) = default;
};

/// A host aggregate that a host is in, as far as it decides who may go there.
struct HostAggregate {
    std::string name;
    std::map<std::string, std::string> metadata;
    friend bool operator==(const HostAggregate&, const HostAggregate&) = default;
};
using HostAggregates = std::map<std::string, HostAggregate>;  ///< by UUID

/// What a request asks of the place that it gets. All of it empty: any place will do.
struct PlacementConstraints {
    ServerGroup group;  ///< none if its policy is empty
    /// The only service hosts or hypervisors that will do; empty: any.
    std::set<std::string> only_hosts;
    std::string why_only;  ///< forced, requested, ...; for people
    /// The host must be in one aggregate (by UUID) of each set.
    std::vector<std::set<std::string>> aggregates;
    std::set<ServerId> with;        ///< on a host with one of these (hint `same_host`)
    std::set<ServerId> apart_from;  ///< on no host with any of these (hint `different_host`)

    friend bool operator==(const PlacementConstraints&, const PlacementConstraints&) = default;
};

/// How the cloud's own scheduler is set up, as far as it can't be read from outside (section
/// `placement` of the configuration), and which aggregates this reaper watches.
struct SchedulerRules {
    /// nova-scheduler's filter AggregateMultiTenancyIsolation is on: a host in an aggregate with
    /// `filter_tenant_id*` takes these projects only.
    bool tenant_filter = false;
    /// `[scheduler] limit_tenants_to_placement_aggregate`: a project named by an aggregate goes
    /// nowhere else; `required`: a project that none names goes nowhere.
    enum class OwnAggregates { off, limit, required } own_aggregates = OwnAggregates::off;
    /// `[scheduler] enable_isolated_aggregate_filtering`: a host in an aggregate with
    /// `trait:T=required` takes only requests that require T.
    bool trait_isolation = false;
    /// nova-scheduler's filter AggregateInstanceExtraSpecsFilter is on: a flavor's wishes on the
    /// metadata of aggregates (spec_match.hpp) bind.
    bool extra_specs_filter = false;
    /// `watched_aggregates`: shards, each the hosts that are in any of its aggregates (names or
    /// UUIDs). Hosts outside all shards are never culled on. Empty: one shard, the whole cloud.
    std::vector<std::set<std::string>> watched;
    /// `cells`; empty: not told.
    std::vector<Cell> cells{};
    /// Users may resize and migrate to another cell (policy compute:servers:resize:cross_cell).
    bool cross_cell_resize = false;

    bool nothing() const {
        return !tenant_filter && own_aggregates == OwnAggregates::off && !trait_isolation &&
               !extra_specs_filter && watched.empty() && cells.empty();
    }
    friend bool operator==(const SchedulerRules&, const SchedulerRules&) = default;
};

}  // namespace reaper
