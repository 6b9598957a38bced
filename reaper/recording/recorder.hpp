// Records what decisions saw and what came of them (RECORDING.md).
//
// On the daemon's thread it only copies what changed, a bounded part at a time; a thread of its own
// does the rest (recording_writer.hpp). All hosts are written once, then those that change. A
// decision that comes before all of them are written, or when more changed than may be copied at
// once, is recorded as one that was not seen whole.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reaper/decision/decision_observer.hpp"
#include "reaper/model/request_record.hpp"
#include "reaper/recording/lines.hpp"
#include "reaper/recording/recording_writer.hpp"
#include "reaper/report/name_changer.hpp"

namespace reaper::recording {

struct RecorderSettings {
    std::string directory;
    std::uint64_t max_bytes = 0;
    std::chrono::milliseconds max_age{};
    bool anonymous = false;
    bool dry_run = false;
    std::string version{};  ///< the reaper's
    /// A policy as the configuration would say it; a replay reads it again.
    std::function<std::string(const config::Policy&)> as_text;
};

class Recorder final : public DecisionObserver {
public:
    /// The directory must be there (RecordingWriter::prepare).
    explicit Recorder(RecorderSettings settings);
    /// For tests: with other limits.
    Recorder(RecorderSettings settings, RecordingWriter::Limits limits);

    /// In force from now on; decisions contain it too.
    void note_policy(const CompiledPolicy& policy);

    void on_decision(const DecisionSight& sight) override;
    void keep_up(const CloudCache& cache) override;
    Duration step() const override;
    bool keeps() const override { return writer_.writes(); }
    std::uint64_t losses() const override { return writer_.losses(); }

    // What is written into the journal, after it was written there.
    void on_plan(const Request& request, const PlanEntry& plan);
    void on_step(const Request& request, const StepEntry& step);
    void on_outcome(const Request& request, const Outcome& outcome);
    void on_freed_room(const RequestId& request, const FreedRoomResult& result);

    /// Waits until it is on its way to the disk. For tests.
    void flush() { writer_.flush(); }

private:
    using Changer = std::shared_ptr<const report::NameChanger>;

    void begin_if_due(TimePoint now);
    void begin_segment(TimePoint now);
    void find_changed(const CloudCache& cache);
    bool copy_changed(const CloudCache& cache, std::size_t most, const std::set<HostId>& first);
    void copy(const CloudCache& cache, const HostId& id);
    void add_policy();
    void note_tags(const TagData& tag_data);
    void note_request(const Request& request, TimePoint at);
    void submit();
    template <class Line>
    void add(Line line, std::string key = {}, std::size_t weight = 1);

    RecorderSettings settings_;
    Changer changer_;  ///< null: names stay
    std::vector<Item> pending_;
    std::uint64_t losses_seen_ = 0;
    bool begun_ = false;
    bool follows_ = false;  ///< the segment goes on where the one before ended
    std::string run_;
    int segments_ = 0;
    ChangeLog<HostId>::Reader changes_;
    std::set<HostId> changed_;    ///< hosts that are not written as they are now
    std::set<HostId> base_left_;  ///< that are, but not in this segment yet
    std::set<HostId> written_;    ///< in this run, and not gone
    bool base_begun_ = false;     ///< since the segment began, all hosts were found
    bool base_ended_ = false;     ///< and written
    /// As it is written, and the ids that were found for it.
    std::optional<std::pair<config::Policy, std::map<std::string, std::string>>> policy_;
    std::map<std::string, std::string> protected_servers_;  ///< with the last policy
    std::optional<PolicyLine> policy_line_;                 ///< of that
    std::optional<TagData> tags_;
    std::set<RequestId> told_;  ///< requests in the segment; bounded
    TimePoint last_at_{};
    RecordingWriter writer_;  ///< last: it ends first
};

}  // namespace reaper::recording
