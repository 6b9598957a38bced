// Secrets: in the file itself, in a file of their own, or in a variable.
#pragma once

#include <string>
#include <yaml-cpp/yaml.h>

#include "config/environment.hpp"
#include "config/findings.hpp"
#include "config/keys.hpp"

namespace reaper::config {

/// Reads `spelling` (K, K_file or K_env) of a secret key into the draft. A second spelling of the
/// same secret is a mistake.
void read_secret(const Key& key, const std::string& section, const std::string& spelling,
                 const YAML::Node& node, const Environment& environment, Draft& draft,
                 Findings& findings);

}  // namespace reaper::config
