// Taggers and the strategy: names and parameters checked against the tables of plugins, and tried,
// so that a plugin's refusal is a mistake of the file, with its line.
#pragma once

#include <optional>
#include <string>
#include <vector>
#include <yaml-cpp/yaml.h>

#include "config/findings.hpp"
#include "config/settings.hpp"

namespace reaper::config {

/// `key` is the path for messages. Parameters come back complete, the standard ones filled in.
std::optional<Plugin> read_strategy(const YAML::Node& node, const std::string& key,
                                    Findings& findings);
std::vector<Plugin> read_taggers(const YAML::Node& node, const std::string& key,
                                 Findings& findings);

/// When the file says nothing.
Plugin standard_strategy();
Plugin standard_tagger();

}  // namespace reaper::config
