// Writes a recording in a thread of its own: encodes, compresses, appends, and lets the oldest go.
//
// A recording is a directory of segments (RECORDING.md). Each segment begins with all hosts, so
// that those before it can go. Who submits never waits: what the thread can't keep up with, or the
// disk does not take, is dropped, and the recording begins again after that (`run`). That is logged
// once, until it works again.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "reaper/model/error.hpp"

namespace reaper::recording {

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
    DirectoryLock(const DirectoryLock&) = delete;
    DirectoryLock& operator=(const DirectoryLock&) = delete;

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
    RecordingWriter(const RecordingWriter&) = delete;
    RecordingWriter& operator=(const RecordingWriter&) = delete;

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

}  // namespace reaper::recording
