#include "reaper/reservations/reservation_order.hpp"

#include <algorithm>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <charconv>
#include <string_view>
#include <utility>

#include "reaper/model/resources_text.hpp"
#include "reaper/model/text.hpp"
#include "reaper/reservations/reservation_record.hpp"

namespace reaper {
namespace {

std::string text_of(const ReservationName& name) {
    std::string text = "role " + name.role.str();
    for (const auto& [key, value] : name.labels)
        text += ", label " + printable(key, 64) + "=" + printable(value, 64);
    return text;
}

bool is_named(const Reservation& reservation, const ReservationName& name) {
    return reservation.identity.role == name.role && reservation.identity.labels == name.labels;
}

/// What its room returns to: `role eng`, or empty.
std::string returns_to(const HostReservations& reservations, const Reservation& reservation) {
    const auto above = reservations.find(reservation.identity.refines);
    if (above == reservations.end()) return {};
    return text_of(ReservationName{above->second.identity.role, above->second.identity.labels});
}

void own_first(const HostReservations& reservations, const std::string& principal,
               std::vector<ReservationId>& ids) {
    std::stable_partition(ids.begin(), ids.end(), [&](const ReservationId& id) {
        return reservations.at(id).identity.principal == principal;
    });
}

/// Those that the order may take from, its own principal's first.
std::vector<ReservationId> named_by(const HostReservations& reservations,
                                    const UnreserveOrder& order) {
    std::vector<ReservationId> named;
    for (const auto& [id, reservation] : reservations) {
        const bool allowed =
            !order.principals || order.principals->contains(reservation.identity.principal);
        if (!is_named(reservation, order.name) || !allowed) continue;
        if (order.reserver && reservation.identity.principal != *order.reserver) continue;
        const std::string to = returns_to(reservations, reservation);
        if (order.unrefined && !to.empty()) continue;
        if (order.refines && to != text_of(*order.refines)) continue;
        named.push_back(id);
    }
    own_first(reservations, order.own, named);
    return named;
}

bool is_refined(const HostReservations& reservations, const ReservationId& id) {
    return std::ranges::any_of(
        reservations, [&](const auto& each) { return each.second.identity.refines == id; });
}

/// Those that no order asks for, and to which nothing returns.
void forget_empty(HostReservations& reservations) {
    while (std::erase_if(reservations, [&](const auto& each) {
               return each.second.asked.empty() && !is_refined(reservations, each.first);
           }) > 0) {
    }
}

Error conflict(std::string why) {
    return Error{Errc::conflict, std::move(why)};
}

/// A part of what returns to several is not to go by chance.
std::optional<Error> why_ambiguous(const HostReservations& reservations,
                                   const UnreserveOrder& order) {
    std::set<std::string> owners;
    Resources all;
    for (const ReservationId& id : named_by(reservations, order)) {
        const Reservation& each = reservations.at(id);
        if (each.identity.from_config) continue;
        const std::string to = returns_to(reservations, each);
        owners.insert(to.empty() ? "unreserved room" : to);
        all += each.asked;
    }
    if (owners.size() < 2 || all.fits_in(order.resources)) return std::nullopt;
    return conflict("the reservation for " + text_of(order.name) + " was taken from " +
                    joined(owners, " and from ") + ": say which it returns to (refines)");
}

/// What of the one above is not used by its servers, so that it may be refined.
Resources unused(const Reservation& reservation, const ReservationBalance& balance) {
    return more_than(reservation.asked, balance.used);
}

/// What is refined of each; of the principal's own first. One that has enough is not added to.
Result<ReservationDelta> refined_by(const HostReservations& reservations, const HostUse& use,
                                    const ReserveOrder& order) {
    const auto balances = balance_of(reservations, use);
    std::vector<ReservationId> named;
    for (const auto& [id, reservation] : reservations)
        if (is_named(reservation, *order.refines)) named.push_back(id);
    if (named.empty())
        return Error{Errc::not_found,
                     "the host has no reservation for " + text_of(*order.refines) + " to refine"};
    own_first(reservations, order.principal, named);
    ReservationDelta parts;
    Resources left = order.resources;
    Resources all;
    for (const ReservationId& id : named) {
        const Resources idle = unused(reservations.at(id), balances.at(id));
        if (order.resources.fits_in(idle)) return ReservationDelta{{id, order.resources}};
        all += idle;
        Resources part = common(left, idle);
        left -= part;
        if (!part.empty()) parts.emplace(id, std::move(part));
    }
    if (left.empty()) return parts;
    return conflict("the reservation for " + text_of(*order.refines) + " has " + amounts_text(all) +
                    " that are not used, " + amounts_text(order.resources) + " are asked for");
}

/// What the host has that is free and owed to no reservation.
std::optional<Error> why_no_room(const HostReservations& before,
                                 const HostReservations& reservations, const HostUse& use,
                                 const ReservationId& id) {
    const auto balances = balance_of(reservations, use);
    Resources free = free_of(reservations, use);
    for (const auto& [other, balance] : balances) {
        if (other == id) continue;
        // What they release next is free by then, and what they lack is theirs.
        free += more_than(balance.held, reservations.at(other).asked - balance.used);
        free -= balance.owed;
    }
    // What is already lent of it is not asked for again.
    const auto had = before.find(id);
    const Resources lent = had == before.end() ? Resources{} : balance_of(before, use).at(id).lent;
    const Resources lacking = more_than(more_than(balances.at(id).missing(), lent), free);
    if (lacking.empty()) return std::nullopt;
    return conflict("the host lacks " + amounts_text(lacking) + " of unreserved room");
}

/// More of the one of that identity. If it is new, it is lent as the existing ones of that name
/// are, for any principal; else as the one that it is taken from.
ReservationId add_part(HostReservations& reservations, const ReservationIdentity& identity,
                       const Resources& part, const ReserveOrder& order) {
    const ReservationId id = reservation_id(identity);
    if (!reservations.contains(id)) {
        LendingPolicy lending = order.by_default;
        if (!identity.refines.empty()) lending = reservations.at(identity.refines).lending;
        const auto alike = std::ranges::find_if(reservations, [&](const auto& each) {
            return is_named(each.second, order.name) && !each.second.identity.from_config;
        });
        if (alike != reservations.end()) {
            lending = alike->second.lending;
            lending.floor = {};  // which that one keeps
        }
        reservations[id].lending = std::move(lending);
    }
    Reservation& changed = reservations[id];
    changed.identity = identity;
    changed.asked += part;
    return id;
}

/// All of that name is lent as the order says, for all principals.
std::optional<Error> lend_as(HostReservations& reservations, const ReserveOrder& order) {
    Resources left = order.lending->floor;
    Resources all;
    for (auto& [id, each] : reservations) {
        if (!is_named(each, order.name) || each.identity.from_config) continue;
        all += each.asked;
        each.lending = *order.lending;
        each.lending.floor = common(left, each.asked);
        left -= each.lending.floor;
    }
    if (left.empty()) return std::nullopt;
    return Error{Errc::bad_input, "the floor, which is never lent, is " +
                                      amounts_text(order.lending->floor) + ", more than the " +
                                      amounts_text(all) + " that are reserved"};
}

}  // namespace

Result<ReservationDelta> reserve(HostReservations& reservations, const HostUse& use,
                                 const ReserveOrder& order) {
    if (order.resources.empty() || order.resources.any_negative())
        return Error{Errc::bad_input, "no resources are asked for"};
    for (const auto& [name, amount] : order.resources)
        if (auto why = why_not_reservable(name); !why.empty())
            return Error{Errc::bad_input, std::move(why)};
    if (order.refines && !order.refines->role.is_above(order.name.role))
        return Error{Errc::bad_input, "role " + order.name.role.str() + " is not below role " +
                                          order.refines->role.str() + ", which it is to refine"};
    HostReservations after = reservations;
    ReservationDelta delta;
    ReservationIdentity identity{order.host, order.name.role, order.name.labels, order.principal};
    ReservationDelta parts{{ReservationId{}, order.resources}};
    if (order.refines) {
        auto refined = refined_by(reservations, use, order);
        if (!refined) return refined.error();
        parts = std::move(*refined);
    }
    ReservationId id;
    for (const auto& [above, part] : parts) {
        identity.refines = above;
        if (!above.empty()) {
            after.at(above).asked -= part;
            delta[above] -= part;
        }
        id = add_part(after, identity, part, order);
        delta[id] += part;
    }
    if (order.lending)
        if (auto wrong = lend_as(after, order)) return std::move(*wrong);
    for (const auto& [changed, amounts] : delta) {
        const auto written = record_of(after.at(changed), {});
        if (!written) return written.error();
    }
    if (!order.refines)
        if (auto no = why_no_room(reservations, after, use, id)) return std::move(*no);
    reservations = std::move(after);
    return delta;
}

Result<ReservationDelta> unreserve(HostReservations& reservations, const HostUse& use,
                                   const UnreserveOrder& order) {
    if (order.resources.empty() || order.resources.any_negative())
        return Error{Errc::bad_input, "no resources are named"};
    const auto balances = balance_of(reservations, use);
    HostReservations after = reservations;
    ReservationDelta delta;
    if (auto ambiguous = why_ambiguous(reservations, order)) return std::move(*ambiguous);
    Resources left = order.resources;
    Resources busy, lent;
    bool found = false, configured = false;
    for (const ReservationId& id : named_by(reservations, order)) {
        const Reservation& reservation = reservations.at(id);
        const ReservationIdentity& identity = reservation.identity;
        configured = configured || identity.from_config;
        if (identity.from_config) continue;
        found = true;
        const ReservationBalance& balance = balances.at(id);
        Resources idle = more_than(reservation.asked, balance.used);
        if (!order.lent_too) idle = more_than(idle, balance.lent);
        busy += balance.used;
        lent += balance.lent;
        const Resources part = common(left, idle);
        left -= part;
        after.at(id).asked -= part;
        delta[id] -= part;
        if (const auto above = after.find(identity.refines); above != after.end()) {
            above->second.asked += part;
            delta[above->first] += part;
        }
    }
    if (!found && configured)
        return conflict("the reservation for " + text_of(order.name) +
                        " is in the configuration: change it there");
    if (!found)
        return Error{Errc::not_found,
                     "the host has no reservation for " + text_of(order.name) +
                         (order.reserver ? " by principal " + in_quotes(*order.reserver) : "")};
    if (!left.empty()) {
        std::string why = "of what is to be unreserved, " + amounts_text(left) + " are not idle";
        if (!busy.empty()) why += "; its servers use " + amounts_text(busy);
        if (!lent.empty()) why += "; lent are " + amounts_text(lent);
        return conflict(std::move(why));
    }
    forget_empty(after);
    std::erase_if(delta, [](const auto& each) { return each.second.empty(); });
    reservations = std::move(after);
    return delta;
}

std::map<ReservationId, Resources> lent_of(const HostReservations& reservations, const HostUse& use,
                                           const UnreserveOrder& order) {
    const auto balances = balance_of(reservations, use);
    auto named = named_by(reservations, order);
    std::erase_if(
        named, [&](const ReservationId& id) { return reservations.at(id).identity.from_config; });
    Resources left = order.resources;
    for (const ReservationId& id : named) {
        const ReservationBalance& balance = balances.at(id);
        const Resources idle = more_than(reservations.at(id).asked, balance.used + balance.lent);
        left -= common(left, idle);
    }
    std::map<ReservationId, Resources> lent;
    for (const ReservationId& id : named) {
        Resources part = common(left, balances.at(id).lent);
        left -= part;
        if (!part.empty()) lent.emplace(id, std::move(part));
    }
    return lent;
}

ReservationDelta configure(HostReservations& reservations,
                           const std::map<ReservationId, Reservation>& wanted) {
    ReservationDelta delta;
    const auto change = [&](const ReservationId& id, Resources asked) {
        Reservation& reservation = reservations.at(id);
        delta[id] += asked - reservation.asked;
        reservation.asked = std::move(asked);
    };
    for (const auto& [id, reservation] : wanted) {
        Reservation& known = reservations[id];
        known.identity = reservation.identity;
        known.lending = reservation.lending;
    }
    // What was refined is of what the configuration says; where it says less by now, it is owed
    // back.
    std::map<ReservationId, Resources> refined;
    for (const auto& [id, reservation] : reservations)
        for (auto above = reservations.find(reservation.identity.refines);
             above != reservations.end(); above = reservations.find(above->second.identity.refines))
            refined[above->first] += reservation.asked;
    std::vector<ReservationId> own;
    for (const auto& [id, reservation] : reservations)
        if (reservation.identity.from_config) own.push_back(id);
    for (const ReservationId& id : own) {
        const auto at = wanted.find(id);
        const Resources all = at == wanted.end() ? Resources{} : at->second.asked;
        change(id, more_than(all, refined[id]));
    }
    forget_empty(reservations);
    std::erase_if(delta, [](const auto& each) { return each.second.empty(); });
    return delta;
}

namespace {

/// Names of orders, and of nothing else.
constexpr boost::uuids::uuid all_orders{{0x3c, 0x52, 0x8e, 0x01, 0x77, 0x1b, 0x49, 0xd4, 0xa6, 0x0f,
                                         0x1e, 0x92, 0x58, 0xcb, 0x04, 0x6d}};
constexpr std::size_t key_digits = 8, content_digits = 8;

std::string digest(const std::string& text, std::size_t digits) {
    boost::uuids::name_generator_sha1 generate{all_orders};
    return boost::uuids::to_string(generate(text)).substr(0, digits);
}

void append_name(std::string& text, const ReservationName& name, char role, char label) {
    append_field(text, role, escaped(name.role.str()));
    for (const auto& [key, value] : name.labels)
        append_field(text, label, escaped(key) + "=" + escaped(value));
}

std::string line_of(const ReservationOrder& order) {
    std::string text;
    const auto* const reserves = std::get_if<ReserveOrder>(&order);
    append_field(text, 'o', reserves != nullptr ? "reserve" : "unreserve");
    const auto common = [&](const auto& each) {
        append_field(text, 'h', escaped(each.host.str()));
        append_name(text, each.name, 'r', 'l');
        append_field(text, 'a', written(each.resources));
    };
    std::visit(common, order);
    if (reserves == nullptr) {
        const auto& gives = std::get<UnreserveOrder>(order);
        if (gives.lent_too) append_field(text, 'e', "");
        if (gives.unrefined) append_field(text, 'u', "");
        if (gives.reserver) append_field(text, 'p', escaped(*gives.reserver));
        if (gives.refines) append_name(text, *gives.refines, 'f', 'g');
        return text;
    }
    if (reserves->refines) append_name(text, *reserves->refines, 'f', 'g');
    if (!reserves->lending) return text;
    append_field(text, 'y', reserves->lending->lend ? "lend" : "keep");
    if (!reserves->lending->floor.empty())
        append_field(text, 'm', written(reserves->lending->floor));
    append_field(text, 't', std::to_string(reserves->lending->longest.count()));
    return text;
}

/// All that a line may say.
struct Line {
    bool reserves = false;
    HostId host;
    ReservationName name;
    Resources resources;
    std::optional<ReservationName> refines;
    std::optional<LendingPolicy> lending;
    bool lent_too = false;
    bool unrefined = false;
    std::optional<std::string> reserver;
};

bool read_role(ReservationName& name, std::string_view value) {
    const auto text = unescaped(value);
    auto role = Role::parse(text.value_or(""));
    if (role) name.role = std::move(*role);
    return role.has_value();
}

bool read_label(ReservationName& name, std::string_view value) {
    const auto middle = value.find('=');
    if (middle == value.npos) return false;
    auto key = unescaped(value.substr(0, middle));
    auto word = unescaped(value.substr(middle + 1));
    return key && word && name.labels.emplace(std::move(*key), std::move(*word)).second;
}

bool read_amounts(Resources& into, std::string_view value) {
    auto read = parse_resources(value);
    if (read) into = std::move(*read);
    return read.has_value();
}

bool read_duration(Duration& into, std::string_view value) {
    Duration::rep amount = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), amount);
    into = Duration{amount};
    return error == std::errc{} && end == value.data() + value.size();
}

