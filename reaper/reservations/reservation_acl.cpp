#include "reaper/reservations/reservation_acl.hpp"

#include <algorithm>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

bool any_matches(const std::vector<std::string>& patterns, const std::string& text) {
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](const std::string& pattern) { return matches_glob(pattern, text); });
}

template <class Rule>
const Rule* rule_for(const std::vector<Rule>& rules, const std::string& principal) {
    const auto at = std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) {
        return any_matches(rule.principals, principal);
    });
    return at == rules.end() ? nullptr : &*at;
}

}  // namespace

bool may_reserve(const ReservationAcl& acl, const std::string& principal, const Role& role) {
    const ReserveRule* const rule = rule_for(acl.reserve, principal);
    return rule == nullptr ? acl.permissive : any_matches(rule->roles, role.str());
}

bool may_unreserve(const ReservationAcl& acl, const std::string& principal,
                   const std::string& reserver) {
    const UnreserveRule* const rule = rule_for(acl.unreserve, principal);
    return rule == nullptr ? acl.permissive : any_matches(rule->of, reserver);
}

}  // namespace reaper
