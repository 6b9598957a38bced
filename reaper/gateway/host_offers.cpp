#include "reaper/gateway/host_offers.hpp"

#include <algorithm>
#include <utility>

#include "reaper/gateway/call_words.hpp"
#include "reaper/gateway/who_fits.hpp"
#include "reaper/model/text.hpp"
#include "reaper/runtime/log.hpp"

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

const CandidatesQuery& HostOffer::query_of(const Resources& amounts) const {
    const auto its = std::find_if(queries.rbegin(), queries.rend(), [&](const auto& each) {
        return each.shape.resources == amounts;
    });
    return its == queries.rend() ? queries.back() : *its;
}

bool HostOffer::was_refused(const ServerId& server, const HostId& host) const {
    const auto hosts_of = refused.find(server);
    return hosts_of != refused.end() && hosts_of->second.contains(host);
}

bool HostOffer::knows(const ServerId& server) const {
    return looked_into.contains(server) || claimed.contains(server) || refused.contains(server);
}

bool HostOffer::has_for(const ServerId& server, const Allocations& asked) const {
    return std::ranges::any_of(asked, [&](const auto& each) {
        return hosts.contains(each.first) && !was_refused(server, each.first);
    });
}

HostOffer* HostOffers::find(const RequestId& id, const ServerId& server, const Allocations& asked) {
    const auto known = offers_.find(id);
    if (known == offers_.end()) return nullptr;
    HostOffer *its = nullptr, *next = nullptr, *told = nullptr;
    for (HostOffer& offer : known->second) {
        const bool has = offer.has_for(server, asked);
        if (has && offer.knows(server)) its = &offer;
        if (has && !offer.is_claimed() && next == nullptr) next = &offer;
        if (has || offer.knows(server)) told = &offer;
    }
    for (HostOffer* const offer : {its, next, told})
        if (offer != nullptr) return offer;
    return &known->second.back();
}

void HostOffers::note(const RequestId& id, HostOffer offer) {
    for (auto& [other, offers] : offers_)
        std::erase_if(offers, [&](const auto& each) { return offer.at - each.at > offered_for; });
    std::erase_if(offers_, [](const auto& each) { return each.second.empty(); });
    auto& offers = offers_[id];
    // Of two searches before one claim, as for dedicated CPUs, the claim may be of either's hosts.
    const CandidatesQuery& query = offer.queries.back();
    const auto belongs_to = [&](const HostOffer& before) {
        if (before.is_claimed()) return false;
        const bool again = before.queries.back() == query;
        return pairs_.is_second(id, query) ||
               (again && std::ranges::includes(offer.hosts, before.hosts));
    };
    if (!offers.empty() && belongs_to(offers.back())) {
        HostOffer& before = offers.back();
        std::erase(before.queries, query);
        before.queries.push_back(query);
        before.hosts.merge(offer.hosts);
        before.nothing_free = before.nothing_free && offer.nothing_free;
        before.at = offer.at;
        return;
    }
    offers.push_back(std::move(offer));
}

void HostOffers::note_release(const RequestId& id, const ServerId& server) {
    const auto known = offers_.find(id);
    if (known == offers_.end()) return;
    for (HostOffer& offer : known->second) offer.claimed.erase(server);
}

void HostOffers::note_claim(const RequestId& id, const ServerId& server, const Allocations& asked,
                            int status) {
    // A server that is refused what it claims did not refuse its room.
    if (status == 409) log_.had_hosts.erase(id);
    HostOffer* const offer = find(id, server, asked);
    if (offer == nullptr) return;
    if (status < 300) offer->claimed.insert(server);
    if (status != 409) return;
    for (const auto& [provider, amounts] : asked) offer->refused[server].insert(provider);
}

bool HostOffers::offer(const RequestId& id, const CandidatesQuery& query,
                       std::vector<Request> may_be, SearchAnswer& asked) {
    std::erase_if(may_be, [&](const Request& each) {
        return !each.phases.admits(ResType::regular) || needs_room_first(each) ||
               ports_.why_revocable(each).has_value();
    });
    if (pairs_.is_second(id, query) && pairs_.places(id, *asked.candidates) > 0) return false;
    std::vector<OfferedHost> offered;
    for (const Host* const host :
         rooms_for_any(id, query, std::move(may_be), asked.candidates->hosts())) {
        auto room = root_of(*host);
        if (has_all(room.capacity, query.shape.resources)) offered.push_back(std::move(room));
    }
    if (offered.empty()) return false;
    HostOffer made{{query}, asked.candidates->hosts(), ports_.steady()};
    made.nothing_free = asked.candidates->none();
    for (const OfferedHost& host : offered) made.hosts.insert(host.host);
    note(id, std::move(made));
    ++log_.counts.offered;
    spdlog::debug("gateway: {}: {} offered, a claim will name the server", printable(id.str()),
                  counted(static_cast<int>(offered.size()), "host"));
    asked.candidates->add(offered, query.shape.resources);
    asked.answer = own_answer(*asked.candidates);
    return true;
}

