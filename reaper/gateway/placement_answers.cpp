// What Placement says to a search, without what is somebody else's.
#include <algorithm>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/gateway/call_words.hpp"
#include "reaper/gateway/placement_gateway.hpp"
#include "reaper/model/text.hpp"

namespace reaper {
namespace {

/// An answer that is longer has many candidates: it is looked into only if all have to be, or some
/// of them may be promised.
constexpr std::size_t short_answer = 64UL * 1024;
/// An answer that is longer passes as it is.
constexpr std::size_t longest_answer = 32UL * 1024 * 1024;
/// A capped answer with fewer places may hide others.
constexpr Amount few_left = 16;
constexpr std::size_t highest_limit = 100'000;
/// Hosts that are asked for one by one, at most.
constexpr int most_hidden = 8;

bool asks_for_a_host(const PlacementQuery& query) {
    return std::any_of(query.begin(), query.end(),
                       [](const auto& each) { return each.first.starts_with("in_tree"); });
}

}  // namespace

/// `only`: hosts that are not declared to be of the other kind. `whole`: it is read, however many
/// hosts it names. Of a capped answer, what is promised to others may be all: then there may be
/// more.
Task<PlacementGateway::Asked> PlacementGateway::ask(HttpRequest request, GatewayCall& call,
                                                    RequestId id, std::optional<ResType> only,
                                                    bool whole) {
    const bool every = whole || (only && some_host_is_declared());
    Asked asked = co_await ask_once(request, call, id, only, every);
    auto limit = limit_of(request.target);
    while (limit && *limit < highest_limit && asked.candidates && asked.withheld &&
           asked.told >= *limit && usable_places(*asked.candidates) < few_left) {
        limit = std::min(*limit * 10, highest_limit);
        request.target = with_limit(request.target, *limit);
        Asked more = co_await ask_once(request, call, id, only, true);
        if (!more.candidates) break;
        asked = std::move(more);
    }
    co_return asked;
}

/// Placement may be set up to name only so many candidates, whatever it is asked
/// (`max_allocation_candidates`). Hosts where the request has room by now, and that are not named,
/// are asked for one by one.
Task<void> PlacementGateway::add_hidden_hosts(HttpRequest request, GatewayCall& call, RequestId id,
                                              std::optional<ResType> only, Asked& asked) {
    const auto parameters = parameters_of(request.target);
    if (asked.told == 0 || !parameters || asks_for_a_host(*parameters)) co_return;
    std::set<HostId> hidden;
    for (const auto* const promise : dependencies_.rooms.ledger().promises_of(id))
        if (promise->kept() > 0) hidden.insert(promise->host);
    for (const HostId& named : asked.candidates->hosts()) hidden.erase(named);
    // Of its own room there, Placement knows no candidate.
    for (const KeptRoom& room : dependencies_.kept_rooms.kept_for(id)) hidden.erase(room.host);
    bool more = false;
    int left = most_hidden;
    for (const HostId& host : hidden) {
        if (left-- == 0) break;
        PlacementQuery there = *parameters;
        there.emplace_back("in_tree", host.str());
        HttpRequest of_host = request;
        of_host.target = with_query(request.target, there);
        RequestId who = id;
        const Asked found = co_await ask_once(std::move(of_host), call, std::move(who), only, true);
        if (!found.candidates || found.candidates->none()) continue;
        asked.candidates->join(*found.candidates);
        more = true;
    }
    if (more) asked.answer = own_answer(*asked.candidates);
}

Task<PlacementGateway::Asked> PlacementGateway::ask_once(HttpRequest request, GatewayCall& call,
                                                         RequestId id, std::optional<ResType> only,
                                                         bool every) {
    Asked asked{Error{}};
    auto answered = co_await call.ask(std::move(request));
    if (!answered) {
        asked.answer = answered.error();
        co_return asked;
    }
    UpstreamAnswer& answer = **answered;
    if (answer.status() != 200) {
        asked.answer = std::move(*answered);
        co_return asked;
    }
    std::optional<AsyncSemaphore::Permit> turn;
    auto whole = co_await answer.read_all(short_answer);
    const bool more = whole && *whole == BodyRead::too_large;
    if (more && (every || !promised_.none())) {
        turn.emplace(co_await long_answers_.acquire());
        whole = co_await answer.read_all(longest_answer);
    }
    asked.answer = std::move(*answered);
    if (!whole || *whole != BodyRead::whole) co_return asked;
    const bool as_it_is = !every && !only;
    if (as_it_is && names_many_hosts(answer.body(), id)) co_return asked;
    auto candidates = Candidates::read(answer.body());
    if (!candidates) {
        spdlog::warn("gateway: Placement's candidates can't be read, they pass as they are: {}",
                     candidates.error().what);
        co_return asked;
    }
    const bool others = only && candidates->keep_to(*only);
    asked.had_hosts = !candidates->none();
    asked.told = candidates->count();
    auto hosts = candidates->hosts();
    RequestId asking = id;
    auto kept = co_await promised_.withheld(std::move(hosts), std::move(asking));
    const bool kept_back = candidates->withhold([&](const HostId& host) {
        const auto at = kept.find(host);
        return at == kept.end() ? Resources{} : at->second;
    });
    if (kept_back) note_hosts(id);
    asked.withheld = kept_back;
    if (kept_back || others) {
        OwnAnswer own;
        own.status = answer.status();
        own.reason = answer.reason();
        own.headers = answer.headers();
        own.body = candidates->text();
        asked.answer = std::move(own);
    }
    asked.candidates = std::move(*candidates);
    co_return asked;
}

/// Is any host of one kind of room alone?
bool PlacementGateway::some_host_is_declared() const {
    const auto& profiles = dependencies_.refresher.cache().index().names().profiles();
    return std::any_of(profiles.begin(), profiles.end(), [](const Profile& profile) {
        return declared_type(profile.root_traits).has_value();
    });
}

}  // namespace reaper
