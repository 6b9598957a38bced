#include "clients/journal/file_lease.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "clients/journal/sqlite_database.hpp"

namespace reaper::journal {
namespace {

/// The process that wrote its number into the lock file; empty if it can't be determined.
std::string holder(int file) {
    char text[32] = {};
    const ssize_t size = ::pread(file, text, sizeof text - 1, 0);
    std::string digits;
    for (ssize_t i = 0; i < size && text[i] >= '0' && text[i] <= '9'; ++i) digits += text[i];
    return digits.empty() ? "" : " (process " + digits + ")";
}

Error another_writes(const std::string& path, int lock) {
    return Error{Errc::storage, "journal " + path + ": another reaper" + holder(lock) +
                                    " writes to it; stop that one, or give this one a " +
                                    "journal.path of its own"};
}

constexpr std::array<const char*, 2> endings{"", "-wal"};

}  // namespace

Result<FileLease> FileLease::take(const std::string& path) {
    const std::string name = path + "-lock";
    const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (file < 0)
        return Error{Errc::storage, "journal " + path + ": can't open its lock file " + name +
                                        " (" + std::strerror(errno) +
                                        "); give the directory to the reaper's user"};
    FileLease lease{file, path};
    if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) return another_writes(path, file);
        return Error{Errc::storage, "journal " + path + ": can't lock " + name + " (" +
                                        std::strerror(errno) + ")"};
    }
    struct stat status {};
    lease.was_held_ = ::fstat(file, &status) == 0 && status.st_size > 0;
    // For the message above and the next start; the lock itself is the kernel's.
    const std::string self = std::to_string(::getpid()) + "\n";
    if (::ftruncate(file, 0) != 0 ||
        ::pwrite(file, self.data(), self.size(), 0) != static_cast<ssize_t>(self.size()))
        return Error{Errc::storage, "journal " + path + ": can't write " + name + " (" +
                                        std::strerror(errno) + ")"};
    return lease;
}

FileLease::FileLease(FileLease&& other) noexcept
    : lock_(std::exchange(other.lock_, -1)),
      file_(std::exchange(other.file_, -1)),
      was_held_(other.was_held_),
      path_(std::move(other.path_)),
      files_(other.files_) {}

FileLease& FileLease::operator=(FileLease&& other) noexcept {
    std::swap(lock_, other.lock_);
    std::swap(file_, other.file_);
    std::swap(was_held_, other.was_held_);
    std::swap(path_, other.path_);
    std::swap(files_, other.files_);
    return *this;
}

FileLease::~FileLease() {
    if (file_ >= 0) ::close(file_);
    if (lock_ >= 0) ::close(lock_);
}

// What can't be opened, SQLite names with the reason. (No waiting for the other end of a pipe.)
Result<void> FileLease::lock_file() {
    if (file_ >= 0) ::close(file_);
    file_ = ::open(path_.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644);
    if (file_ < 0 || ::flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return {};
    // The lock file that named its holder may be gone.
    return another_writes(path_, -1);
}

std::optional<FileLease::Identity> FileLease::identity_of(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return std::nullopt;
    return Identity{status.st_dev, status.st_ino};
}

void FileLease::remember_files() {
    for (std::size_t i = 0; i < endings.size(); ++i) files_[i] = identity_of(path_ + endings[i]);
}

Result<void> FileLease::check() {
    for (std::size_t i = 0; i < endings.size(); ++i) {
        const std::string name = path_ + endings[i];
        if (!files_[i] || identity_of(name) == files_[i]) continue;
        return Error{Errc::storage,
                     "journal " + path_ + ": " + name +
                         " was removed or replaced while the reaper writes to it, and nothing " +
                         "is deleted without a record; put the file back, or restart the reaper"};
    }
    return {};
}

// By a connection of its own: ours would answer from a file that has no name any longer.
Result<void> FileLease::read_back(std::int64_t step, const ServerId& server) {
    SqliteDatabase others{path_, SQLITE_OPEN_READONLY};
    auto look = others.statement("SELECT 1 FROM step WHERE rowid = ?1 AND server = ?2");
    look.bind(1, step).bind(2, server.str());
    if (look.step()) return check();
    return Error{Errc::storage, "journal " + path_ + ": a deletion was written and is not there; " +
                                    "restart the reaper"};
}

}  // namespace reaper::journal
