// The file of the kill switch, which any user with a shell may have written: whatever is in it,
// the reaper pauses, and reports it in one plain line.
#include "clients/pause/pause_file.hpp"

#include <cstdio>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reaper;
    // In memory: a disk would be the slowest part.
    static const int file = ::memfd_create("paused", MFD_CLOEXEC);
    static const std::string path = "/proc/self/fd/" + std::to_string(file);
    fuzz::require(file >= 0 && ::ftruncate(file, 0) == 0, "there is a file to write");
    const auto written = ::pwrite(file, data, size, 0);
    fuzz::require(written == static_cast<ssize_t>(size), "it is written");
    const PauseFile pause(path);
    const auto told = pause.paused();
    fuzz::require(told.has_value(), "a file that is there pauses");
    fuzz::require_one_line(*told);
    const auto note = pause.note();
    fuzz::require(note.has_value(), "an existing file is reported");
    fuzz::require_one_line(note->line());
    return 0;
}
