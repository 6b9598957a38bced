#include "reaper/request_spec/extra_specs.hpp"

#include <algorithm>
#include <charconv>

#include "reaper/model/amount.hpp"
#include "reaper/model/text.hpp"

namespace reaper {
namespace {

constexpr std::size_t longest_group = 64;
constexpr std::size_t max_key_length = 255;

bool is_group_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

/// Placement's names of classes and traits: capital letters, digits, `_`.
bool is_name(std::string_view text) {
    return !text.empty() && text.size() <= max_key_length &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
           });
}

/// A whole number of 0 or more, blanks around it allowed.
std::optional<Amount> amount_of(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    Amount amount = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size() || amount < 0)
        return std::nullopt;
    return amount;
}

}  // namespace

std::optional<GroupedKey> grouped_key(std::string_view key, std::string_view prefix) {
    if (!key.starts_with(prefix)) return std::nullopt;
    key.remove_prefix(prefix.size());
    const auto colon = key.find(':');
    if (colon > longest_group) return std::nullopt;  // or there is none
    const auto group = key.substr(0, colon);
    if (!std::all_of(group.begin(), group.end(), is_group_character)) return std::nullopt;
    return GroupedKey{group, key.substr(colon + 1)};
}

std::optional<Amount> amount_spec(const GroupedKey& key, std::string_view value) {
    return is_name(key.name) ? amount_of(value) : std::nullopt;
}

Refused not_an_amount(std::string_view key, std::string_view value) {
    return Refused{"the flavor's extra spec '" + printable(key) + "=" + printable(value) +
                   "' is no resource class with an amount of 0 or more"};
}

void read_trait(const GroupedKey& key, std::string_view value, std::set<Trait>& required,
                std::set<Trait>& forbidden) {
    if (!is_name(key.name)) return;
    if (value == "required") required.emplace(std::string{key.name});
    if (value == "forbidden") forbidden.emplace(std::string{key.name});
}

std::variant<std::map<ResourceClass, Amount>, Refused> resource_overrides(const ExtraSpecs& specs) {
    std::map<ResourceClass, Amount> overrides;
    for (const auto& [key, value] : specs) {
        const auto parts = grouped_key(key, "resources");
        if (!parts) continue;
        const auto amount = amount_spec(*parts, value);
        if (!amount) return not_an_amount(key, value);
        auto& sum = overrides[ResourceClass{std::string{parts->name}}];
        sum = saturating_add(sum, *amount);
    }
    return overrides;
}

void read_traits(const ExtraSpecs& specs, std::set<Trait>& required, std::set<Trait>& forbidden) {
    for (const auto& [key, value] : specs) {
        const auto parts = grouped_key(key, "trait");
        if (parts && parts->group.empty()) read_trait(*parts, value, required, forbidden);
    }
}

}  // namespace reaper
