// A daemon that records: a recorder that hears of everything.
#pragma once

#include <memory>

#include "config/settings.hpp"
#include "reaper/recording/recorder.hpp"
#include "reaper/requests/record_feed.hpp"

namespace reaper::cli {

/// Of what the reapers of one journal should have in common: not of addresses, files, secrets and
/// other things of a machine. 16 hexadecimal digits.
std::string configuration_digest(const config::Settings& settings);
/// The same of each section: `cull=1f2e3d4c limits=...`.
std::string digests_of_sections(const config::Settings& settings);

struct RecordingDaemon {
    std::unique_ptr<recording::DirectoryLock> lock;
    recording::Recorder recorder;
    std::unique_ptr<RecordFeed::Subscription> listening;

    RecordingDaemon(std::unique_ptr<recording::DirectoryLock> taken,
                    recording::RecorderSettings settings)
        : lock(std::move(taken)), recorder(std::move(settings)) {}
};

/// A dry run records where no setting says so, too, if it may. Null where nothing is recorded: it
/// is not wanted, or another reaper records there. `feed` must outlive it, and tell nothing after
/// its end. `storage` if its directory can't be used.
Result<std::unique_ptr<RecordingDaemon>> recorder_of(const config::Settings& settings,
                                                     RecordFeed& feed, bool dry_run);

}  // namespace reaper::cli
