// What a cull must ask before it goes on: may this be written, and is the room still needed?
#pragma once

#include "reaper/eviction/cull.hpp"

namespace reaper {

/// What an earlier process gave counts only while the metadata say the same: another reaper, with a
/// journal of its own, may have given more time since. `given`: null if there is none.
bool still_stands(const Notice* given, const FreshVerdict& verdict);

/// Every part of an executor asks it right before it acts. A "no" stops the cull, which keeps the
/// reason.
class CullGate {
public:
    explicit CullGate(const CullServices& services) : services_(services) {}

    /// The last question before a victim of the plan is deleted, shelved, or has notice.
    bool may_delete(Cull& cull) const {
        return may_write(cull) && !cull.block(outdated_reason(cull));
    }
    /// The same before a victim is forced. What we deleted is finished whatever the plan is worth
    /// by now; what another reaper did, only for a plan that holds.
    bool may_force(Cull& cull, const Victim& victim) const {
        return cull.unfinished.contains(victim.server) ? may_delete(cull) : may_write(cull);
    }
    /// Why the victim may not be deleted yet; none if it had its notice.
    std::optional<std::string> why_not_yet(const Victim& victim, const RecheckResult& look) const;
    bool has_time_left(const Notice& notice) const;
    /// False: the reaper stops, which is not to wait for others.
    bool may_wait(Cull& cull) const;

    /// Is there a server left to delete, and is the last answer that a requester waits too old?
    /// Deletions that were begun are no reason to go on if no requester waits.
    bool need_is_open(const Cull& cull) const;
    /// If that is open: no servers are deleted for a requester that is gone. A caller that comes
    /// during the question waits for its answer.
    Task<void> ask_whether_needed(Cull& cull);
    /// Whatever the last answer was, and when.
    Task<void> ask_again(Cull& cull) {
        cull.needed_at.reset();
        co_await ask_whether_needed(cull);
    }
    /// While the room comes free: the requester that waits for the answer may have left. Deletions
    /// that were sent still go on.
    Task<void> ask_whether_answered(Cull& cull);
    /// Since the last question an event said that a requester may have left.
    bool may_have_left(const Cull& cull) const;

private:
    bool may_write(Cull& cull) const { return !cull.block(services_.guard.blocked_reason()); }
    std::optional<std::string> outdated_reason(const Cull& cull) const;

    const CullServices& services_;
};

}  // namespace reaper
