#include "reaper/planner/spec_match.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

constexpr std::string_view scope = "aggregate_instance_extra_specs:";

std::vector<std::string_view> words_in(std::string_view text) {
    std::vector<std::string_view> words;
    while (true) {
        const auto begin = text.find_first_not_of(blanks);
        if (begin == text.npos) return words;
        text.remove_prefix(begin);
        const auto end = std::min(text.find_first_of(blanks), text.size());
        words.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
}

std::optional<double> number(std::string_view text) {
    text = trimmed(text);
    if (text.starts_with('+')) text.remove_prefix(1);
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    return value;
}

using Judge = bool (*)(std::string_view value, std::string_view wanted);

template <class Compare>
bool by_number(std::string_view value, std::string_view wanted, Compare compare) {
    const auto have = number(value);
    const auto need = number(wanted);
    return have && need && compare(*have, *need);
}

struct Operator {
    std::string_view word;
    Judge judge;
};

constexpr Operator operators[] = {
    {"=", [](auto v, auto w) { return by_number(v, w, std::greater_equal<>{}); }},
    {">=", [](auto v, auto w) { return by_number(v, w, std::greater_equal<>{}); }},
    {"<=", [](auto v, auto w) { return by_number(v, w, std::less_equal<>{}); }},
    {"==", [](auto v, auto w) { return by_number(v, w, std::equal_to<>{}); }},
    {"!=", [](auto v, auto w) { return by_number(v, w, std::not_equal_to<>{}); }},
    {"s==", [](auto v, auto w) { return v == w; }},
    {"s!=", [](auto v, auto w) { return v != w; }},
    {"s<", [](auto v, auto w) { return v < w; }},
    {"s<=", [](auto v, auto w) { return v <= w; }},
    {"s>", [](auto v, auto w) { return v > w; }},
    {"s>=", [](auto v, auto w) { return v >= w; }},
    {"<in>", [](auto v, auto w) { return v.find(w) != v.npos; }},
};

bool meets_any(std::string_view list, std::string_view wish) {
    while (true) {
        const auto comma = list.find(',');
        if (meets(trimmed(list.substr(0, comma)), wish)) return true;
        if (comma == list.npos) return false;
        list.remove_prefix(comma + 1);
    }
}

}  // namespace

bool meets(std::string_view value, std::string_view wish) {
    const auto words = words_in(wish);
    if (words.empty()) return value == wish;
    if (words[0] == "<or>") {
        for (std::size_t i = 1; i < words.size(); i += 2)
            if (words[i] == value) return true;
        return false;
    }
    if (words[0] == "<all-in>")
        return words.size() > 1 && std::all_of(words.begin() + 1, words.end(), [&](auto part) {
                   return value.find(part) != value.npos;
               });
    for (const auto& [word, judge] : operators)
        if (words[0] == word) return words.size() > 1 && judge(value, words[1]);
    return value == wish;
}

std::optional<std::string> unmet_spec(const std::map<std::string, std::string>& extra_specs,
                                      const HostAggregates& aggregates) {
    for (const auto& spec : extra_specs) {
        std::string_view key = spec.first;
        const std::string& wish = spec.second;
        if (key.starts_with(scope))
            key.remove_prefix(scope.size());
        else if (key.find(':') != key.npos)
            continue;
        const bool met = std::any_of(aggregates.begin(), aggregates.end(), [&](const auto& each) {
            const auto& metadata = each.second.metadata;
            const auto at = metadata.find(std::string{key});
            return at != metadata.end() && meets_any(at->second, wish);
        });
        if (!met) return std::string{key} + "=" + wish;
    }
    return std::nullopt;
}

}  // namespace reaper
