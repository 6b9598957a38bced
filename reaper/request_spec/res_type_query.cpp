#include "reaper/request_spec/res_type_query.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "reaper/model/resources.hpp"
#include "reaper/model/text.hpp"

namespace reaper {
namespace {

constexpr std::string_view list_separators = ",;";
constexpr std::string_view constraint_prefix = "constraint:";

Error wrong(std::string_view text, const std::string& why) {
    return {Errc::bad_input, "res-type constraint " + in_quotes(text) + ": " + why};
}

/// A constraint taken apart.
struct Dependencies {
    bool equal = true;
    bool preferred = false;
    std::string_view pattern;
};

constexpr const char* syntax =
    "expected res-type==PATTERN or res-type!=PATTERN, with a PATTERN such as regular, ~regular, "
    "revocable, ~revocable or *";

Result<Dependencies> parts_of(std::string_view text) {
    Dependencies parts;
    std::string_view rest = trimmed(text);
    const bool prefixed = rest.starts_with(constraint_prefix);
    if (prefixed) rest = trimmed(rest.substr(constraint_prefix.size()));
    const auto sign = rest.find_first_of("=!");
    if (sign != std::string_view::npos) {
        const auto key = trimmed(rest.substr(0, sign));
        const auto operation = rest.substr(sign, 2);
        if (std::find(std::begin(res_type_keys), std::end(res_type_keys), key) ==
                std::end(res_type_keys) &&
            !(key.empty() && !prefixed))
            return wrong(text, "the key is " + in_quotes(key) + "; " + syntax);
        if (operation != "==" && operation != "!=")
            return wrong(text, "the operator is neither == nor !=; " + std::string{syntax});
        parts.equal = operation == "==";
        rest = trimmed(rest.substr(sign + 2));
    } else if (prefixed) {
        return wrong(text, "there is no operator; " + std::string{syntax});
    }
    parts.preferred = rest.starts_with('~');
    if (parts.preferred) rest = trimmed(rest.substr(1));
    if (rest.empty()) return wrong(text, "there is no pattern; " + std::string{syntax});
    parts.pattern = rest;
    return parts;
}

/// How many constraints the text has: a blank beside an operator or a `~` parts nothing.
bool has_several(std::string_view text) {
    const std::string_view one = trimmed(text);
    if (one.find_first_of(list_separators) != std::string_view::npos) return true;
    for (auto blank = one.find_first_of(blanks); blank != std::string_view::npos;) {
        const auto next = one.find_first_not_of(blanks, blank);
        const std::string_view before = one.substr(0, blank);
        const bool inside =
            before.ends_with('=') || before.ends_with('~') || before.ends_with(constraint_prefix) ||
            one.substr(next).starts_with("==") || one.substr(next).starts_with("!=");
        if (!inside) return true;
        blank = one.find_first_of(blanks, next);
    }
    return false;
}

constexpr const char* only_one = "a request has one constraint at most; expected one of them";

}  // namespace

Result<Phases> phases_of(std::string_view constraint) {
    if (has_several(constraint)) return wrong(constraint, only_one);
    const auto parts = parts_of(constraint);
    if (!parts) return parts.error();
    const bool regular = matches_glob(parts->pattern, to_string(ResType::regular));
    const bool revocable = matches_glob(parts->pattern, to_string(ResType::revocable));
    if (!regular && !revocable)
        return wrong(constraint, in_quotes(parts->pattern) +
                                     " matches neither regular nor revocable; " + syntax);
    if (regular && revocable && !parts->equal)
        return wrong(constraint, "it leaves no kind of room: neither regular nor revocable; " +
                                     std::string{syntax});
    if (regular && revocable) return Phases{ResType::regular, true};
    const ResType named = regular ? ResType::regular : ResType::revocable;
    return Phases{parts->equal ? named : other_than(named), parts->preferred};
}

Result<Phases> phases_of(const std::vector<std::string>& constraints) {
    if (constraints.empty()) return Phases{};
    if (constraints.size() == 1) return phases_of(std::string_view{constraints.front()});
    return Error{Errc::bad_input, "res-type constraints " +
                                      joined(constraints, " and ", in_quotes) + ": " + only_one};
}

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
            else if (std::ranges::find(known, *said) == known.end())
                known.push_back(std::move(*said));
        }
        if (!left.empty()) taken.rest.emplace_back(name, joined(left, ","));
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
        made.emplace_back(name, joined(left, ","));
    }
    if (!asked) taken = 1;
    if (taken == 0) return made;
    std::string suffix = "_revocable";
    while (suffixes.contains(suffix)) suffix += '_';
    made.emplace_back(std::string{resources_name} + suffix,
                      revocable_class.str() + ":" + std::to_string(taken));
    const bool told =
        std::ranges::any_of(made, [](const auto& each) { return each.first == "group_policy"; });
    if (!suffixes.empty() && !told) made.emplace_back("group_policy", "none");
    return made;
}

}  // namespace reaper