bool read_field(Line& line, char name, std::string_view value) {
    switch (name) {
        case 'o': line.reserves = value == "reserve"; return line.reserves || value == "unreserve";
        case 'h': {
            auto host = unescaped(value);
            if (host) line.host = HostId{std::move(*host)};
            return host.has_value();
        }
        case 'r': return read_role(line.name, value);
        case 'l': return read_label(line.name, value);
        case 'a': return read_amounts(line.resources, value);
        case 'f': return read_role(line.refines.emplace(), value);
        case 'g': return line.refines && read_label(*line.refines, value);
        case 'y': line.lending.emplace().lend = value == "lend"; return true;
        case 'm': return line.lending && read_amounts(line.lending->floor, value);
        case 't': return line.lending && read_duration(line.lending->longest, value);
        case 'e': return line.lent_too = true;
        case 'u': return line.unrefined = true;
        case 'p': line.reserver = unescaped(value); return line.reserver.has_value();
        default: return false;
    }
}

ReservationOrder order_of(Line line) {
    if (line.reserves) {
        ReserveOrder order;
        order.host = std::move(line.host);
        order.name = std::move(line.name);
        order.resources = std::move(line.resources);
        order.refines = std::move(line.refines);
        order.lending = std::move(line.lending);
        return order;
    }
    UnreserveOrder order;
    order.host = std::move(line.host);
    order.name = std::move(line.name);
    order.resources = std::move(line.resources);
    order.lent_too = line.lent_too;
    order.unrefined = line.unrefined;
    order.reserver = std::move(line.reserver);
    order.refines = std::move(line.refines);
    return order;
}

}  // namespace

