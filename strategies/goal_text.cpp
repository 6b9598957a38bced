#include "strategies/goal_text.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "strategies/leftover_parameters.hpp"

namespace reaper {
namespace {

std::optional<Measure> measure_of(std::string_view name) {
    for (int i = 0; i <= static_cast<int>(Measure::start); ++i)
        if (to_string(static_cast<Measure>(i)) == name) return static_cast<Measure>(i);
    return std::nullopt;
}

std::optional<Amount> number_of(std::string_view text) {
    Amount number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || rest != text.data() + text.size()) return std::nullopt;
    return number;
}

std::variant<Goal::Term, std::string> term_of(const std::string& text) {
    std::istringstream words{text};
    std::string word;
    if (!(words >> word)) return std::string{"a measure is missing"};
    Goal::Term term;
    if (const auto weight = number_of(word)) {
        if (*weight < 1 || *weight > largest_weight)
            return "the weight " + word + " is not from 1 to 1000000";
        term.weight = *weight;
        if (!(words >> word)) return "what is weighted with " + word + " is missing";
    }
    const auto colon = word.find(':');
    const auto measure = measure_of(word.substr(0, colon));
    if (!measure) return "'" + word + "' is not a measure";
    term.measure = *measure;
    if (colon != std::string::npos) {
        const auto classes = class_names({word.substr(colon + 1)});
        if (*measure != Measure::waste || !classes) return "'" + word + "' is not a measure";
        term.resource_class = classes->front();
    }
    if (words >> word) return "'" + word + "' follows a measure: + stands between two";
    return term;
}

}  // namespace

std::variant<std::vector<Goal::Term>, std::string> level_of(const std::string& text) {
    std::vector<Goal::Term> level;
    std::istringstream sum{text};
    for (std::string part; std::getline(sum, part, '+');) {
        auto term = term_of(part);
        if (auto* wrong = std::get_if<std::string>(&term)) return std::move(*wrong);
        level.push_back(std::get<Goal::Term>(std::move(term)));
    }
    if (level.empty() || text.back() == '+') return std::string{"a measure is missing"};
    const bool every_class = std::any_of(level.begin(), level.end(), [](const Goal::Term& term) {
        return term.measure == Measure::waste && !term.resource_class;
    });
    if (every_class && level.size() > 1)
        return std::string{"in a sum, waste needs its class: waste:MEMORY_MB"};
    return level;
}

std::variant<std::pair<std::string, Amount>, std::string> priority_of(const std::string& text) {
    const auto equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0) return "'" + text + "' is not name=number";
    const auto number = number_of(std::string_view{text}.substr(equals + 1));
    if (!number || *number < 0 || *number > largest_weight)
        return "'" + text + "' has no number from 0 to 1000000";
    return std::pair{text.substr(0, equals), *number};
}

}  // namespace reaper
