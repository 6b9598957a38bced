#include "clients/journal/lease.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

namespace reaper::journal {
namespace {

/// The process that wrote its number into the lock file; empty if it can't be told.
std::string holder(int file) {
    char text[32] = {};
    const ssize_t size = ::pread(file, text, sizeof text - 1, 0);
    std::string digits;
    for (ssize_t i = 0; i < size && text[i] >= '0' && text[i] <= '9'; ++i) digits += text[i];
    return digits.empty() ? "" : " (process " + digits + ")";
}

}  // namespace

Result<Lease> Lease::take(const std::string& path) {
    const std::string name = path + "-lock";
    const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (file < 0)
        return Error{Errc::storage, "journal " + path + ": can't open its lock file " + name +
                                        " (" + std::strerror(errno) +
                                        "); give the directory to the reaper's user"};
    Lease lease{file};
    if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            return Error{Errc::storage, "journal " + path + ": another reaper" + holder(file) +
                                            " writes to it; stop that one, or give this one a " +
                                            "journal.path of its own"};
        return Error{Errc::storage, "journal " + path + ": can't lock " + name + " (" +
                                        std::strerror(errno) + ")"};
    }
    // Only for the message above; the lock itself is the kernel's.
    const std::string self = std::to_string(::getpid()) + "\n";
    if (::ftruncate(file, 0) != 0 ||
        ::pwrite(file, self.data(), self.size(), 0) != static_cast<ssize_t>(self.size()))
        return Error{Errc::storage, "journal " + path + ": can't write " + name + " (" +
                                        std::strerror(errno) + ")"};
    return lease;
}

Lease::Lease(Lease&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

Lease& Lease::operator=(Lease&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
}

Lease::~Lease() {
    if (file_ >= 0) ::close(file_);
}

}  // namespace reaper::journal
