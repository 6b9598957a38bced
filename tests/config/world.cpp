#include "tests/config/world.hpp"

#include <gtest/gtest.h>

namespace reaper::config::test {

Environment World::environment() const {
    Environment environment;
    environment.variable = [this](const std::string& name) -> std::optional<std::string> {
        const auto at = variables.find(name);
        if (at == variables.end()) return std::nullopt;
        return at->second;
    };
    environment.read_file = [this](const std::string& path) -> Result<FileText> {
        const auto at = files.find(path);
        if (at == files.end()) return Error{Errc::not_found, "No such file or directory"};
        return at->second;
    };
    environment.open_module = [this](const std::string& path,
                                     const std::string& sha256) -> Result<ModuleFile> {
        const auto at = modules.find(path);
        if (at == modules.end()) return Error{Errc::bad_input, "can't find " + path};
        if (!sha256.empty() && sha256 != at->second.sha256)
            return Error{Errc::bad_input, "another file than was meant"};
        return at->second;
    };
    return environment;
}

LoadResult World::load(const std::string& text) {
    files["reaper.yaml"] = {text, false};
    return load_settings("reaper.yaml", environment(), &warnings);
}

Settings World::good(const std::string& text) {
    auto result = load(text);
    if (auto* const settings = std::get_if<Settings>(&result)) return std::move(*settings);
    for (const auto& error : std::get<std::vector<ConfigError>>(result))
        ADD_FAILURE() << to_string(error);
    return {};
}

std::vector<std::string> World::errors(const std::string& text) {
    const auto result = load(text);
    std::vector<std::string> lines;
    if (const auto* const errors = std::get_if<std::vector<ConfigError>>(&result))
        for (const auto& error : *errors) lines.push_back(to_string(error));
    return lines;
}

std::vector<std::string> World::warning_lines() const {
    std::vector<std::string> lines;
    for (const auto& warning : warnings) lines.push_back(to_string(warning));
    return lines;
}

std::string minimal(const std::string& more) {
    const bool has_taggers = more.starts_with("taggers") || more.find("\ntaggers") != more.npos;
    return "cloud:\n"                                            // 1
           "  auth:\n"                                           // 2
           "    auth_url: https://keystone.example:5000/v3\n"    // 3
           "    username: reaper\n"                              // 4
           "    password: hidden-word\n"                         // 5
           "    project_name: service\n"                         // 6
           "broker:\n"                                           // 7
           "  urls: ['amqp://reaper:secret@rabbit.example/']\n"  // 8
           + more                                                // 9
           + (has_taggers ? "" : "taggers: [project]\n");
}

}  // namespace reaper::config::test
