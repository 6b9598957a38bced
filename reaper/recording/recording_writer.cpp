#include "reaper/recording/recording_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <spdlog/spdlog.h>
#include <string_view>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "reaper/recording/gzip_lines.hpp"
#include "reaper/recording/segments.hpp"

namespace reaper::recording {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t batch_bytes = 4UL * 1024 * 1024;
/// So many times its base, at least, is a full segment.
constexpr std::uint64_t times_base = 4;
constexpr std::chrono::hours longest_segment{24};

std::string trouble(const std::string& what) {
    return what + " (" + std::strerror(errno) + ")";
}

bool write_all(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(file, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

}  // namespace

std::unique_ptr<DirectoryLock> DirectoryLock::take(const std::string& directory) {
    const std::string path = directory + "/lock";
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return nullptr;
    if (::flock(file, LOCK_EX | LOCK_NB) == 0)
        return std::unique_ptr<DirectoryLock>(new DirectoryLock(file));
    ::close(file);
    return nullptr;
}

DirectoryLock::~DirectoryLock() {
    ::close(file_);
}

Result<void> RecordingWriter::prepare(const std::string& directory) {
    std::error_code failed;
    std::filesystem::create_directories(directory, failed);
    if (failed)
        return Error{Errc::storage, "record.directory: " + directory + " can't be made (" +
                                        failed.message() + ")"};
    if (::access(directory.c_str(), R_OK | W_OK | X_OK) != 0)
        return Error{Errc::storage,
                     trouble("record.directory: " + directory + " can't be written to")};
    return {};
}

RecordingWriter::RecordingWriter(std::string directory, Limits limits)
    : directory_(std::move(directory)), limits_(limits), thread_([this] { work(); }) {}

RecordingWriter::~RecordingWriter() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
    close_segment();
}

bool RecordingWriter::submit(std::vector<Item> items) {
    {
        const std::lock_guard lock(mutex_);
        std::size_t more = 0;
        for (const Item& item : items) more += item.weight;
        // One batch always has place: the bound is on what waits behind it.
        if (!queue_.empty() && weight_ + more > max_weight) {
            ++losses_;
            return false;
        }
        weight_ += more;
        for (Item& item : items) queue_.push_back(std::move(item));
    }
    wake_.notify_all();
    return true;
}

void RecordingWriter::flush() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return queue_.empty() && !busy_; });
}

void RecordingWriter::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
        if (queue_.empty()) return;
        // More lines together are smaller.
        wake_.wait_for(lock, limits_.gather, [this] { return stopping_; });
        busy_ = true;
        std::deque<Item> items;
        items.swap(queue_);
        weight_ = 0;
        lock.unlock();
        write(std::move(items));
        lock.lock();
        busy_ = false;
        idle_.notify_all();
    }
}

void RecordingWriter::write(std::deque<Item> items) {
    std::string text;
    for (Item& item : items) {
        if (item.begins_segment) {
            append(text);
            close_segment();
            last_.clear();
            const auto opened = open_segment();
            if (!opened) lose(opened.error().what);
        }
        if (lost_) continue;
        std::string line = item.line();
        item.line = nullptr;  // frees what it holds
        if (!item.key.empty()) {
            const std::size_t hash = std::hash<std::string>{}(line);
            const auto known = last_.try_emplace(std::move(item.key), 0).first;
            if (known->second == hash) continue;
            known->second = hash;
        }
        text += line;
        text += '\n';
        if (item.ends_base || text.size() >= batch_bytes) append(text);
        if (item.ends_base && !lost_) base_size_ = size_;
    }
    append(text);
    note_size();
}

/// As one member; takes back what is half written.
void RecordingWriter::append(std::string& text) {
    if (text.empty() || lost_) return text.clear();
    const auto member = gzip_member(text);
    text.clear();
    if (!member) return lose(member.error().what);
    if (!write_all(file_, *member)) {
        const std::string why = trouble(path_ + " can't be written");
        if (::ftruncate(file_, static_cast<off_t>(size_)) != 0)
            spdlog::warn("{}", trouble(path_ + " ends in a broken piece"));
        return lose(why);
    }
    size_ += member->size();
}

Result<void> RecordingWriter::open_segment() {
    if (told_ && steady_clock::now() - failed_at_ < limits_.retry_after)
        return Error{Errc::storage, "the disk is tried again later"};
    prune();
    constexpr int most_tries = 1'000;
    for (int number = 0; number < most_tries; ++number) {
        path_ = directory_ + "/" + segment_name(std::time(nullptr), number);
        file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0640);
        if (file_ >= 0 || errno != EEXIST) break;
    }
    if (file_ < 0) return Error{Errc::storage, trouble(path_ + " can't be made")};
    if (std::exchange(told_, false)) spdlog::info("recording goes on in {}", path_);
    lost_ = false;
    writes_ = true;
    size_ = base_size_ = 0;
    opened_at_ = steady_clock::now();
    wants_segment_ = false;
    return {};
}

void RecordingWriter::close_segment() {
    if (file_ < 0) return;
    const bool kept = ::fsync(file_) == 0;
    if (!kept) spdlog::warn("{}", trouble(path_ + " may not be on the disk"));
    ::close(file_);
    file_ = -1;
}

void RecordingWriter::lose(const std::string& why) {
    writes_ = false;
    if (!std::exchange(told_, true)) {
        failed_at_ = steady_clock::now();
        spdlog::error("nothing is recorded until it can be again: {}", why);
    } else if (steady_clock::now() - failed_at_ >= limits_.retry_after) {
        failed_at_ = steady_clock::now();
    }
    close_segment();
    if (!std::exchange(lost_, true)) ++losses_;
}

void RecordingWriter::note_size() {
    if (lost_) {
        // With a new segment it is tried again.
        if (told_ && steady_clock::now() - failed_at_ >= limits_.retry_after) ++losses_;
        return;
    }
    const bool full =
        base_size_ > 0 && size_ >= std::max(limits_.segment_bytes, times_base * base_size_);
    const bool old = steady_clock::now() - opened_at_ >= longest_segment;
    if ((full || old) && base_size_ > 0) wants_segment_ = true;
    prune();
}

/// The oldest go, never the one that is being written.
void RecordingWriter::prune() {
    auto all = segments_in(directory_);
    if (!all) return;
    std::uint64_t sum = 0;
    for (const Segment& segment : *all) sum += segment.bytes;
    const auto now = std::chrono::file_clock::now();
    for (const Segment& segment : *all) {
        if (file_ >= 0 && segment.path == path_) continue;
        if (sum <= limits_.max_bytes && now - segment.written_at <= limits_.max_age) continue;
        if (::unlink(segment.path.c_str()) == 0) sum -= segment.bytes;
    }
    // All that there is, and still too much: the cloud is too large for so few bytes.
    if (file_ < 0 || size_ <= limits_.max_bytes) return;
    close_segment();
    ::unlink(path_.c_str());
    lose("record.max_mib is too small for all hosts of this cloud");
}

}  // namespace reaper::recording
