#include "reaper/gateway/server_claims.hpp"

#include <algorithm>
#include <utility>

#include "reaper/gateway/claim_text.hpp"
#include "reaper/gateway/who_fits.hpp"
#include "reaper/json/json_holdings.hpp"
#include "reaper/model/text.hpp"
#include "reaper/runtime/log.hpp"

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

/// The hosts of a claim, for people.
std::string names_of(const Allocations& asked, const CloudCache& cache) {
    std::string names;
    for (const auto& [provider, amounts] : asked) {
        const Host* const host = cache.find(provider);
        if (host != nullptr) names += (names.empty() ? "" : ", ") + printable(host->name, 64);
    }
    return names.empty() ? "room elsewhere" : names;
}

/// Room on the hosts that are claimed is of use at once: what is freed elsewhere, nova-scheduler
/// claims only if these stay full.
void prefer_claimed(Request& wanted, const Allocations& asked, const CloudCache& cache) {
    PlacementConstraints& placement = wanted.placement;
    for (const Host* const host : cache.hosts()) {
        if (takes_room_of(*host, asked) && placement.only_hosts.contains(host->service_host))
            placement.first_hosts.insert(host->service_host);
    }
}

/// Was its room freed on other hosts than these? It was offered those too, and claims them next:
/// not room that came free here by chance, while no server takes what was freed.
bool is_elsewhere(const GatewayPorts& ports, const RequestId& id, const Allocations& asked) {
    const auto promises = ports.ledger().promises_of(id);
    return !promises.empty() &&
           std::none_of(promises.begin(), promises.end(), [&](const auto* const promise) {
               const Host* const host = ports.cache().find(promise->host);
               return host == nullptr || takes_room_of(*host, asked);
           });
}

/// Does it claim what came free by chance, while what was freed for it on another host that it was
/// offered is there? Refused, nova-scheduler claims that next; else its victims died for others.
bool leaves_its_room(const GatewayPorts& ports, const HostOffer& offer, const RequestId& id,
                     const ServerId& server, const Allocations& asked) {
    if (!is_elsewhere(ports, id, asked)) return false;
    const auto promises = ports.ledger().promises_of(id);
    return std::any_of(promises.begin(), promises.end(), [&](const auto* const promise) {
        const bool there = promise->until.has_value();  // its cull has ended
        return there && promise->open() > 0 && !offer.was_refused(server, promise->host) &&
               offer.hosts.contains(promise->host);
    });
}

/// What is asked for besides what the server holds; none: nothing.
Task<std::optional<Allocations>> new_part_of(Allocations asked, ServerId server,
                                             const GatewayPorts& ports) {
    auto held = co_await ports.cloud.placement.allocations(std::move(server));
    if (!held) co_return std::move(asked);
    for (auto& [provider, amounts] : asked) amounts = more_than(amounts, (*held)[provider]);
    std::erase_if(asked, [](const auto& each) { return each.second.empty(); });
    if (asked.empty()) co_return std::nullopt;
    co_return std::move(asked);
}

/// It has changed since nova-scheduler looked, as by its own claim whose answer was lost: what to
/// do is nova-scheduler's to say, and room is no part of it.
Task<bool> is_refused_as_out_of_date(ProxyAnswer& answer) {
    constexpr std::size_t longest = 64UL * 1024;
    auto* const passed = std::get_if<std::unique_ptr<UpstreamAnswer>>(&answer);
    if (passed == nullptr || (*passed)->status() != 409) co_return false;
    const auto read = co_await (*passed)->read_all(longest);
    co_return read.has_value() && is_concurrent_update((*passed)->body());
}

/// Placement's answer, if it does not take the token of a claim that it was not asked for.
Task<std::optional<ProxyAnswer>> refused_token(HttpRequest claim, GatewayCall& call) {
    claim.method = "GET";
    claim.body.clear();
    auto answered = co_await call.ask(std::move(claim));
    if (!answered) co_return ProxyAnswer{answered.error()};
    if ((*answered)->status() == 200) co_return std::nullopt;
    co_return ProxyAnswer{std::move(*answered)};
}

}  // namespace

