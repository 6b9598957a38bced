// The planner: from a request and a view of the cloud to a decision. Pure and deterministic:
// the same inputs (the seed among them) give the same plan, whatever the order of the hosts,
// servers and providers in them. What an index remembers of earlier decisions makes the next
// faster, and may say more of the hosts that lost (a cost instead of a bound); it never changes
// the victims of a plan that is proven.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "reaper/model/cloud.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/request.hpp"
#include "reaper/model/shelving.hpp"
#include "reaper/planner/budgets.hpp"
#include "reaper/planner/cloud_index.hpp"
#include "reaper/rooms/ledger.hpp"
#include "strategies/strategy.hpp"

namespace reaper {

struct PlanOptions {
    int alternatives = 1;    ///< slots to free for each requested one, at least 1
    std::uint64_t seed = 0;  ///< for strategies that throw dice
    /// For strategies that count running time; with a snapshot, its own time if this is not given.
    TimePoint now{};
    /// Servers that must not be victims, each with the reason (a fresh read found it unfit, ...).
    std::map<ServerId, std::string> skipped;
    /// The protection from deletion; null: the index's (another one costs a look at every host).
    const Protection* protection = nullptr;
    /// Other servers that must not be victims now; null: none.
    const VictimFilter* victim_filter = nullptr;
    /// Hosts that are left out, each with the reason; null: none.
    const std::map<HostId, std::string>* in_cooldown = nullptr;
    /// How the cloud's scheduler is set up, and which hosts are watched; null: nothing special.
    const SchedulerRules* scheduler = nullptr;
    /// Hosts count only slots that fit whichever combination of providers serves them all.
    bool one_combination = false;
    /// What the limits leave; null: no limit. A choice of the strategy that takes more is made
    /// again within them (budgets.hpp).
    const Budgets* budgets = nullptr;
    /// How much notice servers are to have: those with less go first. Null: none.
    const NoticeRules* notice = nullptr;
    /// Which servers are shelved; null: none.
    const ShelveRules* shelve = nullptr;
};

/// The same random sequence for the same request, in the daemon and in a dry run.
std::uint64_t seed_of(const RequestId& request);

/// Decides. Victims are only revocable servers of status ACTIVE, SHUTOFF, PAUSED, SUSPENDED, ERROR,
/// ... that are not locked, not being changed (task state), not evicting already, and that hold
/// room on the host in Placement. Counts room that is there and evictions of this request under
/// way; leaves out room promised to other requests (see room.hpp).
///
/// NothingToDo if the requested slots are there already: alternatives alone never delete. NotEnough
/// if they can't all come free (or the strategy's draw failed): no servers deleted. Else a plan of
/// at least the requested slots, up to `slots * alternatives`, without a victim that could be left
/// out, and within the budgets; NotEnough that these caused names the safeguard. Throws
/// std::logic_error if the strategy returns servers that it was not offered.
Decision make_plan(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
                   const Strategy& strategy, std::string_view strategy_name,
                   const PlanOptions& options);

/// Slots that could be there for the request if all servers went that may go: those that are ready
/// included, at most as many as it asks for. Says nothing of limits.
Amount slots_possible(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
                      const PlanOptions& options);

/// Searches in advance what `make_plan` with these arguments would have to search, at most `hosts`
/// hosts (each some tens of microseconds), and keeps it in the index. Returns how many were
/// searched: 0 when nothing is left to do. To be called again when hosts have changed.
std::size_t warm_up(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
                    const Strategy& strategy, const PlanOptions& options, std::size_t hosts);

/// The same as the first for one cache, without an index that is kept.
Decision make_plan(const Request& request, const Snapshot& snapshot, const Ledger& ledger,
                   const Strategy& strategy, std::string_view strategy_name,
                   const PlanOptions& options);

}  // namespace reaper
