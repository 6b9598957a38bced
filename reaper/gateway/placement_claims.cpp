// The gateway's claims: they tell who asks, and room is the server's with them.
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

/// The same as Placement's where there is no room.
OwnAnswer no_room(const RequestId& id) {
    OwnAnswer refused;
    refused.status = 409;
    refused.headers = {{"Content-Type", "application/json"}};
    refused.body = no_room_text(id.str());
    return refused;
}

}  // namespace

Task<ProxyAnswer> PlacementGateway::claim(HttpRequest request, GatewayCall& call) {
    const RequestId call_id = request_of(request.headers);
    const auto server = claimed_server(path_of(request.target));
    std::optional<Allocations> asked = Allocations{};
    if (request.method == "PUT") asked = read_claim(request.body);
    const bool claims = server && asked && !asked->empty();
    std::optional<Counted> helping;
    while (true) {
        RequestId id = server ? claimed_for(call_id, *server) : call_id;
        const bool offered = claims && offers_.contains(call_id);
        if (!helping && (offered || dependencies_.kept_rooms.keeps_for(id)))
            helping.emplace(helping_);
        if (offered && leaves_its_room(call_id, id, *server, *asked)) {
            auto refusal = co_await refused_token(request, call);
            if (refusal) co_return std::move(*refusal);
            note_claim(call_id, *server, *asked, 409);
            spdlog::info("gateway: {}: server {} claims {}, and its room is elsewhere: 409",
                         printable(id.str()), printable(server->str()), names_of(*asked));
            OwnAnswer refused = no_room(id);
            co_return ProxyAnswer{std::move(refused)};
        }
        // First, also where it is known that nothing is free: Placement says whether it takes the
        // token, before anything is done for who has it.
        ProxyAnswer answer = co_await try_claim(request, call, id, asked);
        const int status = status_of(answer);
        if (server && asked && status >= 200 && status < 300)
            note_success(call_id, id, *server, *asked);
        if (!claims) co_return answer;
        if (status == 409 && !call.client_gone()) {
            bool again = co_await wait_for_its_room(id, *asked, call);
            if (!again && offers_.contains(call_id) && may_be_regular(request.body)) {
                if (std::holds_alternative<OwnAnswer>(answer)) {
                    auto refusal = co_await refused_token(request, call);
                    if (refusal) co_return std::move(*refusal);
                }
                again = co_await help_claim(call_id, *server, *asked, call);
                id = claimed_for(call_id, *server);
                if (!again) again = co_await wait_for_its_room(id, *asked, call);
            }
            if (again && !call.client_gone() &&
                !is_elsewhere(claimed_for(call_id, *server), *asked))
                continue;
        }
        if (offered && offers_.contains(call_id) &&
            offers_.at(call_id).looked_into.contains(*server))
            spdlog::info("gateway: {}: server {} claims {}: {}", printable(id.str()),
                         printable(server->str()), names_of(*asked), status);
        note_claim(call_id, *server, *asked, status);
        co_return answer;
    }
}

/// False: the claim itself says that its server is revocable, and Nova need not be asked about it.
bool PlacementGateway::may_be_regular(std::string_view claim) const {
    const auto project = claiming_project(claim);
    return !project || !dependencies_.is_revocable(*project);
}

/// The request whose room the server may claim. An id alone gives no right to another's room: who
/// is no requester of it, and could not be told from one when it was looked who asks, has a request
/// of its own, to which nothing is promised yet.
RequestId PlacementGateway::claimed_for(const RequestId& call_id, const ServerId& server) const {
    const RequestId id = request_ids_.of_server(call_id, server);
    const auto promises = dependencies_.rooms.ledger().promises_of(id);
    const bool its = std::all_of(promises.begin(), promises.end(), [&](const auto* promise) {
        return promise->requesters.empty() || promise->is_for(server);
    });
    if (its || requester_resolver_.may_be(call_id, server)) return id;
    return RequestId{call_id.str() + "~" + server.str()};
}

/// Was its room freed on other hosts than these? It was offered those too, and claims them next:
/// not room that came free here by chance, while nobody takes what was freed.
bool PlacementGateway::is_elsewhere(const RequestId& id, const Allocations& asked) const {
    const auto promises = dependencies_.rooms.ledger().promises_of(id);
    return !promises.empty() &&
           std::none_of(promises.begin(), promises.end(), [&](const auto* const promise) {
               const Host* const host = dependencies_.refresher.cache().find(promise->host);
               return host == nullptr || std::any_of(host->providers.begin(), host->providers.end(),
                                                     [&](const Provider& provider) {
                                                         return asked.contains(provider.id);
                                                     });
           });
}

