// Compares the form of two JSON documents: the same members at every level, the same types, the
// same formats of ids and times. For answers of ours against recorded ones.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace reaper::cloudsim::test {

/// One line for each difference: where, what. Empty if there is none.
std::vector<std::string> differences(const nlohmann::json& recorded, const nlohmann::json& ours);

/// `uuid`, `hex`, `request id`, `time Z`, `time micro`, `url`, `class`, `empty`, `word`, `text`,
/// ...
std::string format_of(const std::string& text);

}  // namespace reaper::cloudsim::test
