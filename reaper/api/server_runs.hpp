// Who ran when, holding what: from the cloud as it is, from what Nova still knows of those that
// ended, and from the journal. For `reaper usage` and `GET /v1/usage`.
#pragma once

#include <vector>

#include "reaper/decision/policy.hpp"
#include "reaper/model/cloud.hpp"
#include "reaper/model/records.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/report/usage.hpp"

namespace reaper {

/// The servers of the host, as they are now.
void add_running(const Host& host, std::vector<ServerRun>& runs);

/// Of what Nova tells of servers that ended (`Compute::ended_servers`); each is as revocable as the
/// taggers say now.
void add_ended(const std::vector<ServerRecord>& records, const Taggers& taggers,
               const TagData& tag_data, std::vector<ServerRun>& runs);

/// Those that plans of the journal ended since then. Of `ended` servers that have no host, which
/// were shelved when they were deleted, the ends of 93 days before that count too. The journal is
/// read a day at a time: others are not kept from it, and no more records are held at once.
ResultTask<std::vector<ServerRun>> reclaimed_runs(JournalReader& journal,
                                                  const std::vector<ServerRecord>& ended,
                                                  TimePoint since, TimePoint now);

}  // namespace reaper
