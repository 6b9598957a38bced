// A mistake in the configuration: where it is, what it is, what would be right. One line each.
#pragma once

#include <string>
#include <vector>

namespace reaper::config {

struct ConfigError {
    std::string file;
    int line = 0;          ///< from 1; 0: the file as a whole
    std::string key;       ///< `http.max_retries`; empty: the file as a whole
    std::string problem;   ///< never a secret
    std::string expected;  ///< may be empty
    /// A file that it names is missing or can't be read as things are: a mount, a secret or a right
    /// may come later, without a change of the configuration.
    bool unreadable = false;

    friend bool operator==(const ConfigError&, const ConfigError&) = default;
};

/// `FILE:LINE: key.path: problem; expected ...`
std::string to_string(const ConfigError& error);

/// Nothing is wrong with what the configuration says: files are missing.
bool only_unreadable(const std::vector<ConfigError>& errors);

}  // namespace reaper::config
