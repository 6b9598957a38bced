#include "reaper/request_spec/res_type_query.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "reaper/model/res_type.hpp"
#include "reaper/model/resources.hpp"

namespace reaper {
namespace {

constexpr std::string_view resources_name = "resources";

struct Meaning {
    std::string_view trait;
    const char* constraint;
};
constexpr Meaning meanings[] = {{"CUSTOM_RES_TYPE_REGULAR", "regular"},
                                {"CUSTOM_RES_TYPE_PREFER_REGULAR", "~regular"},
                                {"CUSTOM_RES_TYPE_REVOCABLE", "revocable"},
                                {"CUSTOM_RES_TYPE_PREFER_REVOCABLE", "~revocable"},
                                {"CUSTOM_RES_TYPE_ANY", "*"}};

/// `CLASS:AMOUNT`; none if it is not written so.
std::optional<Amount> amount_in(std::string_view word, const ResourceClass& wanted) {
    const std::string& name = wanted.str();
    if (name.empty() || !word.starts_with(name) || word.size() <= name.size() ||
        word[name.size()] != ':')
        return std::nullopt;
    Amount amount = 0;
    const char* const end = word.data() + word.size();
    const auto read = std::from_chars(word.data() + name.size() + 1, end, amount);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    return amount;
}

}  // namespace

std::optional<std::string> res_type_constraint_of(std::string_view trait, bool required) {
    for (const Meaning& meaning : meanings)
        if (trait == meaning.trait) return (required ? "" : "!=") + std::string{meaning.constraint};
    return std::nullopt;
}

std::set<Trait> remove_res_type_traits(std::set<Trait>& traits) {
    std::set<Trait> removed;
    std::erase_if(traits, [&](const Trait& trait) {
        const bool ours = res_type_constraint_of(trait.str(), true).has_value();
        if (ours) removed.insert(trait);
        return ours;
    });
    return removed;
}

ResTypeQuery take_res_type(const PlacementQuery& query) {
    ResTypeQuery taken;
    for (const auto& [name, value] : query) {
        if (name != "required" && name != "root_required") {
            taken.rest.emplace_back(name, value);
            continue;
        }
        std::vector<std::string> left;
        for (const std::string& word : words_of(value)) {
            const bool required = !word.starts_with('!');
            auto said =
                res_type_constraint_of(std::string_view{word}.substr(required ? 0 : 1), required);
            auto& known = taken.constraints;
            if (!said)
                left.emplace_back(word);
            else if (std::find(known.begin(), known.end(), *said) == known.end())
                known.push_back(std::move(*said));
        }
        if (!left.empty()) taken.rest.emplace_back(name, joined(left));
    }
    return taken;
}

std::optional<PlacementQuery> as_revocable_query(const PlacementQuery& query,
                                                 const ResourceClass& revocable_class) {
    const ResourceClass replaced = stands_for(revocable_class);
    PlacementQuery made;
    Amount taken = 0;
    bool asked = false;
    std::set<std::string> suffixes;
    for (const auto& [name, value] : query) {
        if (!name.starts_with(resources_name)) {
            made.emplace_back(name, value);
            continue;
        }
        const std::string suffix = name.substr(resources_name.size());
        if (!suffix.empty()) suffixes.insert(suffix);
        std::vector<std::string> left;
        for (const std::string& word : words_of(value)) {
            const auto amount = amount_in(word, replaced);
            asked = asked || amount || amount_in(word, revocable_class);
            if (amount && suffix.empty())
                taken += *amount;
            else if (amount)
                left.push_back(revocable_class.str() + ":" + std::to_string(*amount));
            else
                left.emplace_back(word);
        }
        if (left.empty()) return std::nullopt;
        made.emplace_back(name, joined(left));
    }
    if (!asked) taken = 1;
    if (taken == 0) return made;
    std::string suffix = "_revocable";
    while (suffixes.contains(suffix)) suffix += '_';
    made.emplace_back(std::string{resources_name} + suffix,
                      revocable_class.str() + ":" + std::to_string(taken));
    const bool told = std::any_of(made.begin(), made.end(),
                                  [](const auto& each) { return each.first == "group_policy"; });
    if (!suffixes.empty() && !told) made.emplace_back("group_policy", "none");
    return made;
}

}  // namespace reaper
