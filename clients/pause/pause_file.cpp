#include "clients/pause/pause_file.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "reaper/json/json_text.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"

namespace reaper {
namespace {

constexpr std::size_t max_bytes = 64 * 1024;

/// Closes a descriptor with its scope.
class File {
public:
    explicit File(int descriptor) : descriptor_(descriptor) {}
    File& operator=(File&&) = delete;
    ~File() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    int get() const noexcept { return descriptor_; }
    bool good() const noexcept { return descriptor_ >= 0; }

private:
    int descriptor_;
};

TimePoint time_of(const timespec& time) {
    return TimePoint{std::chrono::duration_cast<Duration>(std::chrono::seconds{time.tv_sec} +
                                                          std::chrono::nanoseconds{time.tv_nsec})};
}

std::string text_at(const nlohmann::json& json, const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? printable(found->get<std::string>(), 1024)
                                                     : std::string{};
}

/// Of the first bytes of a regular file; why not, else.
Result<std::string> content_of(const std::string& path) {
    // A pipe of that name must not hold us up.
    const File file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (!file.good()) return Error{Errc::storage, std::strerror(errno)};
    struct stat status {};
    if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
        return Error{Errc::storage, "not a regular file"};
    std::string text(max_bytes, '\0');
    const ssize_t size = ::pread(file.get(), text.data(), text.size(), 0);
    if (size < 0) return Error{Errc::storage, std::strerror(errno)};
    text.resize(static_cast<std::size_t>(size));
    return text;
}

PauseNote note_of(const std::string& path, TimePoint changed) {
    PauseNote note;
    note.at = changed;
    const auto text = content_of(path);
    if (!text) {
        note.trouble = path + " can't be read (" + text.error().what + ")";
        return note;
    }
    const auto json = parse_bounded(*text);
    if (!json.is_object()) {
        note.trouble = path + " is there";
        return note;
    }
    note.by = text_at(json, "by");
    note.reason = text_at(json, "reason");
    if (const auto at = parse_time(text_at(json, "at"))) note.at = *at;
    if (note.by.empty() && note.reason.empty()) note.trouble = path + " is there";
    return note;
}

Error failed(const std::string& path, const char* what, const std::string& advice) {
    return Error{Errc::storage, "pause file " + path + ": can't " + what + " (" +
                                    std::strerror(errno) + "); " + advice};
}

std::string folder_of(const std::string& path) {
    const std::string folder = std::filesystem::path{path}.parent_path().string();
    return folder.empty() ? "." : folder;
}

std::string write_advice(const std::string& path) {
    switch (errno) {
        case ENOENT:
        case ENOTDIR: return "make the directory " + folder_of(path) + ", or change pause_file";
        case EACCES:
        case EPERM:
        case EROFS: return "run this as root or as the reaper's user";
        case ENOSPC:
        case EDQUOT:
            return "the disk is full: stop the reaper instead (systemctl stop reaper), or free "
                   "some space";
        default: return "stop the reaper instead (systemctl stop reaper)";
    }
}

/// An entry that was made or removed is there, or gone, also after a power cut.
bool sync_folder(const std::string& path) {
    const File folder{::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    return folder.good() && ::fsync(folder.get()) == 0;
}

bool write_whole(int file, const std::string& text) {
    std::size_t written = 0;
    while (written < text.size()) {
        const ssize_t size = ::write(file, text.data() + written, text.size() - written);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return false;
        written += static_cast<std::size_t>(size);
    }
    return true;
}

}  // namespace

std::optional<PauseNote> PauseFile::note() const {
    struct stat status {};
    // A link that leads nowhere pauses too.
    if (::lstat(path_.c_str(), &status) != 0) {
        known_stamp_.reset();
        if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
        PauseNote unknown;
        unknown.at = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
        unknown.trouble = path_ + " can't be looked at (" + std::strerror(errno) +
                          "); give its directory to the reaper's user";
        return unknown;
    }
    const Stamp stamp{status.st_dev, status.st_ino, status.st_size, status.st_ctim.tv_sec,
                      status.st_ctim.tv_nsec};
    if (known_stamp_ != stamp || S_ISLNK(status.st_mode)) {
        known_ = note_of(path_, time_of(status.st_mtim));
        known_stamp_ = stamp;
    }
    return known_;
}

std::optional<std::string> PauseFile::paused() const {
    const auto found = note();
    if (!found) return std::nullopt;
    return "paused " + found->line();
}

// Written beside, then linked to its name: never seen half, and never in the place of another.
Result<void> PauseFile::pause(std::string by, std::string reason) {
    const auto now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
    const nlohmann::json json = {
        {"version", 1}, {"by", by}, {"at", iso_time(now)}, {"reason", reason}};
    const std::string text =
        json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    const std::string draft = path_ + ".new-" + std::to_string(::getpid());
    const File file{
        ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644)};
    if (!file.good()) return failed(path_, "write", write_advice(path_));
    // For the reaper's user too, by whatever user and umask it was written.
    bool done = ::fchmod(file.get(), 0644) == 0 && write_whole(file.get(), text) &&
                ::fsync(file.get()) == 0;
    if (done && ::link(draft.c_str(), path_.c_str()) != 0) done = errno == EEXIST;
    const int reason_of_failure = errno;
    ::unlink(draft.c_str());
    errno = reason_of_failure;
    if (!done) return failed(path_, "write", write_advice(path_));
    if (!sync_folder(path_)) return failed(path_, "make durable", write_advice(path_));
    return {};
}

Result<void> PauseFile::resume() {
    if (::unlink(path_.c_str()) != 0) {
        if (errno == ENOENT) return {};
        return failed(path_, "remove",
                      errno == EISDIR ? "it is a directory: remove it"
                                      : "run this as root or as the reaper's user");
    }
    if (!sync_folder(path_))
        return failed(path_, "make its removal durable", "it is removed until a power cut");
    return {};
}

std::string breaker_file(const std::string& pause_file) {
    return pause_file + "-by-breaker";
}

}  // namespace reaper
