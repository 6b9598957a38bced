#include "reaper/monitoring/health.hpp"

#include <utility>

#include "reaper/model/time_text.hpp"

namespace reaper::monitoring {

namespace {

using api::HealthCheck;

HealthCheck loop_of(const DaemonState& state) {
    const Duration since = state.clock.steady() - state.stepped_at;
    if (state.stopping) return {"loop", true, "stopping: what is in flight is finished first"};
    if (since <= longest_step) return {"loop", true, "does what is due every second"};
    return {"loop", false,
            "what is due every second was done " + format_duration(since) +
                " ago: restart the daemon, and report it with its log"};
}

HealthCheck broker_of(const DaemonState& state) {
    if (state.broker.consuming) return {"broker", true, state.broker.detail};
    return {"broker", false,
            state.broker.detail.empty() ? "not connected yet" : state.broker.detail};
}

HealthCheck cloud_of(const DaemonState& state) {
    if (state.cloud_refused) return {"cloud", false, *state.cloud_refused};
    if (!state.cloud_answered) return {"cloud", false, "it has not answered yet; the log says why"};
    if (state.cloud_silent) return {"cloud", false, *state.cloud_silent};
    return {"cloud", true, "each of its services answers"};
}

HealthCheck clock_of(const DaemonState& state) {
    if (state.clock_trouble) return {"clock", false, *state.clock_trouble};
    return {"clock", true, "no other than that of the cloud's services"};
}

/// Twice the time after which it is read again: one reading may fail.
HealthCheck cache_of(const DaemonState& state) {
    if (!state.refresher.built()) return {"cache", false, state.refresher.status()};
    const Duration age = state.clock.now() - state.refresher.cache().ages().built_at;
    const bool fresh = age <= 2 * state.settings.cache.max_age;
    return {"cache", fresh,
            fresh ? state.refresher.status()
                  : "the cloud was read " + format_duration(age) + " ago, and it should be every " +
                        format_duration(Duration{state.settings.cache.max_age}) +
                        " (cache.max_age); the log says why it can't be"};
}

HealthCheck journal_of(const DaemonState& state, const std::optional<std::string>& write_trouble) {
    if (state.journal_trouble) return {"journal", false, *state.journal_trouble};
    if (write_trouble) return {"journal", false, *write_trouble};
    return {"journal", true, "it takes what is written"};
}

/// An operator's pause and the breaker are distinguished from what is not as it must be.
bool switched_off(const DaemonState& state) {
    return state.pause.paused() || state.breaker.paused();
}

HealthCheck preconditions_of(const DaemonState& state) {
    if (const auto unknown = state.safeguards.not_known_yet())
        return {"preconditions", false, *unknown};
    const auto held_back = switched_off(state) ? std::nullopt : state.safeguards.paused_reason();
    if (held_back) return {"preconditions", false, *held_back};
    return {"preconditions", true, "the facts that a deletion depends on are known"};
}

std::vector<HealthCheck> notes_of(const DaemonState& state) {
    std::vector<HealthCheck> notes;
    if (const auto paused = state.pause.paused()) notes.push_back({"paused", true, *paused});
    if (const auto open = state.breaker.paused()) notes.push_back({"breaker", true, *open});
    if (state.settings.dry_run)
        notes.push_back({"dry-run", true, "plans are reported, nothing is deleted"});
    if (state.broker.consuming && state.messages.serving() == 0)
        notes.push_back({"standby", true, not_serving});
    if (!state.settings.gateway.listen.empty())
        if (const auto passes = state.gateway.passes_through())
            notes.push_back({"gateway", true, "everything passes through: " + *passes});
    if (state.stopping) notes.push_back({"stopping", true, "nothing new is taken"});
    return notes;
}

}  // namespace

api::Health health_of(const std::optional<DaemonState>& state,
                      const std::optional<std::string>& write_trouble) {
    api::Health health;
    if (!state) {
        health.live.push_back({"loop", true, "starting"});
        health.ready.push_back({"service", false, "starting"});
        return health;
    }
    health.live.push_back(loop_of(*state));
    health.notes = notes_of(*state);
    if (state->stopping)
        health.ready.push_back({"service", false, "stopping"});
    else if (!state->listening)
        health.ready.push_back({"service", false, "reading its journal"});
    else
        health.ready.push_back({"service", true, "takes requests"});
    health.ready.push_back(broker_of(*state));
    health.ready.push_back(cloud_of(*state));
    health.ready.push_back(clock_of(*state));
    health.ready.push_back(cache_of(*state));
    health.ready.push_back(journal_of(*state, write_trouble));
    health.ready.push_back(preconditions_of(*state));
    return health;
}

}  // namespace reaper::monitoring
