// The safeguards after a start: what the journal knows of the time before.
#pragma once

#include <optional>

#include "reaper/ports/journal.hpp"
#include "reaper/safeguards/safeguards.hpp"

namespace reaper {

/// What a deletion and a freed-room result mean to the safeguards.
PastVictim past_victim(const VictimEntry& entry);
CullWorth worth_of(FreedRoomResultKind kind);
/// None: not known.
std::optional<int> taken_slots(const FreedRoomResult& result);
/// For room that was freed for a server that moves: could the server use it, as far as that shows
/// whether it was in its cell? None: it shows nothing.
std::optional<bool> move_taken(FreedRoomResultKind kind);

struct JournaledSafeguards {
    Safeguards safeguards;
    /// When the breaker opened, as far as the journal knows: it was written into its file, too.
    std::optional<TimePoint> opened_at{};
};

/// Victims, hosts in cooldown, failures in a row and what they opened, as far back as they count;
/// what came before the last `resumed` event counts for nothing. `storage` if the journal can't be
/// read.
ResultTask<JournaledSafeguards> read_safeguards(JournalReader& journal, SafeguardSettings settings,
                                                TimePoint now);

}  // namespace reaper
