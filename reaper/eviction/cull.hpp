// One plan on its way: where each victim stands, and what stopped the rest.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reaper/eviction/plan_executor.hpp"
#include "reaper/eviction/recheck.hpp"
#include "reaper/model/error.hpp"

namespace reaper {

struct Cull {
    /// Where a victim stands. The order is the way it goes.
    enum class State { planned, sent, forced, gone, skipped, stuck };

    /// `known`: what the journal tells of its victims.
    Cull(Request for_whom, const Plan& plan, const std::map<ServerId, Progress>& known,
         Recheck recheck);

    State& state(const Victim& victim) { return states[victim.server]; }
    std::size_t count(State wanted) const;
    std::vector<HostId> hosts_of_planned();
    /// No further deletion is sent; the first failure is told.
    void fail(Error error);
    /// What it came to.
    Execution conclude() const;

    Request request;
    std::vector<Victim> victims;
    Recheck look;
    std::map<ServerId, HostId> hosts;  ///< where each victim and each pending server is
    std::map<ServerId, State> states;
    std::map<ServerId, std::string> skipped;
    Duration deadline{};         ///< steady
    std::set<ServerId> ours;     ///< whose deletion we sent, now or before a restart
    std::set<ServerId> unheard;  ///< of these, the ones whose answer was lost
    std::set<ServerId> sent;     ///< deletions that went out, by this process
    std::set<ServerId> erred;    ///< whose deletion was answered with an error, if at all
    Duration asked_at{};         ///< when somebody was seen to wait last; steady
    bool stopped = false;        ///< no further deletion is sent
    std::vector<ServerId> pending_releases;  ///< deleted by others
    std::size_t overdue = 0;                 ///< of these, the ones that did not go in time
    std::optional<Error> failure;
    std::optional<std::string> no_longer_needed;  ///< why nobody waits for all of it
    std::optional<std::string> blocked;           ///< why no more may be sent
};

}  // namespace reaper
