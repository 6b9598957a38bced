// Preloaded into a reaper under test: its machine loses power, its disk fills up, its clock jumps.
//
//   REAPER_FAULT_FILES   path of the journal; its -wal and -shm belong to it
//   REAPER_FAULT_KILL    `before N`: at the Nth sync of these files the process dies (SIGKILL), and
//                        what it wrote to them since the last sync of each is undone, as when the
//                        power goes; `after N`: it dies right after that sync
//   REAPER_FAULT_FULL    while this file exists, writes to the journal's files fail with ENOSPC
//   REAPER_FAULT_FULL_AT N: that file is made right after the Nth sync
//   REAPER_FAULT_CLOCK   while this file exists, CLOCK_REALTIME is off by the seconds in it
//   REAPER_FAULT_SYNCS   each sync appends a byte to this file
//
// Calls go to the kernel directly: nothing here depends on what else is loaded.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <mutex>
#include <string>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include <vector>

namespace {

const char* setting(const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

struct Faults {
    const char* files = setting("REAPER_FAULT_FILES");
    const char* full = setting("REAPER_FAULT_FULL");
    const char* clock = setting("REAPER_FAULT_CLOCK");
    const char* syncs = setting("REAPER_FAULT_SYNCS");
    bool kill_before = false;
    long kill_at = 0;  ///< 0: never
    long full_at = 0;  ///< 0: never

    Faults() {
        if (const char* const at = setting("REAPER_FAULT_FULL_AT")) full_at = std::atol(at);
        const char* const kill = setting("REAPER_FAULT_KILL");
        if (kill == nullptr) return;
        kill_before = std::strncmp(kill, "before ", 7) == 0;
        kill_at = std::atol(std::strchr(kill, ' ') + 1);
    }
};

const Faults& faults() {
    static const Faults all;
    return all;
}

/// What was in the place of a write that is not synced yet.
struct Undo {
    std::string path;
    off_t at;
    std::string bytes;  ///< as many as there were
    off_t size;         ///< of the file
};

// Left to the end of the process: threads may write until then.
std::mutex& lock() {
    static auto* const mutex = new std::mutex;
    return *mutex;
}
std::vector<Undo>& unsynced() {
    static auto* const all = new std::vector<Undo>;
    return *all;
}
std::atomic<long> syncs_so_far{0};

/// The journal's file behind a descriptor; empty for any other.
std::string journal_file(int descriptor) {
    if (faults().files == nullptr) return {};
    char link[64];
    char path[4096];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    const long size = syscall(SYS_readlink, link, path, sizeof path - 1);
    if (size <= 0) return {};
    const std::string found(path, static_cast<std::size_t>(size));
    const std::string journal = faults().files;
    return found == journal || found == journal + "-wal" || found == journal + "-shm" ? found : "";
}

bool shared_memory(const std::string& path) {
    return path.size() > 4 && path.compare(path.size() - 4, 4, "-shm") == 0;
}

bool disk_full() {
    return faults().full != nullptr && syscall(SYS_access, faults().full, F_OK) == 0;
}

void remember(int descriptor, const std::string& path, off_t at, std::size_t length) {
    if (!faults().kill_before || shared_memory(path)) return;
    struct stat status {};
    if (fstat(descriptor, &status) != 0) return;
    Undo undo{path, at, std::string(length, '\0'), status.st_size};
    const long size = syscall(SYS_pread64, descriptor, undo.bytes.data(), length, at);
    undo.bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    const std::lock_guard guard{lock()};
    unsynced().push_back(std::move(undo));
}

[[noreturn]] void die() {
    syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
    while (true) pause();
}

[[noreturn]] void lose_power() {
    const std::lock_guard guard{lock()};
    for (auto undo = unsynced().rbegin(); undo != unsynced().rend(); ++undo) {
        const long file = syscall(SYS_openat, AT_FDCWD, undo->path.c_str(), O_RDWR);
        if (file < 0) continue;
        syscall(SYS_pwrite64, file, undo->bytes.data(), undo->bytes.size(), undo->at);
        syscall(SYS_ftruncate, file, undo->size);
    }
    die();
}

void append_to(const char* path) {
    if (path == nullptr) return;
    const long file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    syscall(SYS_write, file, "x", 1);
    syscall(SYS_close, file);
}

int sync_with(long call, int descriptor) {
    const std::string path = journal_file(descriptor);
    if (path.empty()) return static_cast<int>(syscall(call, descriptor));
    const long number = ++syncs_so_far;
    if (faults().kill_before && number == faults().kill_at) lose_power();
    const long result = syscall(call, descriptor);
    if (result == 0) {
        const std::lock_guard guard{lock()};
        std::erase_if(unsynced(), [&](const Undo& undo) { return undo.path == path; });
    }
    append_to(faults().syncs);
    if (number == faults().full_at) append_to(faults().full);
    if (!faults().kill_before && number == faults().kill_at) die();
    return static_cast<int>(result);
}

ssize_t write_at(int descriptor, const void* bytes, std::size_t length, off_t at) {
    const std::string path = journal_file(descriptor);
    if (!path.empty()) {
        if (disk_full()) {
            errno = ENOSPC;
            return -1;
        }
        remember(descriptor, path, at, length);
    }
    return syscall(SYS_pwrite64, descriptor, bytes, length, at);
}

int resize(int descriptor, off_t size) {
    const std::string path = journal_file(descriptor);
    if (!path.empty()) {
        struct stat status {};
        if (fstat(descriptor, &status) == 0 && size < status.st_size)
            remember(descriptor, path, size, static_cast<std::size_t>(status.st_size - size));
    }
    return static_cast<int>(syscall(SYS_ftruncate, descriptor, size));
}

/// Seconds that the wall clock is off by.
long offset() {
    if (faults().clock == nullptr) return 0;
    const long file = syscall(SYS_openat, AT_FDCWD, faults().clock, O_RDONLY);
    if (file < 0) return 0;
    char text[32] = {};
    syscall(SYS_read, file, text, sizeof text - 1);
    syscall(SYS_close, file);
    return std::atol(text);
}

}  // namespace

extern "C" {

int fsync(int descriptor) {
    return sync_with(SYS_fsync, descriptor);
}

int fdatasync(int descriptor) {
    return sync_with(SYS_fdatasync, descriptor);
}

ssize_t pwrite(int descriptor, const void* bytes, std::size_t length, off_t at) {
    return write_at(descriptor, bytes, length, at);
}

ssize_t pwrite64(int descriptor, const void* bytes, std::size_t length, off64_t at) {
    return write_at(descriptor, bytes, length, at);
}

int ftruncate(int descriptor, off_t size) noexcept {
    return resize(descriptor, size);
}

int ftruncate64(int descriptor, off64_t size) noexcept {
    return resize(descriptor, size);
}

int clock_gettime(clockid_t which, struct timespec* time) noexcept {
    const long result = syscall(SYS_clock_gettime, which, time);
    if (result == 0 && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE))
        time->tv_sec += offset();
    return static_cast<int>(result);
}

int gettimeofday(struct timeval* time, void*) noexcept {
    struct timespec now {};
    clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t* result) noexcept {
    struct timespec now {};
    clock_gettime(CLOCK_REALTIME, &now);
    if (result != nullptr) *result = now.tv_sec;
    return now.tv_sec;
}

}  // extern "C"
