// Where a dry run keeps what it would have done.
#pragma once

#include "config/settings.hpp"

namespace reaper::config {

/// Beside the daemon's own, so that neither takes the other's for its past.
struct KeptByDryRun {
    JournalSettings journal;
    Record record;
};

/// `dry-run.db` in the directory of the journal, and, where `record` names no directory, `dry-run`
/// there. Of what it gave, it gives the same again.
KeptByDryRun kept_by_dry_run(const JournalSettings& journal, const Record& record);

}  // namespace reaper::config
