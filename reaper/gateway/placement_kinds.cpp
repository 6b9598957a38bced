// The gateway's third part: searches that say which kind of room they admit.
#include <algorithm>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/gateway/call_words.hpp"
#include "reaper/gateway/placement_gateway.hpp"
#include "reaper/model/text.hpp"
#include "reaper/request_spec/res_type_constraint.hpp"
#include "reaper/request_spec/res_type_query.hpp"

namespace reaper {
namespace {

/// While it is not certain who asks: what the query says counts then.
constexpr Duration patience_for_who{250};
/// A search that was answered claims within.
constexpr Duration claims_within{60'000};

OwnAnswer no_candidates() {
    OwnAnswer answer;
    answer.headers = {{"Content-Type", "application/json"}};
    answer.body = Candidates{}.text();
    return answer;
}

/// As far as is known.
bool has_places(const Candidates& candidates, const std::optional<Request>& wanted) {
    return !candidates.none() && (!wanted || candidates.places() >= wanted->slots);
}

}  // namespace

void PlacementGateway::note_wish(const RequestId& id) {
    const Duration now = dependencies_.cloud.clock.steady();
    std::erase_if(wishes_, [&](const auto& each) { return now - each.second > claims_within; });
    wishes_[id] = now;
}

/// What the query says is certain; who asks may say something else, as in a server's metadata.
Task<ProxyAnswer> PlacementGateway::search_by_type(HttpRequest request, ProxyCall& call,
                                                   PlacementQuery query) {
    const RequestId id = request_of(request.headers);
    ResTypeQuery asked = take_res_type(query);
    request.target = with_query(request.target, asked.rest);
    auto read = read_candidates_query(query);
    auto phases = phases_of(asked.constraints);
    const auto why = why_pass(id, read);
    std::optional<Request> wanted;
    std::optional<Held> held;
    if (!why) {
        held.emplace(counts_);
        wanted = co_await who_says(request, call, *read);
        if (wanted) phases = wanted->phases;
    } else {
        read = Error{Errc::bad_input, *why};  // nobody is helped
    }
    if (!phases) {
        spdlog::warn("gateway: {}: no candidates: {}", printable(id.str()), phases.error().what);
        co_return ProxyAnswer{no_candidates()};
    }
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

/// Whose search it is, and what it says of kinds of room; none if that is not certain.
Task<std::optional<Request>> PlacementGateway::who_says(HttpRequest request, ProxyCall& call,
                                                        CandidatesQuery query) {
    RequestId id = request_of(request.headers);
    std::function<bool()> gone = [&call] { return call.client_gone(); };
    CandidatesQuery asked = query;
    auto found =
        co_await who_asks_.find(std::move(id), std::move(asked), std::move(gone), patience_for_who);
    if (!found) co_return std::nullopt;
    auto* const known = std::get_if<Request>(&*found);
    if (known == nullptr || known->phases_because.empty()) co_return std::nullopt;
    Request wanted = std::move(*known);
    if (narrow(wanted, query)) co_return std::nullopt;
    co_return wanted;
}

/// One kind after the other. `plain`: what Placement said to the search as it is, if it was asked.
Task<PlacementGateway::Asked> PlacementGateway::in_phases(HttpRequest request, ProxyCall& call,
                                                          Result<CandidatesQuery> query,
                                                          Phases phases,
                                                          std::optional<Request> wanted,
                                                          std::optional<Asked> plain) {
    Asked last;
    for (int phase = 1; phase <= (phases.both ? 2 : 1); ++phase) {
        const bool revocable = (phases.first == ResType::revocable) == (phase == 1);
        if (revocable) {
            last = co_await ask_for_revocable(request, call, wanted);
        } else {
            auto known = std::exchange(plain, std::nullopt);
            last = co_await ask_for_regular(request, call, query, phases, wanted, std::move(known));
        }
        // Placement failed.
        if (!last.candidates || last.enough) co_return last;
    }
    co_return last;
}

/// May free room.
Task<PlacementGateway::Asked> PlacementGateway::ask_for_regular(
    HttpRequest request, ProxyCall& call, Result<CandidatesQuery> query, Phases phases,
    std::optional<Request> wanted, std::optional<Asked> plain) {
    Asked first;
    if (plain) {
        first = std::move(*plain);
    } else {
        RequestId id = request_of(request.headers);
        first = co_await ask(request, call, std::move(id), ResType::regular);
    }
    if (!first.candidates) co_return first;
    first.enough = wanted ? is_enough(*first.candidates, *wanted) : !first.candidates->none();
    if (first.enough || !query || passes_through()) co_return first;
    // As of any other search, unless another kind is looked for next.
    const bool last = !phases.both || phases.first == ResType::revocable;
    if (!wanted && last)
        co_return co_await help(std::move(request), call, std::move(*query), std::move(first));
    if (!wanted || dependencies_.why_revocable(*wanted)) co_return first;
    wanted->phases = {};
    co_return co_await serve(std::move(request), call, std::move(*query), std::move(*wanted),
                             std::move(first));
}

/// Of revocable classes. Where no tagger goes by one, room is revocable by whose server is in it.
Task<PlacementGateway::Asked> PlacementGateway::ask_for_revocable(HttpRequest request,
                                                                  ProxyCall& call,
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
    if (classes.empty() && wanted && dependencies_.why_revocable(*wanted))
        searches.push_back(std::move(request));
    Asked last;
    last.answer = no_candidates();
    last.candidates.emplace();
    for (HttpRequest& search : searches) {
        Asked asked = co_await ask(std::move(search), call, id, ResType::revocable);
        // Nobody ever offered any of that class.
        if (status_of(asked.answer) == 400) continue;
        last = std::move(asked);
        if (!last.candidates) co_return last;
        last.enough = has_places(*last.candidates, wanted);
        if (!last.enough) continue;
        ++counts_.revocable;
        note_hosts(id);
        spdlog::info("gateway: {}: revocable room, as it admits it", printable(id.str()));
        co_return last;
    }
    co_return last;
}

}  // namespace reaper
