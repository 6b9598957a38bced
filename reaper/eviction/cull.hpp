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
#include "reaper/runtime/async.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper {

/// For logs: its id, name and host.
std::string label(const Victim& victim);

struct Cull {
    /// Where a victim stands. The order is the way it goes. `unfinished`: a reaper deleted it
    /// softly, and we have not begun to finish that.
    enum class State { planned, unfinished, sent, forced, gone, skipped, stuck };

    /// `known`: what the journal tells of its victims.
    Cull(Request for_whom, const Plan& plan, const std::map<ServerId, Progress>& known,
         Recheck recheck, AsyncSemaphore one_asks);

    State& state(const Victim& victim) { return states[victim.server]; }
    std::size_t count(State wanted) const;
    /// Nothing was done yet about so many of them.
    std::size_t count_untouched() const { return count(State::planned) + count(State::unfinished); }
    std::vector<HostId> hosts_of_untouched();
    /// May Nova have heard of a deletion of this process?
    bool begun() const;
    /// No further deletion is sent; the first failure is told.
    void fail(Error error);
    /// What it came to.
    Execution conclude() const;

    Request request;
    std::vector<Victim> victims;  ///< those of the plan, and the unfinished deletions it counts on
    Recheck look;
    std::map<ServerId, HostId> hosts;  ///< where each victim and each pending server is
    std::map<ServerId, State> states;
    std::map<ServerId, std::string> skipped;
    std::map<ServerId, RecheckResult> looks;  ///< at those that are fit, before anybody is deleted
    Duration deadline{};                      ///< steady
    std::set<ServerId> ours;                  ///< whose deletion we sent, now or before a restart
    std::set<ServerId> unheard;               ///< of these, the ones whose answer was lost
    std::set<ServerId> sent;                  ///< deletions that went out, by this process
    std::set<ServerId> to_repeat;   ///< of the unheard ones: to be sent again, after another look
    std::map<ServerId, int> tries;  ///< how often a deletion went out
    std::set<ServerId> not_out;     ///< of the unheard ones: those of which nothing was written yet
    std::set<ServerId> erred;       ///< whose deletion was answered with an error, if at all
    std::set<ServerId> unfinished;  ///< a reaper's deletions, which are not the plan's
    std::set<ServerId> withheld;    ///< that were not forced, because nothing might be written
    AsyncSemaphore asking;          ///< one asks at a time whether somebody waits
    /// When the question went out to which the last answer was that somebody waits; steady.
    std::optional<Duration> needed_at;
    bool stopped = false;                    ///< no further deletion is sent
    std::vector<ServerId> pending_releases;  ///< deleted by others
    std::size_t overdue = 0;                 ///< of these, the ones that did not go in time
    std::optional<Error> failure;
    std::optional<std::string> no_longer_needed;  ///< why nobody waits for all of it
    std::optional<std::string> blocked;           ///< why no more may be sent
    std::optional<std::string> taken;             ///< why the plan's room is not there any more

private:
    void add_unfinished(const PendingRelease& other);
};

/// For logs: the victim, and for whom it goes.
LogFields about(const Cull& cull, const Victim& victim);

}  // namespace reaper
