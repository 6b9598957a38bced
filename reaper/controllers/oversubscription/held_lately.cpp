#include "reaper/controllers/oversubscription/held_lately.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace reaper {
namespace {

constexpr std::array<std::pair<std::string_view, Amount>, 7> units{{
    {"ms", 1},
    {"s", 1'000},
    {"m", 60'000},
    {"h", 3'600'000},
    {"d", 86'400'000},
    {"w", 604'800'000},
    {"y", 31'536'000'000},
}};
constexpr Amount longest_reach = 31'536'000'000;

/// As Prometheus writes it: `1h30m`. What is not one is 0.
Amount milliseconds_of(std::string_view range) {
    Amount sum = 0;
    while (!range.empty()) {
        Amount number = 0;
        std::size_t digits = 0;
        for (; digits < range.size() && range[digits] >= '0' && range[digits] <= '9'; ++digits)
            number = std::min(number * 10 + (range[digits] - '0'), longest_reach);
        range.remove_prefix(digits);
        const auto letters = std::min(range.find_first_of("0123456789"), range.size());
        const auto unit = std::find_if(units.begin(), units.end(), [&](const auto& each) {
            return each.first == range.substr(0, letters);
        });
        if (digits == 0 || unit == units.end()) return 0;
        sum += std::min(number, longest_reach / unit->second) * unit->second;
        range.remove_prefix(letters);
    }
    return std::min(sum, longest_reach);
}

}  // namespace

void HeldLately::note(TimePoint now, Amount held) {
    if (!held_.empty()) held_.back().to = now;
    if (held_.empty() || held_.back().amount != held) held_.push_back({now, now, held});
}

Amount HeldLately::most(TimePoint now, Duration span) {
    const TimePoint since = now - span;
    if (held_.empty() || held_.front().from > since) return std::numeric_limits<Amount>::max();
    while (held_.front().to < since && held_.size() > 1) held_.pop_front();
    Amount most = 0;
    for (const Held& each : held_) most = std::max(most, each.amount);
    return most;
}

Duration reach_of(std::string_view expression) {
    Amount sum = 0;
    char quote = 0;
    for (std::size_t i = 0; i < expression.size(); ++i) {
        const char letter = expression[i];
        if (quote != 0) {
            if (letter == '\\' && quote != '`')
                ++i;
            else if (letter == quote)
                quote = 0;
        } else if (letter == '"' || letter == '\'' || letter == '`') {
            quote = letter;
        } else if (letter == '[') {
            const auto range = expression.substr(i + 1);
            sum += milliseconds_of(range.substr(0, range.find_first_of(":]")));
        }
    }
    return Duration{std::min(sum, longest_reach)};
}

}  // namespace reaper
