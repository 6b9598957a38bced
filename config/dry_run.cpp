#include "config/dry_run.hpp"

#include <filesystem>

namespace reaper::config {

KeptByDryRun kept_by_dry_run(const JournalFile& journal, const Record& record) {
    const auto directory = std::filesystem::path{journal.path}.parent_path();
    KeptByDryRun kept{{(directory / "dry-run.db").string()}, record};
    if (record.directory.empty()) kept.record.directory = (directory / "dry-run").string();
    return kept;
}

}  // namespace reaper::config
