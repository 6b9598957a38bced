// A JSON document as YAML: the same structure, and the same values when it is read.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace reaper::cli {

std::string yaml_text(const nlohmann::json& document);

}  // namespace reaper::cli
