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
// the first deletion of a plan the room that comes free is held.
//
// Its parts: CullGate asks before each step, EvictionSender and Shelving send, CullWait waits for
// the room, and CullRecorder writes each step.
//
// The policy in force decides, also after a reload: no deletion rests on a look, or goes out for a
// plan, that was made under another one.
#pragma once

#include "reaper/eviction/cull_wait.hpp"
#include "reaper/eviction/notice_giver.hpp"
#include "reaper/eviction/plan_executor.hpp"

namespace reaper {

class EvictingExecutor final : public PlanExecutor {
public:
    explicit EvictingExecutor(const CullServices& services) : services_(services) {}
    EvictingExecutor& operator=(EvictingExecutor&&) = delete;  // its parts know each other

    Task<Execution> carry_out(Request request, Plan plan, std::map<ServerId, Progress> known,
                              std::shared_ptr<const CompiledPolicy> policy) override;

private:
    Task<void> verify_all(Cull& cull);
    Task<void> verify(Cull& cull, const Victim& victim);
    Task<void> settle(Cull& cull, const Victim& victim, const FreshVerdict& verdict);
    Task<void> hold_room(Cull& cull);
    Task<void> take_free_room(Cull& cull, std::vector<HostPlan> hosts);
    Task<void> give_notice(Cull& cull);
    Task<void> tell(Cull& cull, const Victim& victim, TimePoint until);
    Task<void> wait_for_notice(Cull& cull);
    Task<void> stop_some(Cull& cull);
    Task<void> stop(Cull& cull, const Victim& victim, Notice notice);
    Task<void> remove_all(Cull& cull);
    Task<void> wait_for_stop(Cull& cull, const Victim& victim);
    Task<void> remove(Cull& cull, const Victim& victim);
    Task<AsyncSemaphore::Permit> turn_to_send(Cull& cull);
    Task<void> repeat(Cull& cull, const Victim& victim);
    Task<bool> rest_may_go(Cull& cull, const Victim& but);

    const CullServices services_;
    // Each calls only those above it.
    CullGate gate_{services_};
    CullRecorder recorder_{services_};
    EvictionSender sender_{services_, gate_, recorder_};
    Shelving shelving_{services_, gate_, recorder_, sender_};
    CullWait wait_{services_, gate_, recorder_, sender_, shelving_};
    Notices& notices_ = services_.safeguards.safeguards().notices();
    NoticeGiver giver_{services_.cloud, services_.journal, notices_};
};

}  // namespace reaper
