// Taggers, the strategy, the estimator and the QoS controller: names and parameters checked against
// the tables of plugins, and tried, so that a plugin's refusal is a mistake of the file, with its
// line.
#pragma once

#include <optional>
#include <string>
#include <vector>
#include <yaml-cpp/yaml.h>

#include "config/findings.hpp"
#include "config/keys.hpp"

namespace reaper::config {

/// `key` is the path for messages. Parameters come back complete, the standard ones filled in.
std::optional<Plugin> read_plugin(OnePlugin::Kind kind, const YAML::Node& node,
                                  const std::string& key, Findings& findings);
std::vector<Plugin> read_taggers(const YAML::Node& node, const std::string& key,
                                 Findings& findings);

/// All parameters of a mapping (its `name` is none); none if one is wrong.
std::optional<Parameters> read_parameters(const YAML::Node& node, const std::string& key,
                                          const std::vector<ParameterSpec>& specs,
                                          Findings& findings);
/// Remembers where each key of the mapping stands; false if one is there twice.
bool place_keys(const YAML::Node& node, const std::string& key, Findings& findings);

/// When the file says nothing.
Plugin standard_strategy();
Plugin standard_tagger();
Plugin standard_estimator();
Plugin standard_qos();

}  // namespace reaper::config
