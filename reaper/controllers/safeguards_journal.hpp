// The safeguards after a start: what the journal tells of the time before.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reaper/ports/journal.hpp"
#include "reaper/safeguards/safeguards.hpp"

namespace reaper {

/// What a deletion and a freed-room result mean to the safeguards.
PastVictim past_victim(const VictimEntry& entry);
CullWorth worth_of(FreedRoomResultKind kind);

struct JournaledSafeguards {
    Safeguards safeguards;
    /// Why the breaker should have opened before the reaper ended, and did not; none if nothing of
    /// the kind happened. What came before the last `resumed` or `breaker-opened` event counts for
    /// nothing.
    std::optional<std::string> opens;
};

/// Victims, hosts in cooldown and failures in a row, as far back as they count. `storage` if the
/// journal can't be read.
ResultTask<JournaledSafeguards> read_safeguards(Journal& journal, SafeguardSettings settings,
                                                TimePoint now);

}  // namespace reaper
