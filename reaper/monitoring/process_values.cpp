#include "reaper/monitoring/process_values.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/resource.h>
#include <unistd.h>

namespace reaper::monitoring {

namespace {

double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

void add_cpu(Values& values) {
    rusage usage{};
    if (::getrusage(RUSAGE_SELF, &usage) != 0) return;
    values.counter("process_cpu_seconds_total", "User and system CPU time spent.",
                   seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime));
}

void add_memory(Values& values) {
    std::ifstream file("/proc/self/statm");
    double virtual_pages = 0;
    double resident_pages = 0;
    if (!(file >> virtual_pages >> resident_pages)) return;
    const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
    values.gauge("process_virtual_memory_bytes", "Virtual memory size.", virtual_pages * page);
    values.gauge("process_resident_memory_bytes", "Resident memory size.", resident_pages * page);
}

void add_files(Values& values) {
    std::error_code trouble;
    std::filesystem::directory_iterator open("/proc/self/fd", trouble);
    if (!trouble)  // one of them is the directory itself
        values.gauge("process_open_fds", "Open file descriptors.",
                     static_cast<double>(std::distance(begin(open), end(open)) - 1));
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0)
        values.gauge("process_max_fds", "File descriptors that may be open.",
                     static_cast<double>(limit.rlim_cur));
}

}  // namespace

void add_process(TimePoint started_at, Values& values) {
    values.gauge("process_start_time_seconds", "When the process started, since the epoch.",
                 std::chrono::duration<double>(started_at.time_since_epoch()).count());
    add_cpu(values);
    add_memory(values);
    add_files(values);
}

}  // namespace reaper::monitoring
