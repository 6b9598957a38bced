#include "reaper/cli/value_parsers.hpp"

#include <algorithm>

#include "reaper/model/text.hpp"
#include "reaper/report/time_text.hpp"

namespace reaper::cli {
namespace {

Error wrong(std::string what) {
    return Error{Errc::bad_input, std::move(what)};
}

/// Edits (insert, remove, replace, swap neighbours) between two words.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[a.size()][b.size()];
}

}  // namespace

Result<std::pair<std::string, TraitRule>> parse_trait(std::string_view text) {
    const std::size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    if (!is_upper_name(name))
        return wrong(quoted(name) + " is not a trait: they are written like CUSTOM_GPU");
    const std::string_view rule =
        equals == std::string_view::npos ? "required" : text.substr(equals + 1);
    if (rule == "required") return std::pair{std::string(name), TraitRule::required};
    if (rule == "forbidden") return std::pair{std::string(name), TraitRule::forbidden};
    return wrong("trait " + std::string(name) + " is " + quoted(rule) +
                 ", expected required or forbidden");
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string& candidate : candidates) {
        const std::size_t d = distance(word, candidate);
        if (d < best_distance) {
            best = candidate;
            best_distance = d;
        }
    }
    return best;
}

std::optional<TimePoint> point_in_time(const std::string& text) {
    if (const auto time = report::time_from_iso(text)) return time;
    if (const auto time = report::time_from_iso(text + "Z")) return time;
    return report::time_from_iso(text + "T00:00:00Z");
}

}  // namespace reaper::cli
