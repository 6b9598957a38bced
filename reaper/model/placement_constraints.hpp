// Where a request may land, beyond zone, traits and room: what Nova's scheduler would insist on.
// What the failure message loses of it is recovered from the server itself, its server group and
// `select_destinations.start` (reaper/triggers/requester.hpp).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reaper/model/cells.hpp"
#include "reaper/model/ids.hpp"
#include "reaper/model/nova_release.hpp"

namespace reaper {

/// A Nova server group: servers that must run together, or apart.
struct ServerGroup {
    std::string id;
    std::string name;
    std::string policy;          ///< affinity, anti-affinity; the soft ones bind no request
    int max_on_a_host = 1;       ///< of anti-affinity (`max_server_per_host`)
    std::set<ServerId> members;  ///< those that Nova has not deleted

    bool apart() const { return policy == "anti-affinity"; }
    bool together() const { return policy == "affinity"; }
    friend bool operator==(const ServerGroup&, const ServerGroup&) = default;
};

/// A host aggregate that a host is in, as far as it decides which requests may use it.
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
    /// They are those that nova-scheduler was offered, and no wish of the request's.
    bool only_offered = false;
    /// Hosts are excluded that were too slow for nova-scheduler just now.
    bool without_slow_hosts = false;
    /// Service hosts that would be of most use: if all of it can be there, nowhere else.
    std::set<std::string> first_hosts{};
    /// The host must be in one aggregate (by UUID) of each set.
    std::vector<std::set<std::string>> aggregates;
    std::set<ServerId> with;        ///< on a host with one of these (hint `same_host`)
    std::set<ServerId> apart_from;  ///< on no host with any of these (hint `different_host`)

    friend bool operator==(const PlacementConstraints&, const PlacementConstraints&) = default;
};

/// How the cloud's own scheduler is set up, as far as it can't be read from outside (section
/// `scheduler` of the configuration), and which aggregates this reaper watches.
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
    /// metadata of aggregates (constraint_checker.hpp) bind.
    bool extra_specs_filter = false;
    /// What it asks Placement for depends on its release, and what its tenant filter reads; none:
    /// as Nova's API indicates, and for the filter the newest.
    std::optional<NovaRelease> release;
    /// `[scheduler] query_placement_for_image_type_support`: the host must be able to boot the
    /// image's disk format.
    bool image_type_filter = false;
    /// `[scheduler] image_metadata_prefilter`: it must know the buses, models and architecture that
    /// the image names.
    bool image_metadata_filter = false;
    /// Dedicated CPUs may also be had as VCPU, for which Nova asks in a second query (unless
    /// `[workarounds] disable_fallback_pcpu_query`): only hosts without NUMA topology let such
    /// servers in.
    bool pcpu_fallback = false;
    /// `[filter_scheduler] pci_in_placement`: PCI devices that a flavor asks for are asked for of
    /// Placement.
    bool pci_in_placement = false;
    /// There is a gateway: traits of res-type say which kind of room is admitted
    /// (reaper/request_spec/res_type_query.hpp).
    bool res_type_traits = false;
    /// nova-scheduler removes them from its query: Placement is never asked for them.
    bool res_type_taken_out = false;
    /// `watched_aggregates`: shards, each the hosts that are in any of its aggregates (names or
    /// UUIDs). Hosts outside all shards are never culled on. Empty: one shard, the whole cloud.
    std::vector<std::set<std::string>> watched;
    /// `cells`; empty: not told.
    std::vector<Cell> cells{};
    /// Users may resize and migrate to another cell (policy compute:servers:resize:cross_cell).
    bool cross_cell_resize = false;

    /// Aggregates don't decide where a request may go, as far as they are set up here.
    bool nothing() const {
        return !tenant_filter && own_aggregates == OwnAggregates::off && !trait_isolation &&
               !extra_specs_filter && watched.empty() && cells.empty();
    }
    friend bool operator==(const SchedulerRules&, const SchedulerRules&) = default;
};

}  // namespace reaper
