// Snapshot files: the cloud as the reaper saw it at one time, to look at and plan on without a
// cloud. `"format": "reaper-snapshot", "version": 1`; every field is described in SNAPSHOT.md
// beside this file. A change that would break a reader gets a new number.
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>

#include "reaper/model/cloud.hpp"
#include "reaper/model/error.hpp"
#include "reaper/rooms/ledger.hpp"
#include "tagging/tagger.hpp"

namespace reaper::report {

inline constexpr int snapshot_version = 1;
/// Of these a file has no more, and none are read beyond them; where there are more, the last one
/// says so.
inline constexpr std::size_t max_snapshot_remarks = 1'000;
/// That last one.
std::string more_remarks(std::size_t count);

struct SnapshotFile {
    Snapshot snapshot;
    TagData tag_data;  ///< the answers that the servers' `revocable_because` stands on
    Ledger ledger;     ///< as the journal shows it: nothing expired yet
    bool anonymous = false;
};

/// The whole file as one document.
nlohmann::json to_json(const SnapshotFile& file);

/// The same, written host by host, so that memory does not grow with the cloud. Ends in a newline.
void write_snapshot(std::ostream& out, const SnapshotFile& file);

/// The inverse. `bad_input` with the place (`hosts[3].servers[17].created: ...`) for text that is
/// not JSON, has another format or version, or whose fields are missing, duplicate or of another
/// type. The same for contradictions (a host without a provider, a duplicate server, more held than
/// used). Unknown members are skipped. Builds one host at a time, at most 16 levels deep; time and
/// memory stay in proportion to the text.
Result<SnapshotFile> read_snapshot(std::string_view text);

}  // namespace reaper::report
