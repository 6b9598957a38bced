// A daemon that records: a recorder that hears of everything.
#pragma once

#include <memory>

#include "config/settings.hpp"
#include "reaper/recording/recorder.hpp"
#include "reaper/requests/record_feed.hpp"

namespace reaper::cli {

struct RecordingDaemon {
    recording::Recorder recorder;
    std::unique_ptr<RecordFeed::Subscription> listening;

    explicit RecordingDaemon(recording::RecorderSettings settings)
        : recorder(std::move(settings)) {}
};

/// Null where nothing is recorded. `feed` must outlive it, and tell nothing after its end.
/// `storage` if its directory can't be used.
Result<std::unique_ptr<RecordingDaemon>> recorder_of(const config::Settings& settings,
                                                     RecordFeed& feed, bool dry_run);

}  // namespace reaper::cli
