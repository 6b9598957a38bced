// Deletes the victims of a plan, each after a fresh read, and waits until Placement shows the room.
//
// Order of things, and what a crash in between means:
//   1. every victim is read afresh; one that must live stops the plan before anything is deleted;
//   2. victims that are to have notice get it, and when its time is over a new plan is made, which
//      finds them told (notice_giver.hpp);
//   3. for each victim, as many at a time as allowed: read afresh, journal `delete_sent`, DELETE.
//      One that is to be shelved is shelved instead (`shelve_sent`), and deleted if Nova can't.
//      One found unfit here stops the deletions that were not sent yet (the next plan credits those
//      that were);
//   4. Placement is asked until it shows nothing held by any of them, or the deadline passes; a
//      soft-deleted one is force-deleted, because it would keep its room, if Nova's record of
//      actions says that a reaper deleted it. So is one that is back, whose owner restored it or
//      whose host could not delete it, as long as its room is needed.
// Deletions that another reaper began softly and did not finish (`unfinished`), and whose room the
// plan counts, are finished the same way, before 3. A victim that went away by itself is credited
// at every step. Servers whose room the plan counts and that others delete (`pending`) are waited
// for first. If one does not go in time, the ledger gives up on it, and a new plan is made. Before
// the first deletion of a plan the room that comes free is held, and its eviction guard is asked
// whether a requester still waits for it; before each write, whether it may go out.
//
// The policy in force decides, also after a reload: no deletion rests on a look, or goes out for a
// plan, that was made under another one.
#pragma once

#include "reaper/controllers/freed_room/freed_room_tracker.hpp"
#include "reaper/controllers/safeguards/safeguard_controller.hpp"
#include "reaper/decision/live_settings.hpp"
#include "reaper/eviction/cull.hpp"
#include "reaper/eviction/notice_giver.hpp"
#include "reaper/eviction/plan_executor.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/rooms/room_keeper.hpp"
#include "reaper/runtime/async.hpp"

namespace reaper {

class EvictingExecutor final : public PlanExecutor {
public:
    /// All of it must outlive the executor and its coroutines.
    struct Dependencies {
        CloudPorts cloud;
        JournalWriter& journal;
        RoomKeeper& rooms;
        const CacheRefresher& refresher;
        SafeguardController& safeguards;
        const FreedRoomTracker& tracker;
        AsyncSemaphore& deletions;  ///< bounds what is sent at a time, over all requests
        const LiveSettings& settings;
    };
    EvictingExecutor(const Dependencies& dependencies, CullRoom& room, EvictionGuard& guard);

    Task<Execution> carry_out(Request request, Plan plan, std::map<ServerId, Progress> known,
                              std::shared_ptr<const CompiledPolicy> policy) override;

private:
    /// What came of a call that makes a victim go.
    struct Sent {
        Departure how{};
        Result<DeleteAnswer> answer;
        bool went_out = false;  ///< Nova may have heard of it, now or before
        bool repeats = false;   ///< it is sent again, after another look
        bool forced = false;
    };
    Task<void> verify(Cull& cull, const Victim& victim);
    Task<void> remove(Cull& cull, const Victim& victim);
    Task<void> repeat(Cull& cull, const Victim& victim);
    Task<bool> rest_may_go(Cull& cull, const Victim& but);
    Task<void> send_delete(Cull& cull, const Victim& victim, RecheckResult look);
    Task<void> take_answer(Cull& cull, const Victim& victim, Sent sent);
    Task<void> wait_until_gone(Cull& cull, const Victim& victim);
    Task<void> recheck_victim(Cull& cull, const Victim& victim, Consumer held, Duration began);
    Task<void> go_on_shelving(Cull& cull, const Victim& victim, RecheckResult look);
    Task<void> send_again(Cull& cull, const Victim& victim, Departure how);
    Task<bool> leave_restored(Cull& cull, const Victim& victim);
    Task<void> leave_unshelved(Cull& cull, const Victim& victim);
    Task<void> shelving_refused(Cull& cull, const Victim& victim, Error error);
    Task<bool> delete_instead(Cull& cull, const Victim& victim, std::string why);
    Task<bool> too_slow_to_shelve(Cull& cull, const Victim& victim);
    Task<void> abandon(Cull& cull, const Victim& victim);
    Task<void> force_delete(Cull& cull, const Victim& victim, RecheckResult look);
    Task<void> verify_all(Cull& cull);
    Task<void> hold_room(Cull& cull);
    Task<void> take_free_room(Cull& cull, std::vector<HostPlan> hosts);
    bool may_have_left(const Cull& cull) const;
    bool need_is_open(const Cull& cull) const;
    Task<void> ask_whether_needed(Cull& cull);
    Task<void> ask_whether_answered(Cull& cull);
    Task<void> give_notice(Cull& cull);
    Task<void> tell(Cull& cull, const Victim& victim, TimePoint until);
    Task<void> wait_for_notice(Cull& cull);
    Task<void> stop_some(Cull& cull);
    bool has_time_left(const Notice& notice) const;
    std::optional<std::string> notice_trouble(const Victim& victim,
                                              const RecheckResult& look) const;
    Task<void> finish_all(Cull& cull);
    Task<void> finish(Cull& cull, const Victim& victim, RecheckResult look);
    Task<void> leave(Cull& cull, const Victim& victim, std::string reason);
    bool may_write(Cull& cull);
    std::optional<std::string> outdated_reason(const Cull& cull) const;
    bool may_delete(Cull& cull);
    bool may_force(Cull& cull, const Victim& victim);
    void not_done(Cull& cull, const Victim& victim);
    Task<void> remove_all(Cull& cull);
    Task<void> wait_for_all(Cull& cull);
    bool reported_gone(const ServerId& server) const;
    Task<Duration> pause_for(ServerId server, Duration interval, bool& untold);
    Task<void> wait_for_others(Cull& cull);
    Task<void> wait_for_other(Cull& cull, ServerId server);
    bool put_off(Cull& cull, const ServerId& server);
    Task<bool> record(Cull& cull, const Victim& victim, Step step, std::string detail);
    Task<void> skip(Cull& cull, const Victim& victim, std::string reason);
    Task<void> record_end(Cull& cull, const Victim& victim, std::string reason);

    CloudPorts cloud_;
    JournalWriter& journal_;
    RoomKeeper& rooms_;
    const CacheRefresher& refresher_;
    SafeguardController& safeguards_;
    const FreedRoomTracker& tracker_;
    AsyncSemaphore& deletions_;
    const LiveSettings& settings_;
    CullRoom& room_;
    EvictionGuard& guard_;
    Notices& notices_;
    NoticeGiver giver_;
};

}  // namespace reaper
