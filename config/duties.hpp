// `watermark` and `life_span`: their keys, and what must fit together in them and with the taggers.
#pragma once

#include <string>
#include <vector>
#include <yaml-cpp/yaml.h>

#include "config/findings.hpp"
#include "config/keys.hpp"

namespace reaper::config {

/// For the table of keys.
std::vector<Section> duty_sections();

/// `key` is the path for messages; wrong entries are left out.
void read_entries(const YAML::Node& node, const std::string& key, std::vector<Mark>& into,
                  Findings& findings);
void read_entries(const YAML::Node& node, const std::string& key, std::vector<TaggerSpan>& into,
                  Findings& findings);

/// Life spans are of taggers that there are.
void check_duties(const Policy& policy, Findings& findings);

}  // namespace reaper::config
