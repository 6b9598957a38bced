// The gateway's fourth part: dedicated CPUs, for which Nova asks twice: as PCPU, and then for the
// same as VCPU. It takes the hosts of both answers, so one cull is for the two.
#include <algorithm>
#include <limits>
#include <spdlog/spdlog.h>

#include "reaper/gateway/call_words.hpp"
#include "reaper/gateway/placement_gateway.hpp"

namespace reaper {
namespace {

const ResourceClass dedicated_class{"PCPU"};
/// The second search follows at once, but for the first one's wait.
constexpr Duration second_within = std::chrono::minutes{5};

bool is_dedicated(const Resources& amounts) {
    return amounts.get(dedicated_class) > 0;
}

}  // namespace

const CandidatesQuery& PlacementGateway::Offer::query_of(const Resources& amounts) const {
    const auto its = std::find_if(queries.rbegin(), queries.rend(), [&](const auto& each) {
        return each.shape.resources == amounts;
    });
    return its == queries.rend() ? queries.back() : *its;
}

/// What the first search of a pair is told.
void PlacementGateway::note_dedicated(const RequestId& id, const CandidatesQuery& query,
                                      const Asked& asked) {
    if (id.empty() || !is_dedicated(query.shape.resources)) return;
    const Duration now = dependencies_.cloud.clock.steady();
    std::erase_if(dedicated_,
                  [&](const auto& each) { return now - each.second.at > second_within; });
    Dedicated& known = dedicated_[id];
    known = Dedicated{now, 0, {}, asked.enough};
    if (!asked.candidates) {
        // One that was not read has many; after a failure, Nova has none.
        known.enough = status_of(asked.answer) == 200;
        return;
    }
    known.places = usable_places(*asked.candidates);
    known.hosts = asked.candidates->hosts();
}

bool PlacementGateway::is_second_of_pair(const RequestId& id, const CandidatesQuery& query) const {
    return !is_dedicated(query.shape.resources) && dedicated_.contains(id);
}

/// Of both searches; each host counts once.
Amount PlacementGateway::places_of_pair(const RequestId& id, const Candidates& second) const {
    const Dedicated& first = dedicated_.at(id);
    if (first.enough) return std::numeric_limits<Amount>::max();
    return first.places + second.places_besides(first.hosts);
}

/// Room was freed for the request, and nova-scheduler hears of it by the other search.
bool PlacementGateway::has_room_of_the_other_kind(const RequestId& id,
                                                  const CandidatesQuery& query) const {
    bool other = false;
    for (const auto* const promise : dependencies_.rooms.ledger().promises_of(id)) {
        if (promise->kept() == 0) continue;
        if (is_dedicated(promise->slot) == is_dedicated(query.shape.resources)) return false;
        other = true;
    }
    return other;
}

/// A second search whose first one is not known: it may have found hosts.
std::optional<std::string> PlacementGateway::why_second_passes(const Request& wanted,
                                                               const CandidatesQuery& query) const {
    if (asked_as(wanted, query) != AskedAs::fallback || dedicated_.contains(wanted.id))
        return std::nullopt;
    return "what its first search was told, for dedicated CPUs, is not known";
}

/// Do both of Nova's searches have places for it? `first`: what the first one was told.
Task<bool> PlacementGateway::found_by_fallback(HttpRequest request, GatewayCall& call,
                                               Request wanted, std::optional<ResType> only,
                                               const Candidates& first) {
    const auto parameters = parameters_of(request.target);
    if (!parameters) co_return false;
    const auto hosts = first.hosts();
    const Amount places = usable_places(first);
    RequestId id = wanted.id;
    request.target = with_query(request.target, fallback_query(*parameters, wanted));
    const Asked other = co_await ask(std::move(request), call, std::move(id), only, true);
    co_return other.candidates && !other.candidates->none() &&
        places + other.candidates->places_besides(hosts) >= wanted.slots;
}

}  // namespace reaper
