// A mistake in the configuration: where it is, what it is, what would be right. One line each.
#pragma once

#include <string>

namespace reaper::config {

struct ConfigError {
    std::string file;
    int line = 0;          ///< from 1; 0: the file as a whole
    std::string key;       ///< `http.max_retries`; empty: the file as a whole
    std::string problem;   ///< never a secret
    std::string expected;  ///< may be empty

    friend bool operator==(const ConfigError&, const ConfigError&) = default;
};

/// `FILE:LINE: key.path: problem; expected ...`
std::string to_string(const ConfigError& error);

}  // namespace reaper::config
