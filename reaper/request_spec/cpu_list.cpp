#include "reaper/request_spec/cpu_list.hpp"

#include <charconv>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

constexpr int last_cpu = 65'535;

std::optional<int> cpu(std::string_view text) {
    text = trimmed(text);
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    if (number < 0 || number > last_cpu) return std::nullopt;
    return number;
}

/// One rule of the list: `3`, `0-7`, `^5` or `^5-6`.
bool read_rule(std::string_view rule, std::set<int>& in, std::set<int>& out) {
    rule = trimmed(rule);
    if (rule.empty()) return true;
    auto& numbers = rule.front() == '^' ? out : in;
    if (rule.front() == '^') rule.remove_prefix(1);
    const auto dash = rule.find('-');
    const auto first = cpu(rule.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : cpu(rule.substr(dash + 1));
    if (!first || !last || *first > *last) return false;
    for (int number = *first; number <= *last; ++number) numbers.insert(number);
    return true;
}

}  // namespace

std::optional<std::set<int>> parse_cpu_list(std::string_view text) {
    std::set<int> in;
    std::set<int> out;
    while (!text.empty()) {
        const auto comma = text.find(',');
        if (!read_rule(text.substr(0, comma), in, out)) return std::nullopt;
        text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    }
    for (const int number : out) in.erase(number);
    if (in.empty()) return std::nullopt;
    return in;
}

}  // namespace reaper
