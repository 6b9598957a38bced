// One plugin of a table, made from its settings.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "config/settings.hpp"
#include "reaper/model/error.hpp"
#include "reaper/model/parameters.hpp"

namespace reaper {

/// `info`: its entry in the table, null if there is none. `bad_input` names the plugin or the
/// parameter that can't be used; `kind` is its word for people.
template <class Info, class Made>
Result<Made> make_plugin(const Info* info, std::string_view kind, const config::Plugin& plugin) {
    const auto named = [&] { return std::string{kind} + " '" + plugin.name + "'"; };
    if (info == nullptr) return Error{Errc::bad_input, "there is no " + named()};
    if (const auto wrong = check_parameters(info->parameters, plugin.parameters); !wrong.empty())
        return Error{Errc::bad_input, named() + ": " + wrong.front().parameter + ": expected " +
                                          wrong.front().expected};
    auto made = info->make(with_standards(info->parameters, plugin.parameters));
    if (const auto* wrong = std::get_if<ParameterError>(&made))
        return Error{Errc::bad_input,
                     named() + ": " + wrong->parameter + ": expected " + wrong->expected};
    return std::move(std::get<Made>(made));
}

}  // namespace reaper
