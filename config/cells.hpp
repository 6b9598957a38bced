// `scheduler.cells`: which host is in which cell of Nova's.
#pragma once

#include <string>
#include <vector>
#include <yaml-cpp/yaml.h>

#include "config/findings.hpp"
#include "reaper/model/cells.hpp"

namespace reaper::config {

inline constexpr const char* cells_expected =
    "a list of mappings with `name`, and with `hosts` or `aggregates`";

/// `key` is the path for messages.
std::vector<Cell> read_cells(const YAML::Node& node, const std::string& key, Findings& findings);

}  // namespace reaper::config
