// A world for the loader: its variables and files are what a test says.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "config/loader.hpp"

namespace reaper::config::test {

struct World {
    std::map<std::string, std::string> variables;
    std::map<std::string, FileText> files;
    std::map<std::string, ModuleFile> modules;  ///< by path
    std::vector<ConfigError> warnings;          ///< of the last load

    Environment environment() const;
    LoadResult load(const std::string& text);
    /// The settings; a test fails and gets defaults if there are mistakes.
    Settings good(const std::string& text);
    /// The mistakes as people see them; none if the text is good.
    std::vector<std::string> errors(const std::string& text);
    std::vector<std::string> warning_lines() const;
};

/// A whole file that is right: `cloud` and `broker` with the least they need, then `more`.
std::string minimal(const std::string& more = "");

}  // namespace reaper::config::test
