// What the loader sees of the world: variables and small files. Functions, so that tests bring
// their own world.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "reaper/model/error.hpp"
#include "reaper/modules/module_file.hpp"

namespace reaper::config {

struct FileText {
    std::string text;
    bool others_can_read = false;  ///< by its permissions, everyone may read it
};

struct Environment {
    /// None if it is not set.
    std::function<std::optional<std::string>(const std::string& name)> variable;
    /// The whole file; `not_found` if there is none, or it is in a folder that may not be looked
    /// into; else `bad_input` with the reason alone.
    std::function<Result<FileText>(const std::string& path)> read_file;
    /// A module's file, loaded, if it has the digest (see reaper/modules/module_file.hpp). Null:
    /// modules are not looked at, and what they bring is not known.
    std::function<Result<ModuleFile>(const std::string& path, const std::string& sha256)>
        open_module{};
};

/// The process's own environment and file system. Files above 1 MiB are refused.
Environment system_environment();

}  // namespace reaper::config
