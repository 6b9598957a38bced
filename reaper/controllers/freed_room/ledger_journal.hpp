// The ledger as the daemon must have it now, from the journal: what is being evicted, and which
// room is promised.
#pragma once

#include <vector>

#include "reaper/ports/journal.hpp"
#include "reaper/rooms/ledger.hpp"

namespace reaper {

/// `finished` are the records that ended less than `promise` ago. The plans of an unfinished record
/// count, but for victims that stay: skipped ones, and those of a replaced plan that were never
/// sent. A time after `now` is from before the clock was set back, and counts as `now`: a promise
/// lasts no longer than `promise` from then.
Ledger ledger_of(const std::vector<RequestRecord>& unfinished,
                 const std::vector<RequestRecord>& finished, TimePoint now, Duration promise);

/// The same, read from a journal.
ResultTask<Ledger> read_ledger(JournalReader& journal, TimePoint now, Duration promise);

}  // namespace reaper
