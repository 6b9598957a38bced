#include "reaper/request_spec/res_type_constraint.hpp"

#include <algorithm>
#include <optional>
#include <utility>

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
    std::string all;
    for (const auto& each : constraints) all += (all.empty() ? "" : " and ") + in_quotes(each);
    return Error{Errc::bad_input, "res-type constraints " + all + ": " + only_one};
}

}  // namespace reaper
