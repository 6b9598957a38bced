#include "reaper/decision/duties.hpp"

#include <algorithm>

#include "reaper/duties/life_span.hpp"
#include "reaper/duties/watermark.hpp"
#include "reaper/planner/constraint_checker.hpp"
#include "reaper/rooms/room.hpp"

namespace reaper {

bool DutyScope::has(const HostId& host) const {
    return std::ranges::any_of(hosts, [&](const Host* each) { return each->id == host; });
}

std::vector<DutyScope> duty_scopes(const SchedulerRules& rules,
                                   const std::vector<const Host*>& hosts) {
    if (rules.watched.empty()) return {{"the cloud", hosts}};
    std::vector<DutyScope> scopes;
    for (const auto& shard : rules.watched) {
        DutyScope& scope = scopes.emplace_back();
        scope.name = "aggregate " + to_string({shard});
        std::ranges::copy_if(hosts, std::back_inserter(scope.hosts),
                             [&](const Host* host) { return in_shard(host->member_of, shard); });
    }
    return scopes;
}

bool stays_below_marks(const CompiledPolicy& policy, const Request& request,
                       const std::vector<HostSlots>& there, const std::vector<const Host*>& hosts,
                       const Ledger& ledger) {
    for (const DutyScope& scope : duty_scopes(policy.scheduler, hosts)) {
        const bool may_come =
            std::ranges::any_of(there, [&](const HostSlots& each) { return scope.has(each.host); });
        if (!may_come) continue;
        for (const Mark& mark : policy.duties.watermark.marks) {
            const Amount more = request.resources.get(mark.resource_class) * request.slots;
            Usage usage = usage_of(mark.resource_class, scope.hosts, ledger);
            usage.used += more;
            if (more > 0 && usage.above(mark.low)) return false;
        }
    }
    return true;
}

namespace {

using Skipped = std::map<ServerId, std::string>;

const Server* find_corrected(const Host& host, const ServerId& id) {
    const auto at = std::ranges::find(host.servers, id, &Server::id);
    return at == host.servers.end() ? nullptr : &*at;
}

std::vector<DutyScope> scopes_around(const HostId& there, const SchedulerRules& rules,
                                     const CloudIndex& cloud) {
    std::vector<const Host*> hosts;
    for (const std::uint32_t row : cloud.order()) hosts.push_back(cloud.row(row).host);
    auto scopes = duty_scopes(rules, hosts);
    std::erase_if(scopes, [&](const DutyScope& scope) { return !scope.has(there); });
    return scopes;
}

/// What must come free in each of them.
std::vector<Resources> excess_in(const std::vector<DutyScope>& scopes,
                                 const std::vector<Mark>& marks, const Ledger& ledger) {
    std::set<ResourceClass> all;
    for (const Mark& mark : marks) all.insert(mark.resource_class);
    std::vector<Resources> excess;
    for (const DutyScope& scope : scopes) {
        std::set<ResourceClass> over = all;
        excess.push_back(excess_of(marks, scope.hosts, ledger, over));
    }
    return excess;
}

void skip_needless(std::vector<Resources> excess, const Host& host, const Correction& correction,
                   const Ledger& ledger, Skipped& skipped) {
    for (const CorrectedServer& each : correction.servers) {
        const Server* const server = find_corrected(host, each.server);
        if (server == nullptr || skipped.contains(each.server) || ledger.evicting(each.server))
            continue;  // what goes already is no part of the excess
        const Resources held = held_on(*server, host);
        if (ledger.reserved().lender_of(each.server) != nullptr) {
            skipped.emplace(each.server, "the room that it holds goes back to a reservation");
            continue;
        }
        const bool helps = std::ranges::any_of(
            excess, [&](const Resources& of) { return !common(of, held).empty(); });
        if (!helps) skipped.emplace(each.server, "usage is at the low mark by now");
        for (Resources& of : excess)
            if (helps) of = more_than(of, held);
    }
}

void skip_younger(const LifeSpanSettings& settings, const Host& host, const Correction& correction,
                  TimePoint now, Skipped& skipped) {
    for (const CorrectedServer& each : correction.servers) {
        const Server* const server = find_corrected(host, each.server);
        if (server == nullptr) continue;
        if (auto why = why_lives_on(*server, settings, now))
            skipped.emplace(each.server, std::move(*why));
    }
}

}  // namespace

void skip_not_due(const CompiledPolicy& policy, const Request& request, const CloudIndex& cloud,
                  const Ledger& ledger, TimePoint now, Skipped& skipped) {
    const Correction& correction = *request.correction;
    const Host* const host = cloud.find(correction.host);
    const bool of_watermark = request.source == RequestSource::watermark;
    if (host == nullptr || !(of_watermark || request.source == RequestSource::life_span)) return;
    const auto scopes = scopes_around(host->id, policy.scheduler, cloud);
    if (scopes.empty())
        for (const CorrectedServer& each : correction.servers)
            skipped.emplace(each.server, "its host is in none of watched_aggregates");
    else if (of_watermark)
        skip_needless(excess_in(scopes, policy.duties.watermark.marks, ledger), *host, correction,
                      ledger, skipped);
    else
        skip_younger(policy.duties.life_span, *host, correction, now, skipped);
}

void skip_beyond(const Resources& needed, const Correction& correction, const CloudIndex& cloud,
                 const Ledger& ledger, Skipped& skipped) {
    const Host* const host = cloud.find(correction.host);
    if (host == nullptr) return;
    Resources freed;
    for (const CorrectedServer& each : correction.servers) {
        const Server* const server = find_corrected(*host, each.server);
        if (server != nullptr && !skipped.contains(each.server)) freed += held_on(*server, *host);
    }
    for (auto each = correction.servers.rbegin(); each != correction.servers.rend(); ++each) {
        const Server* const server = find_corrected(*host, each->server);
        if (server == nullptr || skipped.contains(each->server)) continue;
        if (ledger.evicting(each->server) || comes_free(*server, ledger)) continue;
        const Resources rest = freed - held_on(*server, *host);
        if (!needed.fits_in(rest)) continue;
        freed = rest;
        skipped.emplace(each->server, "what it was to go for is over by now");
    }
}

}  // namespace reaper
