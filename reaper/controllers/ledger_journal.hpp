// The ledger as the daemon must have it now, from the journal: what is being evicted, and which
// room is promised.
#pragma once

#include <vector>

#include "reaper/rooms/ledger.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper {

/// `finished` are the stories that ended less than `promise` ago. The plans of an unfinished
/// story count, but for victims that stay: spared ones, and those of a replaced plan that were
/// never sent.
Ledger ledger_of(const std::vector<Story>& unfinished, const std::vector<Story>& finished,
                 Duration promise);

/// The same, read from a journal.
ResultTask<Ledger> read_ledger(Journal& journal, TimePoint now, Duration promise);

}  // namespace reaper
