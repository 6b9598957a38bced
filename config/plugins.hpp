// Taggers, the strategy, the estimator and the QoS controller: names and parameters checked against
// the tables of plugins, and tried, so that a plugin's refusal is a mistake of the file, with its
// line.
#pragma once

#include <optional>
#include <string>
#include <vector>
#include <yaml-cpp/yaml.h>

#include "config/environment.hpp"
#include "config/findings.hpp"
#include "config/keys.hpp"
#include "config/settings.hpp"

namespace reaper::config {

// `modules`: shared objects with strategies, taggers, estimators or QoS controllers of their own,
// loaded while the file is read, before the keys that name what they bring.

inline constexpr const char* modules_expected =
    "a list of mappings with `path`, and perhaps `sha256` and `parameters`";

/// `key` is the path for messages. Parameters come back complete. A module that is loaded already
/// stays as it is: other parameters count after a restart, and a changed file is a mistake.
std::vector<Module> read_modules(const YAML::Node& node, const std::string& key,
                                 const Environment& environment, Findings& findings);

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