Task<ProxyAnswer> ServerClaims::claim(HttpRequest request, GatewayCall& call) {
    const RequestId call_id = request_of(request.headers);
    const auto server = claimed_server(path_of(request.target));
    const auto project = claiming_project(request.body);
    std::optional<Allocations> asked = Allocations{};
    if (request.method == "PUT") asked = read_claim(request.body);
    if (server && asked && !asked->empty() && repeats_what_is_held(request.body))
        asked = co_await new_part_of(std::move(*asked), *server, ports_);
    const bool claims = server && asked && !asked->empty();
    std::optional<Counted> helping;
    bool was_kept = false;
    while (true) {
        RequestId id = server ? claimed_for(call_id, *server, project) : call_id;
        std::optional<RoomWaits::Claim> claiming;
        if (claims) claiming.emplace(waits_, id, call);
        const bool offered = claims && offers_.contains(call_id);
        if (!helping && (offered || ports_.escrow.keeps_for(id)))
            helping.emplace(log_.counts.helping);
        if (offered &&
            leaves_its_room(ports_, *offers_.find(call_id, *server, *asked), id, *server, *asked))
            co_return co_await refuse_elsewhere(std::move(request), call, id, *asked);
        // First, also where it is known that nothing is free: Placement says whether it takes the
        // token, before anything is done for who has it.
        const bool kept = claims && waits_.is_kept(id, *asked);
        ProxyAnswer answer = co_await send(request, call, id, asked);
        const int status = status_of(answer);
        if (server && asked && status >= 200 && status < 300)
            note_success(call_id, id, *server, *asked);
        const bool out_of_date = co_await is_refused_as_out_of_date(answer);
        if (!claims || out_of_date) co_return answer;
        // What is refused twice though its room is there lacks something else.
        const bool lacks_room = !kept || !std::exchange(was_kept, true);
        if (status == 409 && lacks_room && !call.client_gone()) {
            bool again = co_await waits_.wait_for_its_room(id, *asked, call);
            if (!again && offers_.contains(call_id) && may_be_regular(project)) {
                if (std::holds_alternative<OwnAnswer>(answer)) {
                    auto refusal = co_await refused_token(request, call);
                    if (refusal) co_return std::move(*refusal);
                }
                again = co_await help_claim(call_id, *server, *asked, call);
                id = claimed_for(call_id, *server, project);
                if (!again) again = co_await waits_.wait_for_its_room(id, *asked, call);
            }
            if (again && !call.client_gone() &&
                !is_elsewhere(ports_, claimed_for(call_id, *server, project), *asked))
                continue;
        }
        const HostOffer* const offer = claims ? offers_.find(call_id, *server, *asked) : nullptr;
        if (offered && offer != nullptr && offer->looked_into.contains(*server))
            spdlog::info("gateway: {}: server {} claims {}: {}", printable(id.str()),
                         printable(server->str()), names_of(*asked, ports_.cache()), status);
        offers_.note_claim(call_id, *server, *asked, status);
        co_return answer;
    }
}

/// Its room is on another host, which nova-scheduler claims next.
Task<ProxyAnswer> ServerClaims::refuse_elsewhere(HttpRequest request, GatewayCall& call,
                                                 RequestId id, Allocations asked) {
    auto refusal = co_await refused_token(request, call);
    if (refusal) co_return std::move(*refusal);
    const ServerId server = *claimed_server(path_of(request.target));
    offers_.note_claim(request_of(request.headers), server, asked, 409);
    spdlog::info("gateway: {}: server {} claims {}, and its room is elsewhere: 409",
                 printable(id.str()), printable(server.str()), names_of(asked, ports_.cache()));
    OwnAnswer refused = no_room(id);
    co_return ProxyAnswer{std::move(refused)};
}

/// False: the claim itself says that its server is revocable, and Nova need not be asked about it.
bool ServerClaims::may_be_regular(const std::optional<ProjectId>& project) const {
    return !project || !ports_.is_revocable(*project);
}

/// The request whose room the server may claim. An id alone gives no right to another's room: a
/// server that is no requester of it, and was not asked for with one, has a request of its own, to
/// which nothing is promised yet. Room that is for any of some alike is their project's.
RequestId ServerClaims::claimed_for(const RequestId& call_id, const ServerId& server,
                                    const std::optional<ProjectId>& project) const {
    const RequestId id = request_ids_.of_server(call_id, server);
    const auto promises = ports_.ledger().promises_of(id);
    const bool its = std::all_of(promises.begin(), promises.end(), [&](const auto* promise) {
        if (promise->requesters.empty()) return !project || *project == promise->project;
        return promise->is_for(server) || resolver_.is_for(call_id, server, promise->requesters);
    });
    if (its) return id;
    return RequestId{call_id.str() + "~" + server.str()};
}

/// Room is the server's now; without hosts it no longer holds any.
void ServerClaims::note_success(const RequestId& call_id, const RequestId& id,
                                const ServerId& server, const Allocations& asked) {
    if (asked.empty()) {
        offers_.note_release(call_id, server);
        return ports_.rooms.unclaimed(id, server);
    }
    std::set<HostId> hosts;
    for (const auto& [provider, amounts] : asked) hosts.insert(provider);
    // A provider below a host may be named alone.
    for (const auto* const promise : ports_.ledger().promises_of(id)) {
        const Host* const host = ports_.cache().find(promise->host);
        if (host != nullptr && takes_room_of(*host, asked)) hosts.insert(host->id);
    }
    ports_.rooms.claimed(id, server, hosts);
    waits_.claimed(id, server);
    if (log_.wishes.contains(call_id)) ports_.placed(server);
}

