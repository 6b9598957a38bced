// The gateway's second part: hosts that are offered to whoever asks, and claims, which tell who
// does.
#include <algorithm>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/gateway/call_words.hpp"
#include "reaper/gateway/claim_text.hpp"
#include "reaper/gateway/placement_gateway.hpp"
#include "reaper/model/text.hpp"

namespace reaper {
namespace {

constexpr int most_joint_claims = 3;
/// At most; a few more where one plan needs several.
constexpr std::size_t hosts_offered = 3;
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
        offered.capacity.set(name, inventory.capacity());
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
    const bool untouched = known != offers_.end() && !known->second.served &&
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
    const auto largest =
        std::max_element(may_be.begin(), may_be.end(),
                         [](const Request& a, const Request& b) { return a.slots < b.slots; });
    if (largest == may_be.end()) return false;
    Request wanted = std::move(*largest);
    wanted.id = id;
    wanted.phases = {};
    if (narrow(wanted, query)) return false;
    const auto rooms = rooms_for(std::move(wanted), asked.candidates->hosts());
    std::vector<OfferedHost> offered;
    for (const Host* const host : rooms) {
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
    const auto rooms = dependencies_.kept_rooms.kept_for(id);
    if (rooms.empty()) return true;
    if (!query.groups.empty()) return false;
    std::set<HostId> hosts;
    for (const KeptRoom& room : rooms) hosts.insert(room.host);
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
        if (offer.nothing_free && !offer.served) leave_out(apart, offer.hosts);
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

Task<ProxyAnswer> PlacementGateway::claim(HttpRequest request, GatewayCall& call) {
    const RequestId id = request_of(request.headers);
    const auto server = claimed_server(path_of(request.target));
    std::optional<Allocations> asked = Allocations{};
    if (request.method == "PUT") asked = read_claim(request.body);
    const bool known = server && asked && !asked->empty() && offers_.contains(id);
    std::optional<Counted> helping;
    if (known || dependencies_.kept_rooms.keeps_for(id)) helping.emplace(helping_);
    Resources amounts;
    if (asked)
        for (const auto& each : *asked) amounts += each.second;
    while (true) {
        // First, also where it is known that nothing is free: Placement says whether it takes the
        // token, before anything is done for who has it.
        ProxyAnswer answer = co_await try_claim(request, call, asked);
        const int status = status_of(answer);
        if (server && asked && status >= 200 && status < 300) note_success(id, *server, *asked);
        if (!known) co_return answer;
        bool again = false;
        if (status == 409 && offers_.contains(id) && !call.client_gone()) {
            if (std::holds_alternative<OwnAnswer>(answer)) {
                auto refusal = co_await refused_token(request, call);
                if (refusal) co_return std::move(*refusal);
            }
            again = co_await help_claim(id, *server, amounts, call);
        }
        if (again) continue;
        if (offers_.contains(id) && offers_.at(id).served)
            spdlog::info("gateway: {}: server {} claims {}: {}", printable(id.str()),
                         printable(server->str()), names_of(*asked), status);
        note_claim(id, *server, *asked, status);
        co_return answer;
    }
}

/// Placement's answer, if it does not take the token of a claim that it was not asked for.
Task<std::optional<ProxyAnswer>> PlacementGateway::refused_token(HttpRequest claim,
                                                                 GatewayCall& call) {
    claim.method = "GET";
    claim.body.clear();
    auto answered = co_await call.ask(std::move(claim));
    if (!answered) co_return ProxyAnswer{answered.error()};
    if ((*answered)->status() == 200) co_return std::nullopt;
    co_return ProxyAnswer{std::move(*answered)};
}

/// The hosts of a claim, for people.
std::string PlacementGateway::names_of(const Allocations& asked) const {
    std::string names;
    for (const auto& [provider, amounts] : asked) {
        const Host* const host = dependencies_.refresher.cache().find(provider);
        if (host != nullptr) names += (names.empty() ? "" : ", ") + printable(host->name, 64);
    }
    return names.empty() ? "room elsewhere" : names;
}

/// Room is the server's now; without hosts it holds none any more.
void PlacementGateway::note_success(const RequestId& id, const ServerId& server,
                                    const Allocations& asked) {
    if (asked.empty()) return dependencies_.rooms.unclaimed(id, server);
    std::set<HostId> hosts;
    for (const auto& [provider, amounts] : asked) hosts.insert(provider);
    // A provider below a host may be named alone.
    for (const auto* const promise : dependencies_.rooms.ledger().promises_of(id)) {
        const Host* const host = dependencies_.refresher.cache().find(promise->host);
        if (host == nullptr) continue;
        for (const Provider& provider : host->providers)
            if (asked.contains(provider.id)) hosts.insert(host->id);
    }
    dependencies_.rooms.claimed(id, server, hosts);
    if (wishes_.contains(id)) dependencies_.placed(server);
}

void PlacementGateway::note_claim(const RequestId& id, const ServerId& server,
                                  const Allocations& asked, int status) {
    const auto offer = offers_.find(id);
    if (offer == offers_.end()) return;
    if (status < 300) offer->second.claimed.insert(server);
    if (status != 409) return;
    for (const auto& [provider, amounts] : asked) offer->second.refused[server].insert(provider);
}

/// Placement's answer, or our own, which is the same as if there were no room.
Task<ProxyAnswer> PlacementGateway::try_claim(HttpRequest request, GatewayCall& call,
                                              std::optional<Allocations> asked) {
    RequestId id = request_of(request.headers);
    std::set<ProviderId> providers;
    if (asked)
        for (const auto& each : *asked) providers.insert(each.first);
    const auto turn = co_await turn_for(std::move(providers));
    std::optional<std::string> of_others;
    if (asked && !promised_.none()) of_others = co_await promised_.claimed(*asked, id);
    if (of_others) {
        spdlog::info("gateway: {}: a claim is refused: {}", printable(id.str()), *of_others);
        OwnAnswer refused;
        refused.status = 409;
        refused.headers = {{"Content-Type", "application/json"}};
        refused.body = no_room_text(id.str());
        co_return ProxyAnswer{std::move(refused)};
    }
    co_return co_await send_claim(std::move(request), call, std::move(asked));
}

/// Together with what is kept for it: the room is its own, and was nobody else's in between.
Task<ProxyAnswer> PlacementGateway::send_claim(HttpRequest request, GatewayCall& call,
                                               std::optional<Allocations> asked) {
    KeptRooms& kept = dependencies_.kept_rooms;
    const RequestId id = request_of(request.headers);
    const std::string path{path_of(request.target)};
    // A keeper may change in between: it is read again then.
    for (int tries = 0; asked && tries < most_joint_claims && kept.keeps_for(id); ++tries) {
        auto changes = co_await kept.hand_over(id, *asked);
        if (!changes) continue;
        auto body = joint_claim(request.body, *claimed_server(path), *changes);
        if (changes->empty() || !body) break;
        HttpRequest joint = request;
        joint.method = "POST";
        joint.target = path.substr(0, path.rfind('/'));
        joint.body = std::move(*body);
        auto answered = co_await call.ask(std::move(joint));
        const int status = answered ? (*answered)->status() : 0;
        if (status >= 200 && status < 300)
            kept.handed_over(*changes);
        else
            kept.not_sure_of(*changes);
        if (!answered) co_return ProxyAnswer{answered.error()};
        if (status != 409) co_return ProxyAnswer{std::move(*answered)};
    }
    auto answered = co_await call.ask(std::move(request));
    if (!answered) co_return ProxyAnswer{answered.error()};
    co_return ProxyAnswer{std::move(*answered)};
}

/// Whoever claims is known: a regular one is served now, once for all of its servers that have no
/// room yet. False: nothing was done.
Task<bool> PlacementGateway::help_claim(RequestId id, ServerId server, Resources amounts,
                                        GatewayCall& call) {
    if (why_full() || too_many_looks() || passes_through()) co_return false;
    if (std::exchange(offers_.at(id).served, true)) co_return false;
    const Counted looking{counts_.looking};
    auto look = who_asks_.of_server(id, server);
    // Without help this claim has failed.
    auto found = co_await in_time(call, std::move(look), whole_call);
    const auto offered = offers_.find(id);
    if (offered == offers_.end()) co_return false;
    const Offer offer = offered->second;
    std::string why;
    if (!found)
        why = found.error().what;
    else if (!*found)
        why = "Nova schedules no such server";
    else if (const auto* const refused = std::get_if<Refused>(&**found))
        why = refused->reason;
    else if (auto revocable = dependencies_.why_revocable(std::get<Request>(**found)))
        why = "the requester is revocable: " + *revocable;
    std::optional<Request> wanted;
    if (why.empty()) {
        wanted = std::get<Request>(std::move(**found));
        if (!wanted->phases.admits(ResType::regular)) why = "it admits revocable room alone";
        wanted->phases = {};  // what was offered is regular
        if (auto unfit = narrow(*wanted, offer.query_of(amounts))) why = std::move(*unfit);
    }
    if (!why.empty()) {
        pass(id, why);
        co_return false;
    }
    std::erase_if(wanted->requesters,
                  [&](const ServerId& each) { return offer.claimed.contains(each); });
    wanted->slots = std::max<int>(1, static_cast<int>(wanted->requesters.size()));
    wanted->placement.only_hosts.clear();
    wanted->placement.why_only = "offered to nova-scheduler";
    const auto refused = offer.refused.find(server);
    for (const HostId& host : offer.hosts) {
        const Host* const known = dependencies_.refresher.cache().find(host);
        const bool over = refused != offer.refused.end() && refused->second.contains(host);
        if (known != nullptr && !over) wanted->placement.only_hosts.insert(known->service_host);
    }
    if (wanted->placement.only_hosts.empty()) co_return false;
    // Others may have begun to wait while it was looked who asks.
    if (const auto full = why_full()) {
        pass(id, *full);
        if (const auto still = offers_.find(id); still != offers_.end())
            still->second.served = false;
        co_return false;
    }
    const Counted held{counts_.held};
    const auto outcome = co_await wait_for(std::move(*wanted), call, true);
    const bool way = outcome && has_room(*outcome);
    if (way) note_hosts(id);
    ++(way ? counts_.served : counts_.in_vain);
    co_return way;
}

}  // namespace reaper
