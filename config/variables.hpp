// Keys of the file as variables of the environment, for containers: `cull.deadline` is
// REAPER_CULL_DEADLINE. The file overrules them. Values are as the file would say them; of a
// secret, the variable is as one that K_env names.
#pragma once

#include <string>
#include <vector>
#include <yaml-cpp/yaml.h>

#include "config/environment.hpp"
#include "config/findings.hpp"
#include "config/keys.hpp"

namespace reaper::config {

std::string variable_of(const Section& section, const Key& key);

/// Into the document what variables say of keys that it lacks. A variable that is empty says
/// nothing. What can't be understood is a mistake of the variable; the findings remember which keys
/// are whose.
void add_variables(YAML::Node& root, const Environment& environment, Findings& findings);

}  // namespace reaper::config
