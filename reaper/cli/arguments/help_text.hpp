// What `--help` says: one paragraph and examples for each command.
#pragma once

#include <string_view>

namespace reaper::cli::help {

struct Text {
    std::string_view path;  ///< `reaper history show`
    const char* brief;      ///< for the list of commands
    const char* description;
    const char* footer;  ///< examples and what else there is to know
};

/// `path` is that of a command, or `reaper`.
const Text& text_of(std::string_view path);

}  // namespace reaper::cli::help
