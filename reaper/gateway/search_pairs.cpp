#include "reaper/gateway/search_pairs.hpp"

#include <limits>

#include "reaper/gateway/call_words.hpp"
#include "reaper/gateway/places.hpp"

namespace reaper {
namespace {

const ResourceClass dedicated_class{"PCPU"};
const ResourceClass shared_class{"VCPU"};
/// The second search follows at once, but for the first one's wait.
constexpr Duration second_within = std::chrono::minutes{5};

bool is_dedicated(const Resources& amounts) {
    return amounts.get(dedicated_class) > 0;
}

/// Both searches of a pair ask for the same of these.
Resources besides_cpus_of(Resources amounts) {
    amounts.set(dedicated_class, 0);
    amounts.set(shared_class, 0);
    return amounts;
}

}  // namespace

void SearchPairs::note(const RequestId& id, const CandidatesQuery& query,
                       const SearchAnswer& asked) {
    if (id.empty() || !is_dedicated(query.shape.resources)) return;
    const Duration now = ports_.steady();
    std::erase_if(firsts_, [&](const auto& each) { return now - each.second.at > second_within; });
    First& known = firsts_[id];
    known = First{now, 0, {}, asked.enough, besides_cpus_of(query.shape.resources)};
    if (!asked.candidates) {
        // One that was not read has many; after a failure, Nova has none.
        known.enough = status_of(asked.answer) == 200;
        return;
    }
    known.places = usable_places(ports_.cache(), *asked.candidates);
    known.hosts = asked.candidates->hosts();
}

bool SearchPairs::is_second(const RequestId& id, const CandidatesQuery& query) const {
    const auto& amounts = query.shape.resources;
    const auto first = firsts_.find(id);
    return first != firsts_.end() && !is_dedicated(amounts) &&
           first->second.besides_cpus == besides_cpus_of(amounts);
}

Amount SearchPairs::places(const RequestId& id, const Candidates& second) const {
    const First& first = firsts_.at(id);
    if (first.enough) return std::numeric_limits<Amount>::max();
    return first.places + second.places_besides(first.hosts);
}

bool SearchPairs::has_room_of_the_other_kind(const RequestId& id,
                                             const CandidatesQuery& query) const {
    bool other = false;
    for (const auto* const promise : ports_.ledger().promises_of(id)) {
        if (promise->kept() == 0) continue;
        if (is_dedicated(promise->slot) == is_dedicated(query.shape.resources)) return false;
        other = true;
    }
    return other;
}

std::optional<std::string> SearchPairs::why_second_passes(const Request& wanted,
                                                          const CandidatesQuery& query) const {
    if (asked_as(wanted, query) != AskedAs::fallback || is_second(wanted.id, query))
        return std::nullopt;
    return "the answer to its first search, for dedicated CPUs, is not known";
}

Task<bool> SearchPairs::found_by_fallback(HttpRequest request, GatewayCall& call, Request wanted,
                                          std::optional<ResType> only, const Candidates& first) {
    const auto parameters = parameters_of(request.target);
    if (!parameters) co_return false;
    const auto hosts = first.hosts();
    const Amount places = usable_places(ports_.cache(), first);
    RequestId id = wanted.id;
    request.target = with_query(request.target, fallback_query(*parameters, wanted));
    const SearchAnswer other =
        co_await answers_.ask(std::move(request), call, std::move(id), only, true);
    co_return other.candidates && !other.candidates->none() &&
        places + other.candidates->places_besides(hosts) >= wanted.slots;
}

}  // namespace reaper
