#include "config/error.hpp"

#include <algorithm>

#include "reaper/model/text.hpp"

namespace reaper::config {

std::string to_string(const ConfigError& error) {
    std::string line = error.file;
    if (error.line > 0) line += ":" + std::to_string(error.line);
    if (!error.key.empty()) line += ": " + error.key;
    line += ": " + error.problem;
    if (!error.expected.empty()) line += "; expected " + error.expected;
    // A key is whatever the file says: it must not speak to the terminal.
    constexpr std::size_t longest = 4'096;
    return printable(line, longest);
}

bool only_unreadable(const std::vector<ConfigError>& errors) {
    return std::all_of(errors.begin(), errors.end(),
                       [](const ConfigError& error) { return error.unreadable; });
}

}  // namespace reaper::config
