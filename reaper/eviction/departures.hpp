// How victims leave their hosts: deleted, forced or shelved, by calls to Nova.
#pragma once

#include "reaper/eviction/cull_gate.hpp"

namespace reaper {

/// Sends the calls, and takes their answers. `Shelving` and `CullWait` call it.
class EvictionSender {
public:
    /// So often a deletion is sent whose answers are lost.
    static constexpr int tries_at_most = 5;

    EvictionSender(const CullServices& services, const CullGate& gate, CullRecorder& recorder)
        : services_(services), gate_(gate), recorder_(recorder) {}

    /// As the look says that it goes, if it still may. Returns why Nova did not shelve it.
    Task<std::optional<Error>> send(Cull& cull, const Victim& victim, RecheckResult look);
    /// A soft-deleted one.
    Task<void> force(Cull& cull, const Victim& victim, RecheckResult look);

private:
    /// What came of a call that makes a victim go.
    struct Sent {
        Departure how{};
        bool forces = false;
        bool went_out = false;  ///< Nova may have heard of it, now or before
        bool repeats = false;   ///< it is sent again, after another look
        Result<DeleteAnswer> answer{};
    };
    Task<bool> keep_room(Cull& cull, const Victim& victim, Consumer held);
    Task<bool> record(Cull& cull, const Victim& victim, const Sent& sent);
    Task<void> call(Cull& cull, const Victim& victim, RecheckResult look, Sent& sent);
    Task<std::optional<Error>> take_answer(Cull& cull, const Victim& victim, Sent sent);
    void answer_lost(Cull& cull, const Victim& victim, bool deletes, const Error& error);

    const CullServices& services_;
    const CullGate& gate_;
    CullRecorder& recorder_;
};

/// Sends victims off. What is to be shelved is sent again while Nova may still do it, and deleted
/// if Nova can't, or takes too long. The executor and `CullWait` call it.
class Shelving {
public:
    Shelving(const CullServices& services, CullGate& gate, CullRecorder& recorder,
             EvictionSender& sender)
        : services_(services), gate_(gate), recorder_(recorder), sender_(sender) {}

    /// The victim goes as the look says.
    Task<void> evict(Cull& cull, const Victim& victim, RecheckResult look);
    /// The same once more, if its room is still needed, and if it still goes that way. False: the
    /// plan is stopped.
    Task<bool> evict_again(Cull& cull, const Victim& victim, Departure how);
    /// Nova took the call, and it is there: it is shelved, and Nova leaves it on its host; or it is
    /// what it was: Nova could not shelve it, or its owner brought it back at once.
    Task<void> go_on(Cull& cull, const Victim& victim, RecheckResult look);
    /// The cull has no time left, and the next one is not to wait as well for what takes longer
    /// than a cull may. False: it is not deleted instead.
    Task<bool> end(Cull& cull, const Victim& victim);

private:
    Task<void> refused(Cull& cull, const Victim& victim, Error error);
    Task<bool> delete_instead(Cull& cull, const Victim& victim, std::string why);

    const CullServices& services_;
    CullGate& gate_;
    CullRecorder& recorder_;
    EvictionSender& sender_;
};

}  // namespace reaper