/// Does it claim what came free by chance, while what was freed for it on another host that it was
/// offered is there? Refused, nova-scheduler claims that next; else its victims died for others.
bool PlacementGateway::leaves_its_room(const RequestId& call_id, const RequestId& id,
                                       const ServerId& server, const Allocations& asked) const {
    if (!is_elsewhere(id, asked)) return false;
    const Offer& offer = offers_.at(call_id);
    const auto refused = offer.refused.find(server);
    const auto promises = dependencies_.rooms.ledger().promises_of(id);
    return std::any_of(promises.begin(), promises.end(), [&](const auto* const promise) {
        const bool there = promise->until.has_value();  // its cull has ended
        const bool over = refused != offer.refused.end() && refused->second.contains(promise->host);
        return there && promise->open() > 0 && !over && offer.hosts.contains(promise->host);
    });
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
void PlacementGateway::note_success(const RequestId& call_id, const RequestId& id,
                                    const ServerId& server, const Allocations& asked) {
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
    // Who has all of its room waits no more for what is on its way.
    const auto waiting = waits_.contains(id) ? waits_.at(id).lock() : nullptr;
    if (waiting && waiting->unclaimed.erase(server) > 0 && waiting->unclaimed.empty())
        waiting->claims_until = {};
    if (wishes_.contains(call_id)) dependencies_.placed(server);
}

void PlacementGateway::note_claim(const RequestId& id, const ServerId& server,
                                  const Allocations& asked, int status) {
    // Whoever is refused what it claims did not refuse its room.
    if (status == 409) had_hosts_.erase(id);
    const auto offer = offers_.find(id);
    if (offer == offers_.end()) return;
    if (status < 300) offer->second.claimed.insert(server);
    if (status != 409) return;
    for (const auto& [provider, amounts] : asked) offer->second.refused[server].insert(provider);
}

/// Placement's answer, or our own, which is the same as if there were no room.
Task<ProxyAnswer> PlacementGateway::try_claim(HttpRequest request, GatewayCall& call, RequestId id,
                                              std::optional<Allocations> asked) {
    std::set<ProviderId> providers;
    if (asked)
        for (const auto& each : *asked) providers.insert(each.first);
    const auto turn = co_await turn_for(std::move(providers));
    std::optional<std::string> of_others;
    if (asked && !promised_.none()) of_others = co_await promised_.claimed(*asked, id);
    if (of_others) {
        spdlog::info("gateway: {}: a claim is refused: {}", printable(id.str()), *of_others);
        OwnAnswer refused = no_room(id);
        co_return ProxyAnswer{std::move(refused)};
    }
    co_return co_await send_claim(std::move(request), call, std::move(id), std::move(asked));
}

/// Together with what is kept for it: the room is its own, and was nobody else's in between.
Task<ProxyAnswer> PlacementGateway::send_claim(HttpRequest request, GatewayCall& call, RequestId id,
                                               std::optional<Allocations> asked) {
    KeptRooms& kept = dependencies_.kept_rooms;
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
Task<bool> PlacementGateway::help_claim(RequestId id, ServerId server, Allocations asked,
                                        GatewayCall& call) {
    if (is_full() || too_many_looks() || passes_through()) co_return false;
    const auto offer = offers_.find(id);  // an old one may be forgotten by now
    if (offer == offers_.end() || !offer->second.looked_into.insert(server).second) co_return false;
    const Counted looking{counts_.looking};
    auto wanted = co_await who_claims(id, server, asked, call);
    const auto still = offers_.find(id);
    if (!wanted || still == offers_.end()) co_return false;
    prefer_claimed(*wanted, asked);
    // Others may have begun to wait while it was looked who asks.
    if (const auto full = why_no_place(waiting_call(*wanted))) {
        pass(id, *full);
        still->second.looked_into.erase(server);
        co_return false;
    }
    still->second.looked_into.insert(wanted->requesters.begin(), wanted->requesters.end());
    wanted->id = request_ids_.of(id, wanted->requesters, dependencies_.cloud.clock.steady());
    const auto outcome = co_await wait_for(std::move(*wanted), call, true);
    const bool way = outcome && has_room(*outcome);
    if (way) note_hosts(id);
    ++(way ? counts_.served : counts_.in_vain);
    co_return way;
}

/// The request that the server belongs to, with those that have no room yet, and where it was
/// offered any; none if it can't be helped.
Task<std::optional<Request>> PlacementGateway::who_claims(RequestId id, ServerId server,
                                                          Allocations asked, GatewayCall& call) {
    Resources amounts;
    for (const auto& each : asked) amounts += each.second;
    CandidatesQuery query = offers_.at(id).query_of(amounts);
    auto look = begin(requester_resolver_.of_server(id, server, std::move(query)));
    // Without help this claim has failed.
    auto found = co_await in_time(call, std::move(look), whole_call);
    const auto offered = offers_.find(id);
    if (offered == offers_.end()) co_return std::nullopt;
    const Offer& offer = offered->second;
    std::string why;
    if (!found)
        why = found.error().what;
    else if (!*found)
        why = "Nova schedules no such server";
    else if (const auto* const refused = std::get_if<Refused>(&**found))
        why = refused->reason;
    else if (const auto* const unknown = std::get_if<NotCertain>(&**found))
        why = unknown->why;
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
        co_return std::nullopt;
    }
    std::erase_if(wanted->requesters,
                  [&](const ServerId& each) { return offer.claimed.contains(each); });
    std::erase_if(wanted->requester_names,
                  [&](const auto& each) { return offer.claimed.contains(each.first); });
    wanted->slots = std::max<int>(1, static_cast<int>(wanted->requesters.size()));
    wanted->placement.only_hosts.clear();
    wanted->placement.why_only = "offered to nova-scheduler";
    wanted->placement.only_offered = true;
    const auto refused = offer.refused.find(server);
    for (const HostId& host : offer.hosts) {
        const Host* const known = dependencies_.refresher.cache().find(host);
        const bool over = refused != offer.refused.end() && refused->second.contains(host);
        if (known != nullptr && !over) wanted->placement.only_hosts.insert(known->service_host);
    }
    if (wanted->placement.only_hosts.empty()) co_return std::nullopt;
    co_return wanted;
}

/// Room on the hosts that are claimed is of use at once: what is freed elsewhere, nova-scheduler
/// claims only if these stay full.
void PlacementGateway::prefer_claimed(Request& wanted, const Allocations& asked) const {
    PlacementConstraints& placement = wanted.placement;
    for (const Host* const host : dependencies_.refresher.cache().hosts()) {
        const bool claimed =
            std::any_of(host->providers.begin(), host->providers.end(),
                        [&](const Provider& provider) { return asked.contains(provider.id); });
        if (claimed && placement.only_hosts.contains(host->service_host))
            placement.first_hosts.insert(host->service_host);
    }
}

}  // namespace reaper
