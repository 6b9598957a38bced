#include "reaper/cli/daemon/recording_daemon.hpp"

#include <spdlog/spdlog.h>
#include <type_traits>
#include <utility>
#include <variant>

#include "config/dry_run.hpp"
#include "config/loader.hpp"
#include "reaper/daemon/composition.hpp"

namespace reaper::cli {
namespace {

recording::RecorderSettings settings_of(const config::Record& record, bool dry_run) {
    recording::RecorderSettings settings;
    settings.directory = record.directory;
    settings.max_bytes = record.max_bytes;
    settings.max_age = record.max_age;
    settings.anonymous = record.anonymous;
    settings.dry_run = dry_run;
    settings.version = REAPER_VERSION;
    settings.as_text = [](const config::Policy& policy) { return config::to_yaml(policy); };
    return settings;
}

void tell(recording::Recorder& recorder, const Request& request, const RecordEvent& event) {
    std::visit(
        [&](const auto& each) {
            using Event = std::remove_cvref_t<decltype(each)>;
            if constexpr (std::is_same_v<Event, PlanEntry>) recorder.on_plan(request, each);
            if constexpr (std::is_same_v<Event, StepEntry>) recorder.on_step(request, each);
            if constexpr (std::is_same_v<Event, Outcome>) recorder.on_outcome(request, each);
        },
        event);
}

}  // namespace

Result<std::unique_ptr<RecordingDaemon>> recorder_of(const config::Settings& settings,
                                                     RecordFeed& feed, bool dry_run) {
    config::Record record = settings.record;
    const bool wanted = !record.directory.empty();
    if (dry_run) record = config::kept_by_dry_run(settings.journal, settings.record).record;
    if (record.directory.empty()) return std::unique_ptr<RecordingDaemon>{};
    if (!wanted && !may_keep_at(record.directory)) {
        spdlog::warn("nothing is kept for 'reaper report': the directory of {} is another user's",
                     record.directory);
        return std::unique_ptr<RecordingDaemon>{};
    }
    const auto prepared = recording::RecordingWriter::prepare(record.directory);
    if (!prepared && wanted) return prepared.error();
    if (!prepared) {
        spdlog::warn("nothing is kept for 'reaper report': {}", prepared.error().what);
        return std::unique_ptr<RecordingDaemon>{};
    }
    auto lock = recording::DirectoryLock::take(record.directory);
    if (!lock) {
        spdlog::warn("nothing is recorded: another reaper records in {} (record.directory)",
                     record.directory);
        return std::unique_ptr<RecordingDaemon>{};
    }
    auto daemon = std::make_unique<RecordingDaemon>(std::move(lock), settings_of(record, dry_run));
    recording::Recorder* const recorder = &daemon->recorder;
    daemon->listening = feed.listen([recorder](const Request& request, const RecordEvent& event) {
        tell(*recorder, request, event);
    });
    feed.listen_to_freed_room([recorder](const RequestId& id, const FreedRoomResult& result) {
        recorder->on_freed_room(id, result);
    });
    spdlog::info("recording decisions in {}{}", record.directory,
                 record.anonymous ? ", anonymous" : "");
    return daemon;
}

}  // namespace reaper::cli
