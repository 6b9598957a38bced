#include "config/findings.hpp"

#include <algorithm>
#include <tuple>

#include "reaper/model/text.hpp"

namespace reaper::config {

std::string to_string(const ConfigError& error) {
    std::string line = error.file;
    if (error.line > 0) line += ":" + std::to_string(error.line);
    if (!error.key.empty()) line += ": " + error.key;
    line += ": " + error.problem;
    if (!error.expected.empty()) line += "; expected " + error.expected;
    // A key is whatever the file says: it must not speak to the terminal.
    constexpr std::size_t longest = 4'096;
    return printable(line, longest);
}

bool only_unreadable(const std::vector<ConfigError>& errors) {
    return std::ranges::all_of(errors, [](const ConfigError& error) { return error.unreadable; });
}

void Findings::error(const std::string& key, std::string problem, std::string expected) {
    errors_.push_back(found(key, std::move(problem), std::move(expected)));
}

void Findings::unreadable(const std::string& key, std::string problem, std::string expected) {
    error(key, std::move(problem), std::move(expected));
    errors_.back().unreadable = true;
}

void Findings::warn(const std::string& key, std::string problem, std::string expected) {
    warnings_.push_back(found(key, std::move(problem), std::move(expected)));
}

ConfigError Findings::found(const std::string& key, std::string problem,
                            std::string expected) const {
    std::string_view at = key;
    while (!variables_.empty() && !at.empty()) {
        if (const auto variable = variables_.find(at); variable != variables_.end())
            return {variable->second + std::string{in_environment}, 0, key, std::move(problem),
                    std::move(expected)};
        const auto dot = at.find_last_of(".[");
        at = dot == std::string_view::npos ? std::string_view{} : at.substr(0, dot);
    }
    return {file_, line(key), key, std::move(problem), std::move(expected)};
}

int Findings::line(std::string_view key) const {
    while (!key.empty()) {
        if (const auto at = lines_.find(key); at != lines_.end()) return at->second;
        const auto dot = key.find_last_of(".[");
        if (dot == std::string_view::npos) break;
        key = key.substr(0, dot);
    }
    return 0;
}

std::vector<ConfigError> Findings::sorted(std::vector<ConfigError> findings) const {
    const auto order = [this](const ConfigError& error) {
        return std::tuple{error.file != file_, std::string_view{error.file}, error.line};
    };
    std::ranges::stable_sort(
        findings, [&](const ConfigError& a, const ConfigError& b) { return order(a) < order(b); });
    return findings;
}

}  // namespace reaper::config
