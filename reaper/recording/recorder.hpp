// Records what decisions saw and what came of them (RECORDING.md).
//
// On the daemon's thread it only copies what changed, a bounded part at a time; a thread of its own
// does the rest (`RecordingWriter`). All hosts are written once, then those that change. A
// decision that comes before all of them are written, or when more changed than may be copied at
// once, is recorded as one that was not seen whole.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reaper/decision/decision_observer.hpp"
#include "reaper/model/error.hpp"
#include "reaper/model/request_record.hpp"
#include "reaper/recording/lines.hpp"
#include "reaper/report/name_changer.hpp"

namespace reaper::recording {

// Writes a recording in a thread of its own: encodes, compresses, appends, and lets the oldest go.
//
// A recording is a directory of segments (RECORDING.md). Each segment begins with all hosts, so
// that those before it can be removed. Callers never wait: what the thread can't keep up with, or
// the disk does not take, is dropped, and the recording begins again after that (`run`). That is
// logged once, until it works again.

/// A line in the making.
struct Item {
    /// Called in the writer's thread, with copies alone; the line without its end.
    std::function<std::string()> line;
    /// Not empty: of a line with the same key, only one that differs from the last is written.
    std::string key{};
    bool begins_segment = false;  ///< it is the first line of a segment
    bool ends_base = false;       ///< all hosts are written by then
    std::size_t weight = 1;       ///< what it takes in memory, in servers or so
};

/// Held by the writer of the directory for its lifetime, so that there are never two.
class DirectoryLock {
public:
    /// None if another process, or this one, holds it.
    static std::unique_ptr<DirectoryLock> take(const std::string& directory);
    ~DirectoryLock();
    DirectoryLock& operator=(DirectoryLock&&) = delete;

private:
    explicit DirectoryLock(int file) : file_(file) {}
    const int file_;
};

class RecordingWriter {
public:
    struct Limits {
        std::uint64_t max_bytes = 0;
        std::chrono::milliseconds max_age{};
        /// A segment of so many bytes is full, if it is some times its base.
        std::uint64_t segment_bytes = 0;
        /// How long a batch is waited for.
        std::chrono::milliseconds gather{1'000};
        /// After the disk refused, until it is tried again.
        std::chrono::milliseconds retry_after{60'000};
    };

    /// Makes the directory if it is not there.
    static Result<void> prepare(const std::string& directory);

    RecordingWriter(std::string directory, Limits limits);
    /// Writes what was submitted.
    ~RecordingWriter();
    RecordingWriter& operator=(RecordingWriter&&) = delete;

    /// False if there is no place for it: then what follows makes no sense without a new base.
    bool submit(std::vector<Item> items);
    /// Grows with each loss: what follows needs a new base.
    std::uint64_t losses() const { return losses_.load(); }
    /// False: the disk refused, or all hosts are more than may be kept, and it was not tried again
    /// since.
    bool writes() const { return writes_.load(); }
    /// The segment is full: another one should begin.
    bool wants_segment() const { return wants_segment_.load(); }
    /// Waits until all that was submitted is written, or lost. For tests.
    void flush();

private:
    static constexpr std::size_t max_weight = 300'000;

    void work();
    void write(std::deque<Item> items);
    void append(std::string& text);
    Result<void> open_segment();
    void close_segment();
    void lose(const std::string& why);
    void note_size();
    void prune();

    const std::string directory_;
    const Limits limits_;

    std::mutex mutex_;
    std::condition_variable wake_, idle_;
    std::deque<Item> queue_;
    std::size_t weight_ = 0;
    bool stopping_ = false;
    bool busy_ = false;
    std::atomic<std::uint64_t> losses_{0};
    std::atomic<bool> wants_segment_{false};
    std::atomic<bool> writes_{true};

    // Of the thread alone.
    int file_ = -1;
    std::string path_;
    std::uint64_t size_ = 0;
    std::uint64_t base_size_ = 0;  ///< 0: the base is not complete
    std::chrono::steady_clock::time_point opened_at_;
    std::unordered_map<std::string, std::size_t> last_;  ///< hash of the last line, by key
    bool lost_ = true;                                   ///< nothing is written until a new segment
    bool told_ = false;
    std::chrono::steady_clock::time_point failed_at_;

    std::thread thread_;
};

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
