// Serves one request: picture, plan, cull, and again where a victim turned out unfit.
//
// It kills only while the reaper is not paused, while its message is surely ours (another reaper
// may have it after a loss of the broker; then it waits until the message comes again), while no
// newer request of the same server is known, and while somebody waits for the room.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "reaper/runtime/async.hpp"
#include "reaper/eviction/plan_executor.hpp"
#include "reaper/eviction/eviction_guard.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/controllers/freed_room_tracker.hpp"
#include "reaper/runtime/backoff.hpp"
#include "reaper/controllers/safeguard_controller.hpp"
#include "reaper/triggers/nova_failures.hpp"
#include "reaper/requests/newest_requests.hpp"
#include "reaper/cloud_reader/cache_refresher.hpp"
#include "reaper/decision/policy.hpp"
#include "reaper/requests/recent_refusals.hpp"
#include "reaper/controllers/inventory_reserver.hpp"
#include "reaper/daemon/service.hpp"
#include "reaper/cloud_reader/snapshot_reader.hpp"

namespace reaper {

/// What all requests share.
struct Workshop {
    CloudPorts cloud;
    Journal& journal;
    Ledger& ledger;
    PictureKeeper& keeper;
    AsyncSemaphore& planning;   ///< one permit: a plan is entered before the next one is made
    AsyncSemaphore& deletions;  ///< bounds the deletions sent at a time
    const bool& stopping;
    Braking& braking;
    const Intake& intake;
    const NewestRequests& newest;
    RecentRefusals& refusals;
    AftermathWatch& aftermaths;
    RoomHolds& holds;
};

/// References must outlive the object, and the object its coroutines.
/// How its message came.
struct Arrival {
    /// The broker gave it to somebody before, and our journal does not know it: another reaper may
    /// have served it, and died before it could say so.
    bool maybe_served = false;
    /// Nova had found hosts; they failed (MaxRetriesExceeded).
    bool had_hosts = false;
};

class RequestServer final : private Warrant {
public:
    RequestServer(Workshop workshop, ServiceOptions options, Request request, Arrival arrival = {});
    RequestServer(const RequestServer&) = delete;  // the executor knows its place
    RequestServer& operator=(const RequestServer&) = delete;

    /// Decides and acts until there is an outcome. None: the reaper is stopping and nobody died;
    /// the request stays unfinished in the journal.
    Task<std::optional<Outcome>> serve();
    /// The same for a request that a former process left unfinished: what it sent is credited,
    /// what it planned and did not send is looked at afresh.
    Task<std::optional<Outcome>> resume(Story story);

    const Request& request() const noexcept { return request_; }
    /// Where the last decision found the room to be there already.
    const std::vector<HostId>& ready_on() const noexcept { return ready_on_; }

private:
    // The warrant.
    std::optional<std::string> forbidden() const override;
    ResultTask<std::optional<std::string>> unneeded() override;
    Task<void> hold_room(std::vector<HostId> hosts) override;
    void on_sent(const Victim& victim) override { workshop_.braking.on_sent(request_.id, victim); }
    void on_not_done(const Victim& victim) override { workshop_.braking.on_not_done(victim); }
    void on_deletion(bool succeeded) override {
        workshop_.braking.on_deletion(request_.id, succeeded);
    }

    Task<std::optional<Outcome>> rounds();
    /// Waits until the next round may begin. False: it never may; `ended` tells the outcome, none
    /// when stopping.
    Task<bool> until_allowed(std::optional<Outcome>& ended);
    Task<std::optional<Outcome>> act_on(Decision decision);
    Task<std::optional<Outcome>> wait_for_room(NothingToDo nothing);
    /// A decision on a fresh picture, journalled and entered into the ledger; none when stopping.
    ResultTask<std::optional<Decision>> decide();
    ResultTask<Decision> decide_now();
    ResultTask<Decision> consult();
    ResultTask<void> refresh_group();
    /// Takes off the slots that somebody else got for it by now; why, if none is left.
    std::optional<std::string> served_by_another();
    std::optional<Outcome> conclude(const NothingToDo& nothing) const;
    std::optional<Outcome> conclude(const NotEnough& not_enough) const;
    /// Carries a plan out; none: another round is needed.
    Task<std::optional<Outcome>> carry_out(Plan plan, std::map<ServerId, Progress> known);
    Outcome outcome(OutcomeKind kind, std::string reason, std::string brake = {}) const;
    /// `died` if somebody did, else `nobody`; both with how many died.
    Outcome cut_short(OutcomeKind nobody, const std::string& reason, std::string brake = {}) const;
    bool out_of_time() const;

    Workshop workshop_;
    ServiceOptions options_;
    Request request_;
    std::unique_ptr<PlanExecutor> executor_;
    const int slots_asked_;
    const Arrival arrival_;
    std::optional<Duration> group_read_at_;  ///< by the steady clock; none: not by this process
    Backoff backoff_;                        ///< after failures of the outside, over all rounds
    bool failing_ = false;                   ///< the last round ended by such a failure
    std::string last_reason_;                ///< why it planned again
    std::map<ServerId, std::string> spared_;
    std::vector<HostId> ready_on_;
    int round_ = 0;    ///< decisions so far, those of a former process too
    int in_vain_ = 0;  ///< plans that had to be made anew for reasons of the cloud
    int deleted_ = 0;
};

}  // namespace reaper