bool HostOffers::tell_of_escrow(const RequestId& id, const CandidatesQuery& query,
                                SearchAnswer& asked) {
    std::set<HostId> hosts;
    for (const EscrowedRoom& room : ports_.escrow.kept_for(id)) hosts.insert(room.host);
    if (hosts.empty()) return true;
    if (!tell_of_hosts(hosts, query, asked)) return false;
    const Duration now = ports_.steady();
    std::erase_if(told_kept_,
                  [&](const auto& each) { return now - each.second >= RoomWaits::claimed_within; });
    told_kept_[id] = now;
    return true;
}

bool HostOffers::awaits_claims() const {
    const Duration now = ports_.steady();
    return std::any_of(told_kept_.begin(), told_kept_.end(), [&](const auto& each) {
        return now - each.second < RoomWaits::claimed_within && ports_.escrow.keeps_for(each.first);
    });
}

bool HostOffers::tell_of_room_on_its_way(const RequestId& id, const CandidatesQuery& query,
                                         SearchAnswer& asked) {
    const Ledger& ledger = ports_.ledger();
    std::set<HostId> hosts;
    for (const auto* const promise : ledger.promises_of(id))
        if (promise->open() > 0) hosts.insert(promise->host);
    if (ports_.stopping || patience_.passes_through() || !may_be_offered(query)) return false;
    if (hosts.empty() || !waits_.waits(id) || !ledger.has_evictions_of(id)) return false;
    if (!tell_of_hosts(hosts, query, asked)) return false;
    waits_.expect_claim(id);
    spdlog::info("gateway: {}: its room is on its way, its claim waits for that",
                 printable(id.str()));
    return true;
}

bool HostOffers::tell_of_hosts(const std::set<HostId>& hosts, const CandidatesQuery& query,
                               SearchAnswer& asked) const {
    if (!query.groups.empty()) return false;
    std::vector<OfferedHost> told;
    for (const HostId& host : hosts) {
        if (asked.candidates->hosts().contains(host)) continue;
        const Host* const known = ports_.cache().find(host);
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

/// Where room could be freed for those that are not alike, most servers first: there is a
/// host for each of them.
std::vector<const Host*> HostOffers::rooms_for_any(const RequestId& id,
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
        if (narrow(wanted, query, ports_.cache())) continue;
        for (const Host* const host : rooms_for(std::move(wanted), besides))
            if (std::find(found.begin(), found.end(), host) == found.end()) found.push_back(host);
    }
    return found;
}

/// Where room for the request could be freed, besides on some hosts; not where others were offered
/// it, if it can be elsewhere.
std::vector<const Host*> HostOffers::rooms_for(Request wanted,
                                               const std::set<HostId>& besides) const {
    const CloudCache& cache = ports_.cache();
    const auto leave_out = [&cache](Request& request, const std::set<HostId>& left_out) {
        for (const HostId& host : left_out)
            if (const Host* const known = cache.find(host))
                request.excluded_hosts.emplace(known->service_host, "offered already");
    };
    leave_out(wanted, besides);
    Request apart = wanted;
    for (const auto& [other, offers] : offers_)
        for (const HostOffer& offer : offers)
            if (offer.nothing_free && offer.looked_into.empty()) leave_out(apart, offer.hosts);
    auto hosts = ids_of(ports_.consider(apart));
    if (hosts.empty()) hosts = ids_of(ports_.consider(wanted));
    // What one host can give may be gone when it is claimed.
    while (!hosts.empty() && hosts.size() < hosts_offered) {
        leave_out(wanted, hosts);
        const auto others = ids_of(ports_.consider(wanted));
        if (others.empty()) break;
        hosts.insert(others.begin(), others.end());
    }
    std::vector<const Host*> found;
    for (const HostId& host : hosts)
        if (const Host* const known = cache.find(host)) found.push_back(known);
    return found;
}

}  // namespace reaper
