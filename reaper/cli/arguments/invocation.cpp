#include "reaper/cli/arguments/invocation.hpp"

#include <chrono>
#include <cstdlib>
#include <pwd.h>
#include <unistd.h>

namespace reaper::cli {

std::string operator_name() {
    const passwd* const entry = getpwuid(geteuid());
    const std::string user = entry != nullptr ? entry->pw_name : std::to_string(geteuid());
    const char* const person = std::getenv("SUDO_USER");
    return person != nullptr && *person != '\0' && person != user
               ? std::string{person} + " (as " + user + ")"
               : user;
}

TimePoint now() {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

}  // namespace reaper::cli
