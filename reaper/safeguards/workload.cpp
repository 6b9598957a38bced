#include "reaper/safeguards/workload.hpp"

#include <algorithm>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

constexpr std::string_view name_separators = "-_.";
constexpr std::size_t uuid_length = 36;
constexpr std::size_t shortest_hex = 4;
constexpr std::size_t max_workload_name = 255;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// A number, or hex digits that are no word.
bool only_numbers(std::string_view part) {
    const bool digits = std::ranges::all_of(part, is_digit);
    const bool hex = std::ranges::all_of(part, is_hex);
    const bool any_digit = std::ranges::any_of(part, is_digit);
    return digits || (hex && any_digit && part.size() >= shortest_hex);
}

std::string_view without_separators(std::string_view name) {
    const auto last = name.find_last_not_of(name_separators);
    return last == std::string_view::npos ? std::string_view{} : name.substr(0, last + 1);
}

std::string_view stem(std::string_view name) {
    if (is_uuid(name)) return name;
    std::string_view rest = without_separators(name);
    while (!rest.empty()) {
        if (rest.size() > uuid_length && is_uuid(rest.substr(rest.size() - uuid_length))) {
            rest = without_separators(rest.substr(0, rest.size() - uuid_length));
            continue;
        }
        const auto cut = rest.find_last_of(name_separators);
        if (cut == std::string_view::npos || !only_numbers(rest.substr(cut + 1))) break;
        const auto before = without_separators(rest.substr(0, cut));
        if (before.empty()) break;
        rest = before;
    }
    const auto cut = rest.find_last_of(name_separators);
    const bool hex = only_numbers(cut == std::string_view::npos ? rest : rest.substr(cut + 1));
    const auto last = rest.find_last_not_of("0123456789");
    if (!hex && last != std::string_view::npos && last + 1 < rest.size())
        rest = without_separators(rest.substr(0, last + 1));
    return rest.empty() ? name : rest;
}

}  // namespace

Workload workload_of(const ProjectId& project, std::string_view server_name,
                     std::string_view given) {
    const std::string_view name = given.empty() ? stem(server_name) : given;
    return {project, std::string{name.substr(0, max_workload_name)}};
}

std::string workload_given(const Server& server, const std::string& key) {
    if (key.empty()) return {};
    const auto at = server.metadata.find(key);
    return at == server.metadata.end() ? std::string{} : at->second;
}

Workload workload_of(const Server& server, const std::string& key) {
    return workload_of(server.project, server.name, workload_given(server, key));
}

Duration grace_for(const ThrashSettings& settings, int evictions) {
    if (settings.after <= 0 || evictions < settings.after) return Duration::zero();
    Duration grace = settings.grace;
    for (int i = settings.after; i < evictions && grace < settings.max_grace; ++i) grace *= 2;
    return std::min<Duration>(grace, settings.max_grace);
}

}  // namespace reaper