const HostId& host_of(const ReservationOrder& order) {
    return std::visit([](const auto& each) -> const HostId& { return each.host; }, order);
}

bool any_lent_too(const std::vector<ReservationOrder>& orders) {
    return std::ranges::any_of(orders, [](const ReservationOrder& order) {
        const auto* const gives = std::get_if<UnreserveOrder>(&order);
        return gives != nullptr && gives->lent_too;
    });
}

std::vector<ReservationOrder> without_lent(std::vector<ReservationOrder> orders) {
    for (ReservationOrder& order : orders)
        if (auto* const gives = std::get_if<UnreserveOrder>(&order)) gives->lent_too = false;
    return orders;
}

std::string text_of_orders(const std::vector<ReservationOrder>& orders) {
    std::string text;
    for (const ReservationOrder& order : orders) {
        if (!text.empty()) text += '\n';
        text += line_of(order);
    }
    return text;
}

Result<std::vector<ReservationOrder>> parse_orders(const std::string& text) {
    std::vector<ReservationOrder> orders;
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::string_view written = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(written.size());
        if (!rest.empty()) rest.remove_prefix(1);
        Line line;
        const auto read = [&](char name, std::string_view value) {
            return read_field(line, name, value);
        };
        if (!each_field(written, read) || line.host.empty() || line.resources.empty())
            return Error{Errc::bad_input, "an order can't be read"};
        orders.push_back(order_of(std::move(line)));
    }
    return orders;
}

std::string mark_of_order(const std::string& principal, const std::string& key,
                          const std::string& content) {
    if (key.empty()) return {};
    const std::string of_key = std::to_string(principal.size()) + principal + key;
    return digest("key" + of_key, key_digits) + digest("content" + content, content_digits);
}

bool same_key(const std::string& mark, const std::string& other) {
    return !mark.empty() && mark.substr(0, key_digits) == other.substr(0, key_digits);
}

}  // namespace reaper
