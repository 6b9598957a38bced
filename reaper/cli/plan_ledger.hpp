// The ledger as the daemon must have it now, from the journal: what is being evicted, and which
// room is promised.
#pragma once

#include <vector>

#include "reaper/ledger/ledger.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper::cli {

/// `finished` are the stories that ended less than `promise` ago. Each plan of an unfinished story
/// counts, but for the victims that are gone or were spared.
Ledger ledger_of(const std::vector<Story>& unfinished, const std::vector<Story>& finished,
                 Duration promise);

/// The same, read from a journal.
ResultTask<Ledger> read_ledger(Journal& journal, TimePoint now, Duration promise);

}  // namespace reaper::cli
