// Where a dry run keeps what it would have done.
#pragma once

#include <filesystem>

#include "config/settings.hpp"

namespace reaper::config {

/// Beside the daemon's own, so that neither takes the other's for its past.
struct KeptByDryRun {
    JournalSettings journal;
    Record record;
};

/// `dry-run.db` in the directory of the journal, and, where `record` names no directory, `dry-run`
/// there. Of what it gave, it gives the same again.
inline KeptByDryRun kept_by_dry_run(const JournalSettings& of_daemon, const Record& recorded) {
    const auto directory = std::filesystem::path{of_daemon.path}.parent_path();
    KeptByDryRun kept{{}, recorded};
    kept.journal.path = (directory / "dry-run.db").string();
    if (recorded.directory.empty()) kept.record.directory = (directory / "dry-run").string();
    return kept;
}

}  // namespace reaper::config
