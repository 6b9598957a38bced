// The table of taggers: feeds construction, config errors, `reaper taggers` and the docs.
#pragma once

#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "reaper/model/parameters.hpp"
#include "tagging/tagger.hpp"

namespace reaper {

struct TaggerInfo {
    std::string_view name;
    std::string_view help;  ///< one sentence
    std::vector<ParameterSpec> parameters;
    /// `parameters` are complete and of the right kinds (see with_standards, check_parameters).
    std::variant<std::unique_ptr<Tagger>, ParameterError> (*make)(const Parameters& parameters);
    /// What of the cloud they name; null: nothing.
    std::vector<NamedThing> (*names)(const Parameters& parameters) = nullptr;
};

const std::vector<TaggerInfo>& tagger_table();

/// None for an unknown name.
const TaggerInfo* find_tagger(std::string_view name);

}  // namespace reaper