/// The claiming server is known: a regular one is served now, once for all of its servers that have
/// no room yet. False: nothing was done.
Task<bool> ServerClaims::help_claim(RequestId id, ServerId server, Allocations asked,
                                    GatewayCall& call) {
    if (patience_.why_busy()) co_return false;
    HostOffer* const offer = offers_.find(id, server, asked);  // an old one may be forgotten by now
    if (offer == nullptr || offer->claimed.contains(server)) co_return false;
    if (!offer->looked_into.insert(server).second) co_return false;
    const Counted looking{log_.counts.looking};
    auto wanted = co_await who_claims(id, server, asked, call);
    HostOffer* const still = offers_.find(id, server, asked);
    if (!wanted || still == nullptr) co_return false;
    prefer_claimed(*wanted, asked, ports_.cache());
    // Others may have begun to wait while the requester was looked up.
    if (const auto full = waits_.why_no_place(*wanted)) {
        log_.pass(id, *full);
        still->looked_into.erase(server);
        co_return false;
    }
    still->looked_into.insert(wanted->requesters.begin(), wanted->requesters.end());
    wanted->id = request_ids_.of(id, wanted->requesters, ports_.steady());
    const auto outcome = co_await waits_.wait_for(std::move(*wanted), call, true);
    const bool way = outcome && has_room(*outcome);
    if (way) log_.had_hosts.note(id);
    ++(way ? log_.counts.served : log_.counts.without_room);
    co_return way;
}

/// The request that the server belongs to, with those that have no room yet, and where it was
/// offered any; none if it can't be helped.
Task<std::optional<Request>> ServerClaims::who_claims(RequestId id, ServerId server,
                                                      Allocations asked, GatewayCall& call) {
    Resources amounts;
    for (const auto& each : asked) amounts += each.second;
    CandidatesQuery query = offers_.find(id, server, asked)->query_of(amounts);
    auto look = patience_.begin(resolver_.of_server(id, server, std::move(query)));
    // Without help this claim has failed.
    auto found = co_await patience_.in_time(call, std::move(look), Patience::whole_call);
    const HostOffer* const offered = offers_.find(id, server, asked);
    if (offered == nullptr) co_return std::nullopt;
    const HostOffer& offer = *offered;
    std::string why;
    if (!found)
        why = found.error().what;
    else if (!*found)
        why = "Nova schedules no such server";
    else if (const auto* const refused = std::get_if<Refused>(&**found))
        why = refused->reason;
    else if (const auto* const unknown = std::get_if<NotCertain>(&**found))
        why = unknown->why;
    else if (auto revocable = ports_.why_revocable(std::get<Request>(**found)))
        why = "the requester is revocable: " + *revocable;
    std::optional<Request> wanted;
    if (why.empty()) {
        wanted = std::get<Request>(std::move(**found));
        if (!wanted->phases.admits(ResType::regular)) why = "it admits revocable room alone";
        wanted->phases = {};  // what was offered is regular
        if (auto unfit = narrow(*wanted, offer.query_of(amounts), ports_.cache()))
            why = std::move(*unfit);
    }
    if (!why.empty()) {
        log_.pass(id, why);
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
    for (const HostId& host : offer.hosts) {
        const Host* const known = ports_.cache().find(host);
        if (known != nullptr && !offer.was_refused(server, host))
            wanted->placement.only_hosts.insert(known->service_host);
    }
    if (wanted->placement.only_hosts.empty()) co_return std::nullopt;
    co_return wanted;
}

/// Placement's answer, or our own, which is the same as if there were no room.
Task<ProxyAnswer> ServerClaims::send(HttpRequest request, GatewayCall& call, RequestId id,
                                     std::optional<Allocations> asked) {
    // Not of a provider that hosts share: all claims would wait for it.
    std::set<ProviderId> providers;
    if (asked)
        for (const auto& each : *asked)
            if (ports_.cache().find(each.first) != nullptr) providers.insert(each.first);
    const auto turn = co_await ports_.escrow.turn_for(std::move(providers));
    std::optional<std::string> of_others;
    if (asked && !promised_.none()) of_others = co_await promised_.claimed(*asked, id);
    if (of_others) {
        spdlog::info("gateway: {}: a claim is refused: {}", printable(id.str()), *of_others);
        OwnAnswer refused = no_room(id);
        co_return ProxyAnswer{std::move(refused)};
    }
    co_return co_await send_with_escrow(std::move(request), call, std::move(id), std::move(asked));
}

/// Together with what is kept for it: the room is its own, and no other server had it in between.
Task<ProxyAnswer> ServerClaims::send_with_escrow(HttpRequest request, GatewayCall& call,
                                                 RequestId id, std::optional<Allocations> asked) {
    Escrow& kept = ports_.escrow;
    const std::string path{path_of(request.target)};
    // An escrow consumer may change in between: it is read again then.
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

}  // namespace reaper
