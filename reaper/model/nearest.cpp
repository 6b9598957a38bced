#include "reaper/model/nearest.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

bool same(char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> rows(a.size() + 1,
                                               std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) rows[i][0] = i;
    std::iota(rows[0].begin(), rows[0].end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replace = rows[i - 1][j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
            rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, replace});
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
        }
    }
    return rows[a.size()][b.size()];
}

/// The nearest first.
std::vector<std::string> near_words(std::string_view word, const std::vector<std::string>& known) {
    constexpr std::size_t longest = 64;
    if (word.size() > longest) return {};
    const std::size_t farthest = std::max<std::size_t>(1, word.size() / 3);
    std::vector<std::pair<std::size_t, std::string>> near;
    for (const auto& candidate : known)
        if (const std::size_t far = distance(word, candidate); far <= farthest)
            near.emplace_back(far, candidate);
    std::stable_sort(near.begin(), near.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> words;
    for (auto& [far, candidate] : near) words.push_back(std::move(candidate));
    return words;
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
    const auto words = near_words(word, known);
    return words.empty() ? std::nullopt : std::optional{words.front()};
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
    constexpr std::size_t most = 3;
    auto words = near_words(word, known);
    if (words.empty()) return "";
    words.resize(std::min(words.size(), most));
    std::string text = "; did you mean ";
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
        text += in_quotes(words[i]);
    }
    return text + "?";
}

}  // namespace reaper
