// The brakes after a start: what the journal tells of the time before.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reaper/safeguards/safeguards.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper {

/// What a deletion and an aftermath mean to the brakes.
PastVictim past_victim(const VictimEntry& entry);
CullWorth worth_of(AftermathKind kind);

struct JournalledBrakes {
    Brakes brakes;
    /// Why the breaker should have opened before the reaper ended, and did not; none if nothing of
    /// the kind happened. What came before the last `resumed` or `breaker-opened` mark counts for
    /// nothing.
    std::optional<std::string> opens;
};

/// Victims, doubted hosts and failures in a row, as far back as they count. `storage` if the
/// journal can't be read.
ResultTask<JournalledBrakes> read_brakes(Journal& journal, BrakeSettings settings, TimePoint now);

}  // namespace reaper
