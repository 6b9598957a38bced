// `modules`: shared objects with strategies, taggers, estimators or QoS controllers of their own,
// loaded while the file is read, before the keys that name what they bring.
#pragma once

#include <string>
#include <vector>
#include <yaml-cpp/yaml.h>

#include "config/environment.hpp"
#include "config/findings.hpp"
#include "config/settings.hpp"

namespace reaper::config {

inline constexpr const char* modules_expected =
    "a list of mappings with `path`, and perhaps `sha256` and `parameters`";

/// `key` is the path for messages. Parameters come back complete. A module that is loaded already
/// stays as it is: other parameters count after a restart, and a changed file is a mistake.
std::vector<Module> read_modules(const YAML::Node& node, const std::string& key,
                                 const Environment& environment, Findings& findings);

}  // namespace reaper::config
