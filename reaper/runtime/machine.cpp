#include "reaper/runtime/machine.hpp"

#include <array>
#include <ctime>
#include <unistd.h>

namespace reaper {

std::string machine_name() {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
    return name.data();
}

std::chrono::microseconds thread_cpu_time() {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec});
}

}  // namespace reaper
