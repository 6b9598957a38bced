// The brakes on culls, as one thing: what happened lately (victims, doubted hosts, failures in a
// row), what the operator has set, and the decision that follows.
//
// Hard brakes are never passed: protected servers, the minimum run time, limits of victims. Soft
// ones give way, in this order, when nothing else frees the requested slots, and the plan says so:
//   1. thrash: workloads that keep being evicted and coming back are spared while they are young;
//   2. doubt: hosts whose freed room was not taken are left out.
// Doubt is the last to give way: a cull there most likely helps nobody, while one more eviction of
// the same workload at least serves its requester.
//
// Pure, one thread. To be fed from the journal at the start (`memory` tells how far back), and with
// everything that happens then; times are told, never read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/brakes/breaker.hpp"
#include "reaper/brakes/doubts.hpp"
#include "reaper/brakes/run_times.hpp"
#include "reaper/brakes/settings.hpp"
#include "reaper/brakes/victim_history.hpp"
#include "reaper/ledger/ledger.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/request.hpp"
#include "reaper/planner/planner.hpp"
#include "strategies/strategy.hpp"

namespace reaper {

/// The words of brakes in `NotEnough::brake` (and `Outcome::brake`).
namespace brake {
inline constexpr std::string_view limit_request = "limit-request";
inline constexpr std::string_view limit_window = "limit-window";
inline constexpr std::string_view limit_project = "limit-project";
inline constexpr std::string_view limit_aggregate = "limit-aggregate";
inline constexpr std::string_view is_protected = "protected";
inline constexpr std::string_view min_run_time = "min-run-time";
inline constexpr std::string_view thrash = "thrash";
}  // namespace brake

class Brakes {
public:
    Brakes() = default;
    explicit Brakes(BrakeSettings settings);
    /// Other settings from now on (SIGHUP); what happened stays known.
    void reload(BrakeSettings settings);
    const BrakeSettings& settings() const { return settings_; }

    /// A deletion is sent. Repeating one is harmless.
    void note_victim(PastVictim victim);
    /// Its deletion was refused, or never happened: it counts for nothing.
    void note_refused_deletion(const ServerId& server);
    /// What became of the room of a request's cull, and the hosts on which it was not taken.
    /// Returns why the breaker opens, when it does.
    std::optional<std::string> note_aftermath(const RequestId& request, CullWorth worth,
                                              const std::vector<HostId>& untaken, TimePoint at);
    /// Room on the hosts that the request could have taken and did not, though nobody died for it.
    void note_doubt(const RequestId& request, const std::vector<HostId>& hosts, TimePoint at);
    /// The wall clock was set forward by so much (or back).
    void shift(Duration by);
    /// How a deletion went goes to the breaker itself: `breaker().note_deletion`.
    Breaker& breaker() { return breaker_; }
    const Breaker& breaker() const { return breaker_; }

    /// How far back victims and aftermaths still count.
    Duration memory() const;

    /// Decides as `make_plan` does, under the brakes; `options` without those (protection is the
    /// settings', restraint, doubts and allowances are made here). `options.now` must be given.
    /// A NotEnough that would be a plan without the brakes names the one that prevented it.
    Decision plan(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
                  const Strategy& strategy, std::string_view strategy_name, PlanOptions options);

    /// What the limits leave for the request at `now`. Victims of other requests that are planned
    /// and not yet sent count too.
    Allowances allowances(const Request& request, const LandingRules* landing,
                          const CloudIndex& cloud, const Ledger& ledger, TimePoint now) const;
    /// The workloads that are spared for a while, by project and name.
    std::vector<Thrashing> thrashing(TimePoint now) const;
    const HostDoubts& doubts() const { return doubts_; }
    const VictimHistory& history() const { return history_; }

    /// Forgets what does not count any more. `plan` does it by itself.
    void prune(TimePoint now);

private:
    BrakeSettings settings_;
    Protection protection_;
    VictimHistory history_;
    HostDoubts doubts_;
    Breaker breaker_;
};

}  // namespace reaper
