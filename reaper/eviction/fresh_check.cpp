#include "reaper/eviction/fresh_check.hpp"

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

}  // namespace

FreshVerdict judge_fresh(const Victim& victim, const std::optional<ServerRecord>& record,
                         const Allocations& allocations, const FreshRules& rules, TimePoint now) {
    const bool holds_room = !allocations.empty();
    if (!record || record->server.status == "DELETED")
        return holds_room
                   ? FreshVerdict{Kind::going, "Nova knows it no more; its room is on the way"}
                   : FreshVerdict{Kind::vanished, "it was gone already"};

    Server server = record->server;
    server.allocations = allocations;
    if (!why_revocable(server, rules.taggers, rules.tag_data))
        return {Kind::unfit, "it is not revocable any more"};
    if (server.host != victim.host && !server.host.empty())
        return {Kind::unfit,
                "it moved from " + printable(victim.host) + " to " + printable(server.host)};
    if (server.locked) return {Kind::unfit, "it is locked"};
    const bool soft_deleted = server.status == "SOFT_DELETED";
    if (soft_deleted && server.task_state.empty()) {
        // It can be given back as long as nobody forces it.
        if (const auto why = rules.protection.why(server)) return {Kind::unfit, *why};
        return {Kind::soft_deleted, "it is soft-deleted and keeps its room"};
    }
    if (is_being_deleted(server))
        return {Kind::going, "it is being deleted by somebody else (" + server.task_state + ")"};
    if (const auto why_not = why_no_victim(server)) return {Kind::unfit, *why_not};
    if (const auto why = rules.protection.why(server)) return {Kind::unfit, *why};
    if (const auto why = why_too_young(server, rules.min_run_time, now)) return {Kind::unfit, *why};
    if (!victim.resources.fits_in(total(allocations)))
        return {Kind::unfit, "it holds " + to_string(total(allocations)) + ", not the planned " +
                                 to_string(victim.resources)};
    return {Kind::fit, {}};
}

}  // namespace reaper
