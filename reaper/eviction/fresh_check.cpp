#include "reaper/eviction/fresh_check.hpp"

#include <algorithm>

#include "reaper/model/text.hpp"
#include "reaper/planner/eligibility.hpp"

namespace reaper {
namespace {

using Kind = FreshVerdict::Kind;

Resources total(const Allocations& allocations) {
    Resources sum;
    for (const auto& [provider, held] : allocations) sum += held;
    return sum;
}

HostAggregates aggregates_of(const std::string& service_host,
                             const std::vector<AggregateRecord>& all) {
    HostAggregates found;
    for (const auto& each : all)
        if (std::find(each.hosts.begin(), each.hosts.end(), service_host) != each.hosts.end())
            found.emplace(each.uuid, HostAggregate{each.name, each.metadata});
    return found;
}

/// What an administrator or an operator did to keep it.
std::optional<std::string> why_protected(const Server& server, LockHolder lock,
                                         const FreshRules& rules) {
    if (server.locked)
        if (auto why = why_lock_counts(lock)) return why;
    return rules.protection.why(server, aggregates_of(server.host, rules.aggregates));
}

}  // namespace

FreshVerdict judge_fresh(const Victim& victim, const FreshSight& sight, const FreshRules& rules,
                         TimePoint now) {
    const auto& record = sight.record;
    const Allocations& allocations = sight.allocations;
    const bool holds_room = !allocations.empty();
    if (!record || record->server.status == "DELETED")
        return holds_room
                   ? FreshVerdict{Kind::going, "Nova knows it no more; its room is on the way"}
                   : FreshVerdict{Kind::vanished, "it was gone already"};

    Server server = record->server;
    server.allocations = sight.own;
    if (!why_revocable(server, rules.taggers, rules.tag_data))
        return {Kind::unfit, "it is not revocable any more"};
    const bool elsewhere = !victim.held_by.empty();
    if (elsewhere && server.status != "VERIFY_RESIZE" && !is_being_deleted(server))
        return {Kind::unfit, "its resize was confirmed or taken back"};
    if (!elsewhere && server.host != victim.host && !server.host.empty())
        return {Kind::unfit,
                "it moved from " + printable(victim.host) + " to " + printable(server.host)};
    const auto kept = why_protected(server, sight.lock, rules);
    const bool soft_deleted = server.status == "SOFT_DELETED";
    if (soft_deleted && server.task_state.empty()) {
        // It can be given back as long as nobody forces it.
        if (kept) return {Kind::unfit, *kept};
        return {Kind::soft_deleted, "it is soft-deleted and keeps its room"};
    }
    if (is_being_deleted(server))
        return {Kind::going, "it is being deleted by somebody else (" + server.task_state + ")"};
    if (const auto why_not = why_no_victim(server)) return {Kind::unfit, *why_not};
    if (kept) return {Kind::unfit, *kept};
    if (const auto why = why_too_young(server, rules.min_run_time, now)) return {Kind::unfit, *why};
    if (!victim.resources.fits_in(total(allocations)))
        return {Kind::unfit, "it holds " + to_string(total(allocations)) + ", not the planned " +
                                 to_string(victim.resources)};
    return {Kind::fit, {}};
}

}  // namespace reaper
