#include "clients/journal/file_lease.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "clients/journal/sqlite_database.hpp"

namespace reaper::journal {
namespace {

// The lock file has the number of its process, and a second line since there is a journal.

constexpr std::string_view journal_line = "journal\n";

std::string content(int file) {
    std::string text(64, '\0');
    const ssize_t size = ::pread(file, text.data(), text.size(), 0);
    text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return text;
}

/// The process that wrote its number into the lock file; empty if it can't be determined.
std::string holder(int file) {
    const std::string text = content(file);
    const std::string digits = text.substr(0, text.find_first_not_of("0123456789"));
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
    lease.had_journal_ = content(file).find(journal_line) != std::string::npos;
    if (!lease.write_lock())
        return Error{Errc::storage, "journal " + path + ": can't write " + name + " (" +
                                        std::strerror(errno) + ")"};
    return lease;
}

/// For the messages of others and the next start; the lock itself is the kernel's.
bool FileLease::write_lock() const {
    std::string text = std::to_string(::getpid()) + "\n";
    if (had_journal_) text += journal_line;
    const auto size = static_cast<ssize_t>(text.size());
    return ::pwrite(lock_, text.data(), text.size(), 0) == size && ::ftruncate(lock_, size) == 0;
}

FileLease::FileLease(FileLease&& other) noexcept
    : lock_(std::exchange(other.lock_, -1)),
      file_(std::exchange(other.file_, -1)),
      had_journal_(other.had_journal_),
      path_(std::move(other.path_)),
      files_(other.files_) {}

FileLease& FileLease::operator=(FileLease&& other) noexcept {
    std::swap(lock_, other.lock_);
    std::swap(file_, other.file_);
    std::swap(had_journal_, other.had_journal_);
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
    remember_journal();
}

void FileLease::remember_journal() {
    if (std::exchange(had_journal_, true)) return;
    write_lock();
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
