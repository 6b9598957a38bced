// A module's file, opened: which users may have written it, which bytes they are, and whether it
// was compiled for this program.
#pragma once

#include <string>

#include "reaper/model/error.hpp"
#include "reaper/modules/module.hpp"

namespace reaper {

struct ModuleFile {
    std::string path;    ///< absolute, without symbolic links
    std::string sha256;  ///< of the file, in small hex digits
    ModuleInfo info;
};

/// Loads it into the program, whose life long it stays there. `bad_input` says what is wrong: it or
/// a directory on its way is not root's or may be written by others, it is no module, or it was
/// compiled with other headers. `sha256`, if not empty, is the digest that it must have: nothing of
/// another file is run.
Result<ModuleFile> open_module(const std::string& path, const std::string& sha256);

}  // namespace reaper
