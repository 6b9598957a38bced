// The table of taggers: feeds construction, config errors, `reaper taggers` and the docs.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
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
    std::function<std::variant<std::unique_ptr<Tagger>, ParameterError>(
        const Parameters& parameters)>
        make;
    /// What of the cloud they name; null: nothing.
    std::function<std::vector<NamedThing>(const Parameters& parameters)> names{};
    std::string module{};  ///< which one brings it, with its version; empty: it is built in
};

/// Entries stay where they are.
const std::deque<TaggerInfo>& tagger_table();
/// Of a module (reaper/modules); its name must be new.
void add_tagger(TaggerInfo info);

/// None for an unknown name.
const TaggerInfo* find_tagger(std::string_view name);

}  // namespace reaper
