// Which places of a cloud will do for a request, beyond state, zone, traits and room: server group,
// forced and hinted hosts, aggregates, isolation, a flavor's extra specs, cells. Looked up once for
// each decision, because the answers hang on where other servers are.
//
// Source: nova's filters ServerGroup(Anti)AffinityFilter, SameHostFilter, DifferentHostFilter,
// AggregateMultiTenancyIsolation, and its request filters require_tenant_aggregate and
// isolate_aggregates.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/placement_constraints.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/request.hpp"

namespace reaper {

// A flavor's wish on what its host's aggregates say (Nova's filter AggregateInstanceExtraSpecs).
//
// Source: nova.scheduler.filters.extra_specs_ops and aggregate_instance_extra_specs.

/// Does a value of an aggregate meet a wish? The wish is a text that has to be the same, or begins
/// with an operator: `=` (at least), `==`, `!=`, `>=`, `<=` for numbers; `s==`, `s!=`, `s<`, `s<=`,
/// `s>`, `s>=` for texts; `<in>` and `<all-in>` for parts of the value; `<or> a <or> b`. What
/// should be a number and is none is not met.
bool meets(std::string_view value, std::string_view wish);

/// The first wish of `extra_specs` (keys without a scope, or of `aggregate_instance_extra_specs:`)
/// that no aggregate meets, as `key=wish`; none if all are met. An aggregate's value may be
/// several, with commas between them.
std::optional<std::string> unmet_spec(const std::map<std::string, std::string>& extra_specs,
                                      const HostAggregates& aggregates);

class CloudIndex;
class Ledger;

class ConstraintChecker {
public:
    using Refusal = std::optional<std::pair<RejectionCode, std::string>>;

    /// `rules` may be null: none. Request and rules must outlive this; cloud and ledger need not.
    ConstraintChecker(const Request& request, const SchedulerRules* rules, const CloudIndex& cloud,
                      const Ledger& ledger);

    /// What the aggregates of a host forbid: the same for all hosts that are in the same ones.
    Refusal by_aggregates(const HostAggregates& aggregates) const;
    /// What forbids this very host.
    Refusal by_host(const Host& host) const;
    /// False: `by_host` has nothing against any host, and `most_slots` bounds none.
    bool choosy() const { return choosy_; }
    /// Slots that the host may get at most (anti-affinity).
    Amount max_slots(const Host& host) const;
    /// Servers of the request's group, the requesters aside, that are on the host or on their way
    /// to it; and servers there that it is to be apart from.
    int group_members_on(const Host& host) const { return on(members_, host); }
    int apart_on(const Host& host) const { return on(apart_, host); }
    static constexpr Amount any_number = std::numeric_limits<Amount>::max();
    /// Servers that must stay where they are: the request must land beside them; without them Nova
    /// would not take that host (hint `same_host`, affinity).
    const std::set<ServerId>& company() const { return company_; }
    /// All slots have to be on one host: affinity, and the group has no placed server yet.
    bool all_on_one_host() const { return all_on_one_; }

private:
    Refusal unwatched(const HostAggregates& aggregates) const;
    Refusal by_tenant(const HostAggregates& aggregates) const;
    Refusal by_isolation(const HostAggregates& aggregates) const;
    Refusal by_extra_specs(const HostAggregates& aggregates) const;
    Refusal by_mirror(const Host& host) const;
    Refusal by_cell(const Host& host) const;
    void find_members(const CloudIndex& cloud, const Ledger& ledger);
    void find_own_aggregates(const CloudIndex& cloud);
    int on(const std::map<HostId, int>& where, const Host& host) const;

    const Request& request_;
    const SchedulerRules& rules_;
    std::set<Trait> required_traits_;  ///< as Nova knows them, of the request and its groups
    bool choosy_ = false;
    bool by_aggregate_ = false;  ///< Placement's aggregates decide
    bool all_on_one_ = false;
    /// Of the group, the requesters aside: how many are on a host, or on their way to it because
    /// its room is promised to them.
    std::map<HostId, int> members_;
    std::map<HostId, int> with_;
    std::set<ServerId> company_;
    std::map<HostId, int> apart_;
    bool owns_aggregates_ = false;  ///< some aggregate names the project
    const Cell* cell_ = nullptr;    ///< that its server stays in, if it does and it is known
};

/// Why no host of a watched aggregate can be the place of the request, whatever room there is: its
/// zone, aggregates or hosts are others. None if one may be.
std::optional<std::string> outside_all_shards(const Request& request, const SchedulerRules& rules,
                                              const CloudIndex& cloud);

/// Why Placement refuses Nova's search for it, whatever room there is: all its resources are in
/// groups, and Nova has to leave out the aggregates that are for requests with other traits.
std::optional<std::string> refused_for_isolation(const Request& request,
                                                 const SchedulerRules& rules,
                                                 const CloudIndex& cloud);

/// Is a host that is in these aggregates of the shard (names or UUIDs)?
bool in_shard(const HostAggregates& aggregates, const std::set<std::string>& shard);

/// The aggregates of a shard, with | between them.
std::string to_string(const std::vector<std::set<std::string>>& shards);

}  // namespace reaper
