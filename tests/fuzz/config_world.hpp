// A world for the configuration: no variables, and the files that a target names.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "config/loader.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace reaper::fuzz {

/// Loads the text. What is refused has reasons, each one plain line, without `secret`.
inline void load(const std::string& text, const std::map<std::string, std::string>& files,
                 std::string_view secret) {
    config::Environment world;
    world.variable = [](const std::string&) { return std::optional<std::string>(); };
    world.read_file = [&](const std::string& path) -> Result<config::FileText> {
        if (path == "reaper.yaml") return config::FileText{text, false};
        const auto at = files.find(path);
        if (at == files.end()) return Error{Errc::not_found, "No such file or directory"};
        return config::FileText{at->second, false};
    };
    std::vector<config::ConfigError> warnings;
    const auto loaded = config::load_settings("reaper.yaml", world, &warnings);
    const auto check = [&](const std::vector<config::ConfigError>& lines) {
        for (const auto& line : lines) {
            const std::string shown = config::to_string(line);
            require_one_line(shown);
            if (!secret.empty())
                require(shown.find(secret) == std::string::npos, "no secret is shown", shown);
        }
    };
    check(warnings);
    if (const auto* errors = std::get_if<1>(&loaded)) {
        require(!errors->empty(), "what is refused has a reason");
        check(*errors);
    } else {
        const std::string shown = config::to_yaml(std::get<0>(loaded));
        if (!secret.empty())
            require(shown.find(secret) == std::string::npos, "no secret is shown", shown);
    }
}

}  // namespace reaper::fuzz
