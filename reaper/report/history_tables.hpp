// The lists of `reaper history`.
#pragma once

#include <vector>

#include "reaper/ports/journal.hpp"
#include "reaper/report/table.hpp"

namespace reaper::report {

/// On a terminal a line each: age, how its id begins, outcome, who, what, victims, room.
Table requests_table(const std::vector<RequestSummary>& requests, TimePoint now);
Table messages_table(const std::vector<MessageEntry>& messages);
/// Deleted servers and their requests.
Table victims_table(const std::vector<VictimEntry>& victims);
/// What was done to the reaper itself.
Table events_table(const std::vector<JournalEvent>& events);

}  // namespace reaper::report
