// Goals as text, as the configuration writes them: a list of levels, each a sum of measures.
//
//     objective: ["priority", "lost_work + 60 victims", "waste:MEMORY_MB", "waste"]
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "strategies/objective.hpp"

namespace reaper {

/// Largest weight of a measure, and largest priority.
constexpr Amount largest_weight = 1'000'000;

/// One level: `term + term ...`, a term being `[weight] measure`, and `waste:CLASS` for one class.
/// `waste` alone, without a class, stands for a level for each class. Or what is wrong with it.
std::variant<std::vector<Goal::Term>, std::string> level_of(const std::string& text);

/// One of `name=number`; or what is wrong with it.
std::variant<std::pair<std::string, Amount>, std::string> priority_of(const std::string& text);

}  // namespace reaper
