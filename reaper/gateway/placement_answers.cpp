// What Placement says to a search, without what is somebody else's.
#include <algorithm>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/gateway/call_words.hpp"
#include "reaper/gateway/placement_gateway.hpp"
#include "reaper/model/text.hpp"

namespace reaper {
namespace {

/// An answer that is longer has many candidates.
constexpr std::size_t short_answer = 64UL * 1024;
/// An answer that is longer passes as it is.
constexpr std::size_t longest_answer = 32UL * 1024 * 1024;

}  // namespace

/// `only`: hosts that are not declared to be of the other kind.
Task<PlacementGateway::Asked> PlacementGateway::ask(HttpRequest request, ProxyCall& call,
                                                    RequestId id, std::optional<ResType> only) {
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
    const bool every = only && some_host_is_declared();
    auto whole = co_await read(answer, every);
    asked.answer = std::move(*answered);
    if (!whole || *whole != BodyRead::whole) co_return asked;
    auto candidates = Candidates::read(answer.body());
    if (!candidates) {
        spdlog::warn("gateway: Placement's candidates can't be read, they pass as they are: {}",
                     candidates.error().what);
        co_return asked;
    }
    const bool others = only && candidates->keep_to(*only);
    asked.had_hosts = !candidates->none();
    auto hosts = candidates->hosts();
    RequestId asking = id;
    auto kept = co_await promised_.withheld(std::move(hosts), std::move(asking));
    const bool kept_back = candidates->withhold([&](const HostId& host) {
        const auto at = kept.find(host);
        return at == kept.end() ? Resources{} : at->second;
    });
    if (kept_back) note_hosts(id);
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

/// A long answer has many candidates: it is looked into only if all have to be, or some of them may
/// be promised.
ResultTask<BodyRead> PlacementGateway::read(UpstreamAnswer& answer, bool whole) {
    auto read = co_await answer.read_all(short_answer);
    const bool more = read && *read == BodyRead::too_large;
    if (!more || (!whole && promised_.none())) co_return read;
    const auto turn = co_await long_answers_.acquire();
    co_return co_await answer.read_all(longest_answer);
}

/// Nova asks for dedicated CPUs first, and then for the same as VCPU, and takes either.
Task<bool> PlacementGateway::found_by_fallback(HttpRequest request, ProxyCall& call, Request wanted,
                                               std::optional<ResType> only) {
    const auto parameters = parameters_of(request.target);
    if (!parameters) co_return false;
    RequestId id = wanted.id;
    request.target = with_query(request.target, fallback_query(*parameters, wanted));
    const Asked other = co_await ask(std::move(request), call, std::move(id), only);
    co_return other.candidates && !other.candidates->none() &&
        other.candidates->places() >= wanted.slots;
}

}  // namespace reaper
