// The modules that the program has loaded. Their parts are in the tables of strategies, taggers,
// estimators and QoS controllers, each with the module's name, and each behind a guard
// (loaded_modules.cpp). There are as many as there ever were: a module stays until the program
// ends. One thread.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "reaper/modules/module_file.hpp"

namespace reaper {

struct LoadedModule {
    std::string path;    ///< as the configuration has it
    std::string sha256;  ///< of the file, when it was loaded
    std::string name;
    std::string version;
    std::vector<ParameterSpec> specs;
    std::string parts;  ///< `strategy oldest, tagger named`

    /// `nightly 1.2`
    std::string title() const { return name + " " + version; }
};

const std::deque<LoadedModule>& loaded_modules();
/// None if none was loaded from there.
const LoadedModule* find_loaded_module(const std::string& path);

/// Makes its parts and adds them to the tables: all of them, or none and why. `parameters` are
/// complete and of the right kinds. A name that a table has already is refused.
std::optional<ParameterError> add_module(const std::string& path, const ModuleFile& file,
                                         const Parameters& parameters);

}  // namespace reaper
