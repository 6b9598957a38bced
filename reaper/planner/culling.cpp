#include "reaper/planner/culling.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "reaper/planner/constraint_checker.hpp"
#include "reaper/planner/filter.hpp"

namespace reaper {
namespace {

std::map<ProviderId, std::map<ResourceClass, ClassUse>> uses_of(const Host& host,
                                                                const HostRoom& room,
                                                                const Shape& shape) {
    std::map<ProviderId, std::map<ResourceClass, ClassUse>> all;
    for (const auto& pool : room.pools) {
        const auto provider =
            std::find_if(host.providers.begin(), host.providers.end(),
                         [&](const Provider& each) { return each.id == pool.provider; });
        if (provider == host.providers.end()) continue;
        const ResourceClass& wanted = shape[pool.need].resource_class;
        all[pool.provider][wanted] = ClassUse{provider->used.get(wanted), pool.capacity};
    }
    return all;
}

/// Hosts that are for some projects alone are there for the question.
SchedulerRules of_no_project(SchedulerRules rules) {
    rules.tenant_filter = false;
    rules.own_aggregates = SchedulerRules::OwnAggregates::off;
    return rules;
}

}  // namespace

struct CullingQuestion::Way {
    Way(Request asked, const SchedulerRules& rules, const CloudIndex& cloud, const Ledger& ledger)
        : request{std::move(asked)}, shape{shape_of(request)} {
        if (!request.flavor.empty()) checker.emplace(request, &rules, cloud, ledger);
    }
    std::optional<CullingCandidate> candidate(const Host& host, const Ledger& ledger,
                                              const Protection& protection) const;

    const Request request;
    const Shape shape;
    std::optional<ConstraintChecker> checker;
};

std::optional<CullingCandidate> CullingQuestion::Way::candidate(
    const Host& host, const Ledger& ledger, const Protection& protection) const {
    if (shape.empty()) return std::nullopt;
    const std::map<ServerId, std::string> none_skipped;
    FilterInput input{request, shape, ledger, none_skipped, &protection};
    if (checker) input.checker = &*checker;
    input.wanted = 1;
    const auto found = filter_host(host, input);
    const auto* const option = std::get_if<HostOption>(&found);
    if (option == nullptr) return std::nullopt;
    CullingCandidate made;
    made.host = host.id;
    made.host_name = host.name;
    made.has_room = option->slots_ready > 0;
    made.providers = uses_of(host, option->room, shape);
    for (const auto& victim : option->candidates)
        for (const auto& [provider, held] : victim.server->allocations)
            if (!held.empty()) made.preemptible[provider][victim.server->id] = held;
    return made;
}

CullingQuestion::CullingQuestion(Request request, SchedulerRules rules, const CloudIndex& cloud,
                                 const Ledger& ledger)
    : rules_{of_no_project(std::move(rules))},
      second_{request.fallback && rules_.pcpu_fallback
                  ? std::make_unique<Way>(by_fallback(request), rules_, cloud, ledger)
                  : nullptr} {
    first_ = std::make_unique<Way>(std::move(request), rules_, cloud, ledger);
}

CullingQuestion::~CullingQuestion() = default;

const Request& CullingQuestion::request() const {
    return first_->request;
}

std::optional<CullingCandidate> CullingQuestion::candidate(const Host& host, const Ledger& ledger,
                                                           const Protection& protection) const {
    auto found = first_->candidate(host, ledger, protection);
    if (found || second_ == nullptr) return found;
    return second_->candidate(host, ledger, protection);
}

}  // namespace reaper
