#include "reaper/planner/filter.hpp"

#include <algorithm>
#include <utility>

#include "reaper/model/res_type.hpp"
#include "reaper/model/text.hpp"
#include "reaper/planner/suitable_hosts.hpp"
#include "reaper/rooms/host_packing.hpp"

namespace reaper {
namespace {

using Refusal = std::optional<std::pair<RejectionCode, std::string>>;

bool root_has_trait(const Host& host, const Trait& trait) {
    return !host.providers.empty() && host.root().traits.contains(trait);
}

bool has_trait(const Host& host, const Trait& trait) {
    return std::any_of(host.providers.begin(), host.providers.end(),
                       [&](const Provider& p) { return p.traits.contains(trait); });
}

std::string with_detail(std::string text, const std::string& detail) {
    return detail.empty() ? text : text + ": " + printable(detail);
}

/// Is the host in service, and may this request go there?
Refusal refused_by_state(const Host& host, const FilterInput& input) {
    const Request& request = input.request;
    if (!host.up)
        return {{RejectionCode::down, with_detail("nova-compute is down", host.why_unavailable)}};
    if (!host.enabled)
        return {{RejectionCode::disabled,
                 with_detail("nova-compute is disabled", host.why_unavailable)}};
    if (has_trait(host, disabled_trait))
        return {{RejectionCode::disabled, "Placement marks it " + disabled_trait.str()}};
    if (request.availability_zone && *request.availability_zone != host.availability_zone)
        return {{RejectionCode::wrong_availability_zone,
                 "it is in availability zone '" + printable(host.availability_zone) +
                     "', the request wants '" + printable(*request.availability_zone) + "'"}};
    if (input.checker != nullptr)
        if (auto no = input.checker->by_aggregates(host.member_of)) return no;
    if (const auto at = request.excluded_hosts.find(host.service_host);
        at != request.excluded_hosts.end())
        return {{RejectionCode::excluded, at->second}};
    if (input.checker != nullptr)
        if (auto no = input.checker->by_host(host)) return no;
    for (const auto& trait : request.root_required_traits)
        if (!root_has_trait(host, trait))
            return {{RejectionCode::missing_trait,
                     "it lacks the required trait " + printable(trait.str()) + " itself"}};
    for (const auto& trait : all_required_traits(request))
        if (!has_trait(host, trait))
            return {{RejectionCode::missing_trait,
                     "it lacks the required trait " + printable(trait.str())}};
    // Of several providers, only those count that the request would take from: see Unfit.
    if (host.providers.size() == 1)
        for (const auto& trait : request.forbidden_traits)
            if (has_trait(host, trait))
                return {{RejectionCode::forbidden_trait,
                         "it has the forbidden trait " + printable(trait.str())}};
    if (!host.providers.empty())
        if (auto why = why_other_room(host.root().traits, input.room))
            return {{RejectionCode::forbidden_trait, std::move(*why)}};
    if (input.in_cooldown != nullptr)
        if (const auto at = input.in_cooldown->find(host.id); at != input.in_cooldown->end())
            return {{RejectionCode::in_cooldown, at->second}};
    return std::nullopt;
}

std::string unit_words(const Inventory& inventory) {
    return "min_unit " + std::to_string(inventory.min_unit) + ", max_unit " +
           std::to_string(inventory.max_unit) + ", step_size " +
           std::to_string(inventory.step_size);
}

std::string trait_names(const std::set<Trait>& traits) {
    std::string text;
    for (const auto& trait : traits) text += (text.empty() ? "" : ", ") + trait.str();
    return text;
}

/// Has each part of a slot a provider that may give it?
Refusal refused_by_parts(const Host& host, const Shape& shape) {
    if (shape.parts() == nullptr) return std::nullopt;
    for (const auto& part : shape.parts()->parts) {
        const std::string what = to_string(part, shape);
        switch (why_unfit(host, shape, part)) {
            case Unfit::fits: break;
            case Unfit::no_such_class:
                return {{RejectionCode::no_such_class, "no provider of it offers all of " + what}};
            case Unfit::units:
                return {{RejectionCode::unit_limits, "the units of its providers refuse " + what}};
            case Unfit::required_trait:
                return {{RejectionCode::missing_trait, "no provider of it that offers " + what +
                                                           " has " + trait_names(part.required)}};
            case Unfit::forbidden_trait:
                return {{RejectionCode::forbidden_trait, "what offers " + what +
                                                             " has a forbidden trait (" +
                                                             trait_names(part.forbidden) + ")"}};
            case Unfit::elsewhere:
                return {{RejectionCode::not_requested,
                         what + " is requested from another provider or aggregate"}};
        }
    }
    return std::nullopt;
}

/// Does it offer the classes, in units that allow the amounts?
Refusal refused_by_inventory(const Host& host, const Shape& shape) {
    for (const auto& [resource_class, amount] : shape) {
        const Inventory* last = nullptr;
        bool allowed = false;
        for (const auto& provider : host.providers) {
            const auto at = provider.inventories.find(resource_class);
            if (at == provider.inventories.end()) continue;
            last = &at->second;
            allowed = allowed || units_allow(at->second, amount);
        }
        if (last == nullptr)
            return {{RejectionCode::no_such_class, "it offers no " + resource_class.str()}};
        if (!allowed && shape.parts() == nullptr)
            return {{RejectionCode::unit_limits, "its units refuse " + resource_class.str() + "=" +
                                                     std::to_string(amount) + " (" +
                                                     unit_words(*last) + ")"}};
    }
    return refused_by_parts(host, shape);
}

Refusal refused_when_empty(const HostRoom& room, const Shape& shape) {
    if (room.packing != nullptr) {
        PackingWork work;
        const ByPool full = room.capacities();
        const auto misfits = room.packing->misfits(full, 1, &work);
        if (!misfits.empty() && !work.cut)
            return {{RejectionCode::not_enough_capacity,
                     "too small even when empty: " + room.shortage(shape, full, 1) + " short"}};
        return std::nullopt;
    }
    for (std::size_t need = 0; need < shape.size(); ++need) {
        Amount largest = 0;
        for (const auto& pool : room.pools)
            if (pool.need == need) largest = std::max(largest, pool.capacity);
        if (largest < shape[need].amount)
            return {{RejectionCode::not_enough_capacity,
                     "too small even when empty: " + shape[need].resource_class.str() + "=" +
                         std::to_string(largest) + " of the " + std::to_string(shape[need].amount) +
                         " that one slot takes"}};
    }
    return std::nullopt;
}

/// The revocable servers of a host: those that may go, and why the others may not.
struct Sorted {
    std::vector<Candidate> candidates;
    std::map<std::string, int> kept;  // reason to number
};

Sorted sort_servers(const Host& host, const HostRoom& room, const FilterInput& input) {
    Sorted sorted;
    const auto sort = [&](const Server& server) {
        if (!server.revocable() || input.ledger.evicting(server.id)) return;
        if (comes_free(server, input.ledger)) return;  // its room counts already
        if (const auto why = why_kept(server, host, input)) {
            ++sorted.kept[*why];
            return;
        }
        auto gains = gains_of(room, input.shape, server.allocations);
        if (std::any_of(gains.begin(), gains.end(), [](Amount gain) { return gain > 0; }))
            sorted.candidates.push_back(Candidate{&server, std::move(gains)});
    };
    for (const auto& server : host.servers) sort(server);
    for (const auto& server : host.left_behind) sort(server);
    std::sort(sorted.candidates.begin(), sorted.candidates.end(),
              [](const Candidate& a, const Candidate& b) { return a.server->id < b.server->id; });
    return sorted;
}

std::string servers(std::size_t n) {
    return std::to_string(n) + " revocable server" + (n == 1 ? "" : "s");
}

std::string why_not_enough(const HostRoom& room, const ByPool& emptied, const Shape& shape,
                           const Sorted& sorted, bool cut) {
    std::string text = room.shortage(shape, emptied, 1) + " short";
    text += sorted.candidates.empty()
                ? ", and no revocable server that may be deleted holds any of it"
                : " even if its " + servers(sorted.candidates.size()) + " were deleted";
    for (const auto& [reason, n] : sorted.kept)
        text += "; " + servers(static_cast<std::size_t>(n)) + " can't be deleted: " + reason;
    if (cut) text += "; the search for a slot was cut short";
    return text;
}

/// No more slots than fit on any one of the providers that have a class: on those that have room
/// now without a deletion, and else on all that may come to have some. One fits always.
Amount slots_of_one_combination(const HostRoom& room, const Shape& shape, const ByPool& emptied) {
    const ByPool now = room.room_now();
    const auto least = [&](const ByPool& then, bool lone_ones_too) {
        Amount slots = max_amount;
        for (std::size_t need = 0; need < shape.size(); ++need) {
            std::size_t providers = 0;
            Amount of_need = max_amount;
            for (std::size_t pool = 0; pool < now.size(); ++pool) {
                if (room.pools[pool].need != need || then[pool] < shape.least_part(need)) continue;
                ++providers;
                of_need = std::min(of_need, now[pool] / shape[need].amount);
            }
            if (providers == 0) return Amount{0};
            if (providers > 1 || lone_ones_too)
                slots = std::min(slots, of_need - room.promised_slots[need]);
        }
        return slots;
    };
    return std::max({Amount{1}, least(now, true), least(emptied, false)});
}

}  // namespace

std::optional<std::string> why_kept(const Server& server, const Host& host,
                                    const FilterInput& input) {
    if (input.all_may_go) return std::nullopt;
    if (const auto at = input.skipped.find(server.id); at != input.skipped.end())
        return at->second.empty() ? "it is skipped" : at->second;
    const auto& among = input.request.victims_among;
    if (!among.empty() && !among.contains(server.id)) return "it is not of this loan";
    if (input.checker != nullptr && input.checker->company().contains(server.id))
        return "the request is to run beside it";
    if (auto why = why_no_victim(server)) return why;
    if (input.ledger.reserved().stays_for(server.id, input.request.id))
        return "the room that it holds is lent by role " +
               input.ledger.reserved().lender_of(server.id)->str() +
               ", and goes to that role alone";
    if (input.protection != nullptr)
        if (auto why = input.protection->why(server, host.member_of)) return why;
    return input.victim_filter == nullptr ? std::nullopt
                                          : input.victim_filter->why_kept(server, host);
}

std::optional<std::string> why_other_room(const std::set<Trait>& root_traits, ResType room) {
    const auto type = declared_type(root_traits);
    if (!type || *type == room) return std::nullopt;
    return "it is declared to have " + std::string{to_string(*type)} + " room alone (trait " +
           (*type == ResType::regular ? regular_trait : revocable_trait).str() + ")";
}

std::variant<HostOption, Rejection> filter_host(const Host& host, const FilterInput& input) {
    const auto reject = [&](RejectionCode code, std::string reason) {
        return Rejection{host.id, host.name, code, std::move(reason)};
    };
    if (auto no = refused_by_state(host, input)) return reject(no->first, no->second);
    if (auto no = refused_by_inventory(host, input.shape)) return reject(no->first, no->second);
    HostOption option;
    option.host = &host;
    option.room = room_on(host, input.shape, input.ledger, input.request.id);
    if (auto no = refused_when_empty(option.room, input.shape))
        return reject(no->first, no->second);

    Sorted sorted = sort_servers(host, option.room, input);
    option.candidates = std::move(sorted.candidates);
    std::vector<std::size_t> all(option.candidates.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    const ByPool emptied = room_without(option, all);
    if (input.checker != nullptr) option.max_slots = input.checker->max_slots(host);
    if (input.one_combination)
        option.max_slots =
            std::min(option.max_slots, slots_of_one_combination(option.room, input.shape, emptied));
    const Amount most = std::min(option.max_slots, input.wanted);
    const auto slots_in = [&](const ByPool& room, PackingWork& work) {
        return std::min(option.max_slots, option.room.slots(input.shape, room, most, &work));
    };
    PackingWork for_ready, for_possible;
    option.slots_ready = slots_in(option.room.room_now(), for_ready);
    option.slots_possible = std::max(option.slots_ready, slots_in(emptied, for_possible));
    // Where as many were found as may count, a search that was cut short missed none.
    const bool cut = (for_possible.cut && option.slots_possible < most) ||
                     (for_ready.cut && option.slots_ready < std::min(most, option.slots_possible));
    if (input.cut != nullptr) *input.cut = *input.cut || cut;
    if (option.slots_possible == 0) {
        sorted.candidates = std::move(option.candidates);
        return reject(RejectionCode::not_enough_revocable,
                      why_not_enough(option.room, emptied, input.shape, sorted, cut));
    }
    return option;
}

}  // namespace reaper
