// The safeguards on culls, as one thing: what happened lately (victims, hosts in cooldown, failures
// in a row), and what the operator has set. The decision under them is
// reaper/decision/guarded_plan.hpp.
//
// Pure, one thread. To be fed from the journal at the start (`memory` tells how far back), and with
// everything that happens then; times are told, never read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/ids.hpp"
#include "reaper/model/time.hpp"
#include "reaper/safeguards/breaker.hpp"
#include "reaper/safeguards/host_cooldowns.hpp"
#include "reaper/safeguards/protection.hpp"
#include "reaper/safeguards/settings.hpp"
#include "reaper/safeguards/victim_history.hpp"

namespace reaper {

/// The words of safeguards in `NotEnough::safeguard` (and `Outcome::safeguard`).
namespace safeguard {
inline constexpr std::string_view limit_request = "limit-request";
inline constexpr std::string_view limit_window = "limit-window";
inline constexpr std::string_view limit_project = "limit-project";
inline constexpr std::string_view limit_aggregate = "limit-aggregate";
inline constexpr std::string_view is_protected = "protected";
inline constexpr std::string_view min_run_time = "min-run-time";
inline constexpr std::string_view thrash = "thrash";
}  // namespace safeguard

class Safeguards {
public:
    Safeguards() = default;
    explicit Safeguards(SafeguardSettings settings);
    /// Other settings from now on (SIGHUP); what happened stays known.
    void reload(SafeguardSettings settings);
    const SafeguardSettings& settings() const { return settings_; }

    /// A deletion is sent. Repeating one is harmless.
    void note_victim(PastVictim victim);
    /// Its deletion was refused, or never happened: it counts for nothing.
    void note_refused_deletion(const ServerId& server);
    /// What became of the room of a request's cull, and the hosts on which it was not taken.
    /// Returns why the breaker opens, when it does.
    std::optional<std::string> note_freed_room(const RequestId& request, CullWorth worth,
                                               const std::vector<HostId>& untaken, TimePoint at);
    /// Room on the hosts that the request could have taken and did not, though no servers were
    /// deleted for it.
    void note_cooldown(const RequestId& request, const std::vector<HostId>& hosts, TimePoint at);
    /// The wall clock was set forward by so much (or back).
    void shift(Duration by);
    /// How a deletion went goes to the breaker itself: `breaker().note_deletion`.
    Breaker& breaker() { return breaker_; }
    const Breaker& breaker() const { return breaker_; }

    /// How far back victims and results of freed room still count.
    Duration memory() const;

    /// The workloads that are kept for a while, by project and name.
    std::vector<Thrashing> thrashing(TimePoint now) const;
    const Protection& protection() const { return protection_; }
    const HostCooldowns& cooldowns() const { return cooldowns_; }
    const VictimHistory& history() const { return history_; }

    /// Forgets what does not count any more.
    void prune(TimePoint now);

private:
    SafeguardSettings settings_;
    Protection protection_;
    VictimHistory history_;
    HostCooldowns cooldowns_;
    Breaker breaker_;
};

}  // namespace reaper
