#include "config/error.hpp"

namespace reaper::config {

std::string to_string(const ConfigError& error) {
    std::string line = error.file;
    if (error.line > 0) line += ":" + std::to_string(error.line);
    if (!error.key.empty()) line += ": " + error.key;
    line += ": " + error.problem;
    if (!error.expected.empty()) line += "; expected " + error.expected;
    return line;
}

}  // namespace reaper::config
