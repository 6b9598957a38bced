// The gateway's offers: hosts where room could be freed, named to whoever asks; the claim tells who
// does.
#include <algorithm>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/gateway/call_words.hpp"
#include "reaper/gateway/placement_gateway.hpp"
#include "reaper/gateway/who_fits.hpp"
#include "reaper/model/text.hpp"

namespace reaper {
namespace {

/// At most; a few more where one plan needs several.
constexpr std::size_t hosts_offered = 3;
/// Requests that are not alike, of those that may ask, for which hosts are offered.
constexpr std::size_t most_kinds = 4;
/// A search that was offered hosts claims one of them within.
constexpr Duration offered_for{60'000};

/// Where a decision has its slots.
std::set<HostId> ids_of(const Decision& decision) {
    std::set<HostId> ids;
    for (const HostPlan& host : host_plans(decision)) ids.insert(host.host);
    return ids;
}

OfferedHost root_of(const Host& host) {
    const Provider& root = host.providers.front();
    OfferedHost offered{host.id, {}, root.used, root.traits.get()};
    for (const auto& [name, inventory] : root.inventories)
        offered.capacity.set(name, root.capacity(name, inventory));
    return offered;
}

bool has_all(const Resources& capacity, const Resources& asked) {
    return std::all_of(asked.begin(), asked.end(),
                       [&](const auto& each) { return capacity.get(each.first) > 0; });
}

}  // namespace

void PlacementGateway::note_offer(const RequestId& id, Offer offer) {
    std::erase_if(offers_,
                  [&](const auto& each) { return offer.at - each.second.at > offered_for; });
    const auto known = offers_.find(id);
    const bool untouched = known != offers_.end() && known->second.looked_into.empty() &&
                           known->second.claimed.empty() && known->second.refused.empty();
    // Of two searches before one claim, as for dedicated CPUs, the claim may be of either's hosts.
    if (untouched) {
        Offer& before = known->second;
        std::erase(before.queries, offer.queries.back());
        before.queries.push_back(std::move(offer.queries.back()));
        before.hosts.merge(offer.hosts);
        before.nothing_free = before.nothing_free && offer.nothing_free;
        before.at = offer.at;
        return;
    }
    offers_.insert_or_assign(id, std::move(offer));
}

/// Adds hosts where room could be freed for whoever asks. False: that would help nobody.
bool PlacementGateway::offer(const RequestId& id, const CandidatesQuery& query,
                             std::vector<Request> may_be, Asked& asked) {
    std::erase_if(may_be, [&](const Request& each) {
        return !each.phases.admits(ResType::regular) ||
               dependencies_.why_revocable(each).has_value();
    });
    if (is_second_of_pair(id, query) && places_of_pair(id, *asked.candidates) > 0) return false;
    std::vector<OfferedHost> offered;
    for (const Host* const host :
         rooms_for_any(id, query, std::move(may_be), asked.candidates->hosts())) {
        auto room = root_of(*host);
        if (has_all(room.capacity, query.shape.resources)) offered.push_back(std::move(room));
    }
    if (offered.empty()) return false;
    Offer made{{query}, asked.candidates->hosts(), dependencies_.cloud.clock.steady()};
    made.nothing_free = asked.candidates->none();
    for (const OfferedHost& host : offered) made.hosts.insert(host.host);
    note_offer(id, std::move(made));
    ++counts_.offered;
    spdlog::debug("gateway: {}: {} offered, a claim will tell who asks", printable(id.str()),
                  counted(static_cast<int>(offered.size()), "host"));
    asked.candidates->add(offered, query.shape.resources);
    asked.answer = own_answer(*asked.candidates);
    return true;
}

/// Adds the hosts where room is kept for the request. False: it is kept in a way that a candidate
/// can't tell.
bool PlacementGateway::tell_of_kept_room(const RequestId& id, const CandidatesQuery& query,
                                         Asked& asked) const {
    std::set<HostId> hosts;
    for (const KeptRoom& room : dependencies_.kept_rooms.kept_for(id)) hosts.insert(room.host);
    return hosts.empty() || tell_of_hosts(hosts, query, asked);
}

/// The call's time is over, and what is freed for the request is not gone yet: its claim waits for
/// that. False: nothing is, or a candidate can't tell.
bool PlacementGateway::tell_of_room_on_its_way(const RequestId& id, const CandidatesQuery& query,
                                               Asked& asked) {
    const Ledger& ledger = dependencies_.rooms.ledger();
    std::set<HostId> hosts;
    for (const auto* const promise : ledger.promises_of(id))
        if (promise->open() > 0) hosts.insert(promise->host);
    if (dependencies_.stopping || passes_through()) return false;
    const auto waiting = waits_.contains(id) ? waits_.at(id).lock() : nullptr;
    if (hosts.empty() || !waiting || !ledger.has_evictions_of(id)) return false;
    if (!tell_of_hosts(hosts, query, asked)) return false;
    waiting->claims_until = dependencies_.cloud.clock.steady() + claimed_within;
    spdlog::info("gateway: {}: its room is on its way, its claim waits for that",
                 printable(id.str()));
    return true;
}

bool PlacementGateway::tell_of_hosts(const std::set<HostId>& hosts, const CandidatesQuery& query,
                                     Asked& asked) const {
    if (!query.groups.empty()) return false;
    std::vector<OfferedHost> told;
    for (const HostId& host : hosts) {
        if (asked.candidates->hosts().contains(host)) continue;
        const Host* const known = dependencies_.refresher.cache().find(host);
        if (known == nullptr) return false;
        OfferedHost room = root_of(*known);
        if (!query.shape.resources.fits_in(room.capacity)) return false;
        told.push_back(std::move(room));
    }
    if (told.empty()) return true;
    asked.candidates->add(told, query.shape.resources);
    asked.answer = own_answer(*asked.candidates);
    return true;
}

/// Where room could be freed for those that are not alike, most servers first: whoever it is of
/// them, there is a host.
std::vector<const Host*> PlacementGateway::rooms_for_any(const RequestId& id,
                                                         const CandidatesQuery& query,
                                                         std::vector<Request> may_be,
                                                         const std::set<HostId>& besides) const {
    std::stable_sort(may_be.begin(), may_be.end(),
                     [](const Request& a, const Request& b) { return a.slots > b.slots; });
    std::vector<const Host*> found;
    std::vector<Request> tried;
    for (Request& wanted : may_be) {
        const bool again = std::any_of(tried.begin(), tried.end(),
                                       [&](const Request& each) { return alike(each, wanted); });
        if (again || tried.size() == most_kinds) continue;
        tried.push_back(wanted);
        wanted.id = id;
        wanted.phases = {};
        if (narrow(wanted, query)) continue;
        for (const Host* const host : rooms_for(std::move(wanted), besides))
            if (std::find(found.begin(), found.end(), host) == found.end()) found.push_back(host);
    }
    return found;
}

/// Where room for the request could be freed, besides on some hosts; not where others were offered
/// it, if it can be elsewhere.
std::vector<const Host*> PlacementGateway::rooms_for(Request wanted,
                                                     const std::set<HostId>& besides) const {
    const CloudCache& cache = dependencies_.refresher.cache();
    const auto leave_out = [&cache](Request& request, const std::set<HostId>& left_out) {
        for (const HostId& host : left_out)
            if (const Host* const known = cache.find(host))
                request.excluded_hosts.emplace(known->service_host, "offered already");
    };
    leave_out(wanted, besides);
    Request apart = wanted;
    for (const auto& [other, offer] : offers_)
        if (offer.nothing_free && offer.looked_into.empty()) leave_out(apart, offer.hosts);
    auto hosts = ids_of(dependencies_.consider(apart));
    if (hosts.empty()) hosts = ids_of(dependencies_.consider(wanted));
    // What one host can give may be gone when it is claimed.
    while (!hosts.empty() && hosts.size() < hosts_offered) {
        leave_out(wanted, hosts);
        const auto others = ids_of(dependencies_.consider(wanted));
        if (others.empty()) break;
        hosts.insert(others.begin(), others.end());
    }
    std::vector<const Host*> found;
    for (const HostId& host : hosts)
        if (const Host* const known = cache.find(host)) found.push_back(known);
    return found;
}

}  // namespace reaper
