// Anonymises a snapshot, so that it can be shown to others: what matters for planning stays, names
// of users and things are removed.
#pragma once

#include "reaper/report/snapshot_file.hpp"

namespace reaper::report {

/// Names and ids are replaced, the same one by the same one throughout, and in the same order as
/// the originals, so that ties break alike. UUIDs become other UUIDs (also as 32 digits, and after
/// `req-`). Metadata, tags, names of flavors, zones, aggregates and project tags are replaced too
/// (`preemptible` stays), and so are extra specs, but for those on resources and traits. Free text
/// (remarks, disabled reasons, the taggers' words) is dropped. Resource classes, traits, amounts,
/// times and Nova's states stay.
SnapshotFile anonymized(const SnapshotFile& file);

}  // namespace reaper::report
