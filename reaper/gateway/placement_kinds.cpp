// The gateway's third part: searches that say which kind of room they admit.
#include <algorithm>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/gateway/call_words.hpp"
#include "reaper/gateway/placement_gateway.hpp"
#include "reaper/model/text.hpp"
#include "reaper/request_spec/res_type_query.hpp"

namespace reaper {
namespace {

/// While it is not certain who asks: what the query says counts then.
constexpr Duration patience_for_who{250};
/// A search that was answered claims within.
constexpr Duration claims_within{60'000};

}  // namespace

void PlacementGateway::note_wish(const RequestId& id) {
    const Duration now = dependencies_.cloud.clock.steady();
    std::erase_if(wishes_, [&](const auto& each) { return now - each.second > claims_within; });
    wishes_[id] = now;
}

/// What the query says is certain; who asks may say something else, as in a server's metadata.
Task<ProxyAnswer> PlacementGateway::search_by_type(HttpRequest request, GatewayCall& call,
                                                   PlacementQuery query) {
    const RequestId id = request_of(request.headers);
    ResTypeQuery asked = take_res_type(query);
    request.target = with_query(request.target, asked.rest);
    auto read = read_candidates_query(query);
    auto phases = phases_of(asked.constraints);
    const auto why = why_pass(id, read);
    std::optional<Request> wanted;
    std::optional<Counted> looking;
    if (!why) {
        looking.emplace(counts_.looking);
        Said said = co_await who_says(request, call, *read);
        if (auto* const known = std::get_if<Request>(&said)) wanted = std::move(*known);
        if (wanted) phases = wanted->phases;
        if (const auto* const refused = std::get_if<Refused>(&said))
            phases = Error{Errc::bad_input, refused->reason};
    } else {
        read = Error{Errc::bad_input, *why};  // nobody is helped
    }
    // Who says two things, or admits nothing, is refused, as by metadata.
    if (!phases) co_return refuse(id, phases.error().what).answer;
    note_wish(id);
    Asked last = co_await in_phases(std::move(request), call, std::move(read), *phases,
                                    std::move(wanted), std::nullopt);
    const bool none = last.candidates && last.candidates->none();
    if (none && why) pass(id, *why);
    if (none && !why && !phases->admits(ResType::regular))
        spdlog::info("gateway: {}: no candidates: it admits revocable room alone, and none is free",
                     printable(id.str()));
    co_return std::move(last.answer);
}

/// Whose search it is, and what it says of kinds of room; nothing if that is not certain.
Task<PlacementGateway::Said> PlacementGateway::who_says(HttpRequest request, GatewayCall& call,
                                                        CandidatesQuery query) {
    RequestId id = request_of(request.headers);
    auto look = begin(requester_resolver_.find(std::move(id), query, patience_for_who));
    auto found = co_await in_time(call, std::move(look), short_look);
    if (!found) co_return Said{};
    if (auto* const refused = std::get_if<Refused>(&*found); refused && refused->no_room_at_all)
        co_return Said{std::move(*refused)};
    auto* const known = std::get_if<Request>(&*found);
    if (known == nullptr || known->phases_because.empty()) co_return Said{};
    if (why_second_passes(*known, query)) co_return Said{};
    Request wanted = std::move(*known);
    if (narrow(wanted, query)) co_return Said{};
    co_return Said{std::move(wanted)};
}

/// One kind after the other. `plain`: what Placement said to the search as it is, if it was asked.
Task<PlacementGateway::Asked> PlacementGateway::in_phases(HttpRequest request, GatewayCall& call,
                                                          Result<CandidatesQuery> query,
                                                          Phases phases,
                                                          std::optional<Request> wanted,
                                                          std::optional<Asked> plain) {
    std::optional<Asked> regular, revocable;
    for (int phase = 1; phase <= (phases.both ? 2 : 1); ++phase) {
        const bool of_revocable = (phases.first == ResType::revocable) == (phase == 1);
        std::optional<Asked>& asked = of_revocable ? revocable : regular;
        if (of_revocable) {
            asked = co_await ask_for_revocable(request, call, wanted);
            note_revocable(request_of(request.headers), *asked);
        } else {
            auto known = std::exchange(plain, std::nullopt);
            asked = co_await ask_for_regular(request, call, query, wanted, std::move(known));
        }
        // Or Placement failed.
        if (!asked->candidates || asked->enough) co_return std::move(*asked);
    }
    // As of any other search: hosts may be offered, and a claim tells who asks.
    if (regular && !wanted && query && !passes_through())
        regular = co_await help(std::move(request), call, std::move(*query), std::move(*regular));
    // Some places are better than none, and Placement's answer to what was asked is the best of
    // none.
    const bool some = revocable && revocable->candidates && !revocable->candidates->none();
    const bool told =
        regular && (!regular->candidates || regular->enough || !regular->candidates->tells_none());
    if (told || (regular && !some)) co_return std::move(*regular);
    co_return std::move(*revocable);
}

void PlacementGateway::note_revocable(const RequestId& id, const Asked& asked) {
    if (!asked.enough || !asked.candidates || asked.candidates->none()) return;
    ++counts_.revocable;
    note_hosts(id);
    spdlog::info("gateway: {}: revocable room, as it admits it", printable(id.str()));
}

/// May free room.
Task<PlacementGateway::Asked> PlacementGateway::ask_for_regular(HttpRequest request,
                                                                GatewayCall& call,
                                                                Result<CandidatesQuery> query,
                                                                std::optional<Request> wanted,
                                                                std::optional<Asked> plain) {
    Asked first;
    if (plain) {
        first = std::move(*plain);
    } else {
        RequestId id = request_of(request.headers);
        first = co_await ask(request, call, std::move(id), ResType::regular);
    }
    if (!first.candidates) co_return first;
    first.enough = wanted ? is_enough(*first.candidates, *wanted) : !first.candidates->none();
    if (first.enough || !query || !wanted || passes_through()) co_return first;
    if (dependencies_.why_revocable(*wanted)) co_return first;
    wanted->phases = {};
    co_return co_await serve(std::move(request), call, std::move(*query), std::move(*wanted),
                             std::move(first));
}

/// Of revocable classes. Where no tagger goes by one, room is revocable by whose server is in it.
Task<PlacementGateway::Asked> PlacementGateway::ask_for_revocable(HttpRequest request,
                                                                  GatewayCall& call,
                                                                  std::optional<Request> wanted) {
    const RequestId id = request_of(request.headers);
    const auto parameters = parameters_of(request.target);
    const auto classes = dependencies_.revocable_classes();
    std::vector<HttpRequest> searches;
    for (const ResourceClass& offered : classes) {
        const auto query = as_revocable_query(*parameters, offered);
        if (!query) continue;
        searches.push_back(request);
        searches.back().target = with_query(request.target, *query);
    }
    const bool regular = wanted && !dependencies_.why_revocable(*wanted);
    if (classes.empty() && !regular) searches.push_back(request);
    Asked last;
    last.answer = own_answer(Candidates{});
    last.candidates.emplace();
    for (bool told = false; HttpRequest & search : searches) {
        Asked asked = co_await ask(std::move(search), call, id, ResType::revocable);
        // So it is where nobody ever offered any of that class.
        const bool refused = status_of(asked.answer) == 400;
        if (refused && !told) last.answer = std::move(asked.answer);
        if (refused) continue;
        if (!asked.candidates) co_return asked;
        asked.enough = !asked.candidates->none();
        if (wanted) asked.enough = places_for(*wanted, *asked.candidates) >= wanted->slots;
        const bool more = !told || asked.candidates->places() > last.candidates->places();
        told = true;
        if (more || asked.enough) last = std::move(asked);
        if (last.enough) co_return last;
    }
    const bool pair = wanted && wanted->fallback && dependencies_.scheduler().pcpu_fallback;
    if (!pair) co_return last;
    last.enough = co_await revocable_by_fallback(std::move(request), call, std::move(*wanted));
    co_return last;
}

/// Nova asks for dedicated CPUs first, and then for the same as VCPU: is there room for that?
Task<bool> PlacementGateway::revocable_by_fallback(HttpRequest request, GatewayCall& call,
                                                   Request wanted) {
    const auto parameters = parameters_of(request.target);
    request.target = with_query(request.target, fallback_query(*parameters, wanted));
    wanted.fallback.reset();
    const Asked other = co_await ask_for_revocable(std::move(request), call, std::move(wanted));
    co_return other.enough;
}

}  // namespace reaper
