#include "config/dry_run.hpp"

#include <filesystem>

namespace reaper::config {

KeptByDryRun kept_by_dry_run(const JournalSettings& journal, const Record& record) {
    const auto directory = std::filesystem::path{journal.path}.parent_path();
    KeptByDryRun kept{{}, record};
    kept.journal.path = (directory / "dry-run.db").string();
    if (record.directory.empty()) kept.record.directory = (directory / "dry-run").string();
    return kept;
}

}  // namespace reaper::config
