// How a cull waits until servers hold no room in Placement: for what it deleted, for what others
// delete, and for what another reaper began to delete and did not finish.
#pragma once

#include "reaper/eviction/departures.hpp"

namespace reaper {

/// The executor calls it.
class CullWait {
public:
    CullWait(const CullServices& services, CullGate& gate, CullRecorder& recorder,
             EvictionSender& sender, Shelving& shelving)
        : services_(services),
          gate_(gate),
          recorder_(recorder),
          sender_(sender),
          shelving_(shelving) {}

    /// All or nothing: what others delete must be gone before the rest is deleted.
    Task<void> for_others(Cull& cull);
    /// What a reaper deleted softly and left, and what others delete since the plan was made. All
    /// or nothing: it is gone before any other server is deleted.
    Task<void> for_leaving(Cull& cull);
    /// For each victim whose deletion was sent, as long as it takes, or until the deadline.
    Task<void> for_all(Cull& cull);
    /// Looks at a victim that still holds its room: does its deletion need another push? `held` is
    /// Placement's answer, asked for at `began`.
    Task<void> push(Cull& cull, const Victim& victim, Consumer held, Duration began);

private:
    Task<void> finish(Cull& cull, const Victim& victim, RecheckResult look);
    Task<bool> leave_restored(Cull& cull, const Victim& victim);
    Task<void> for_other(Cull& cull, ServerId server);
    bool put_off(Cull& cull, const ServerId& server);
    Task<void> until_gone(Cull& cull, const Victim& victim);
    Task<void> give_up(Cull& cull, const Victim& victim, const Result<Consumer>& held);
    Task<Duration> pause_for(ServerId server, Duration interval, bool& untold);

    const CullServices& services_;
    CullGate& gate_;
    CullRecorder& recorder_;
    EvictionSender& sender_;
    Shelving& shelving_;
};

}  // namespace reaper
