// Checks of option values that leave the option's help line as it is.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace reaper::cli {

/// The values that the check knows become its name, for completions.
template <class Check>
CLI::Validator quiet(Check check) {
    const std::string values = check.get_description();
    return check.name(values).description("");
}

}  // namespace reaper::cli
