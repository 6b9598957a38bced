#include "reaper/reservations/reservation.hpp"

#include <algorithm>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid.hpp>
#include <boost/uuid/uuid_io.hpp>

#include "reaper/model/res_type.hpp"
#include "reaper/model/text.hpp"

namespace reaper {
namespace {

/// Names of reservations, and of nothing else.
constexpr boost::uuids::uuid all_reservations{{0x6f, 0x1d, 0x9a, 0x52, 0x0c, 0x7e, 0x4b, 0x83, 0x9e,
                                               0x21, 0xd4, 0x05, 0x77, 0xb8, 0x3c, 0xe6}};

/// With its length before it, so that no two lists of texts are one.
void append(std::string& name, const std::string& text) {
    name += std::to_string(text.size()) + ":" + text;
}

}  // namespace

std::string why_not_reservable(const ResourceClass& resource_class) {
    const ResourceClass stands = stands_for(resource_class);
    if (stands.empty()) return {};
    return resource_class.str() +
           " is oversubscribed room, which goes when it is needed, and can't " +
           "be reserved: reserve " + stands.str();
}

ReservationId reservation_id(const ReservationIdentity& identity) {
    std::string name;
    append(name, identity.host.str());
    append(name, identity.role.str());
    append(name, identity.principal);
    append(name, identity.refines.str());
    name += identity.from_config ? "s" : "d";
    for (const auto& [key, value] : identity.labels) {
        append(name, key);
        append(name, value);
    }
    boost::uuids::name_generator_sha1 generate{all_reservations};
    return ReservationId{boost::uuids::to_string(generate(name))};
}

void add_mark(Reservation& reservation, const std::string& mark) {
    auto& marks = reservation.marks;
    if (mark.empty() || (!marks.empty() && marks.front() == mark)) return;
    marks.insert(marks.begin(), mark);
    if (marks.size() > max_order_marks) marks.resize(max_order_marks);
}

std::string to_string(const ReservationIdentity& identity, const std::string& host_name) {
    std::string text = identity.role.str() + " on " + printable(host_name, 64);
    for (const auto& [key, value] : identity.labels)
        text += " " + printable(key, 64) + "=" + printable(value, 64);
    return text;
}

namespace {

bool any_matches(const std::vector<std::string>& patterns, const std::string& text) {
    return std::ranges::any_of(
        patterns, [&](const std::string& pattern) { return matches_glob(pattern, text); });
}

template <class Rule>
const Rule* rule_for(const std::vector<Rule>& rules, const std::string& principal) {
    const auto at = std::ranges::find_if(
        rules, [&](const Rule& rule) { return any_matches(rule.principals, principal); });
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
