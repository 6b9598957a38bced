// Who ran when, holding what: from the cloud as it is, from what Nova still knows of those that
// ended, and from the journal. For `reaper usage` and `GET /v1/usage`.
#pragma once

#include <string>
#include <vector>

#include "reaper/decision/policy.hpp"
#include "reaper/model/cloud.hpp"
#include "reaper/model/records.hpp"
#include "reaper/ports/compute.hpp"
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

/// Nova launches a server again in each rescue, resize, rebuild and unshelving. Of those of `runs`
/// that were launched after `since` and long after they were made, and of those that were shelved
/// when they were deleted, Nova's record of actions tells the times on the shelf: these runs are
/// taken apart. At most 2000 servers are asked about, and none after an error. Of the others the
/// ones that were shelved are left out, and the rest count from their creation, or from their last
/// launch if one of the `reclaimed` ended before it. Returns remarks that say so.
Task<std::vector<std::string>> split_runs(Compute& compute, const std::vector<ServerRun>& reclaimed,
                                          TimePoint since, std::vector<ServerRun>& runs);

}  // namespace reaper
