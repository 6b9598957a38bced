#include "reaper/planner/explain.hpp"

#include <algorithm>
#include <map>

#include "reaper/model/text.hpp"
#include "reaper/planner/pending_releases.hpp"

namespace reaper {
namespace {

HostPlan host_plan(const Problem& problem, const HostOption& option, const OnHost& chosen) {
    HostPlan plan;
    plan.host = option.host->id;
    plan.host_name = option.host->name;
    plan.slots = to_int(chosen.slots);
    plan.slots_ready = to_int(std::min(chosen.slots, option.slots_ready));
    const auto totals = [&](const ByPool& room) {
        return named(problem.shape, option.room.totals(problem.shape, room));
    };
    plan.free_before = totals(option.room.room_now());
    const ByPool after = room_without(option, chosen.victims);
    plan.free_after = totals(after);
    plan.pending_releases = pending_for(option.room, problem.shape, after, chosen.slots);
    return plan;
}

/// Why this victim is needed, given the others.
std::string why_needed(const Problem& problem, const HostOption& option, const OnHost& chosen,
                       std::size_t victim) {
    auto others = chosen.victims;
    std::erase(others, victim);
    return "needed: keeping it leaves the host " +
           option.room.shortage(problem.shape, room_without(option, others), chosen.slots) +
           " short for " + counted(chosen.slots, "slot");
}

std::string why_revocable(const Server& server) {
    const std::string why = server.revocable_because.value_or("");
    return server.revocable_by.empty() ? why : why + " (tagger " + server.revocable_by + ")";
}

Victim explain_victim(const Problem& problem, const HostOption& option, const OnHost& chosen,
                      std::size_t victim) {
    const Server& server = *option.candidates[victim].server;
    Victim told{server.id,
                server.name,
                server.project,
                server.host,
                held_on(server, *option.host),
                server.created,
                why_revocable(server) + "; " + why_needed(problem, option, chosen, victim)};
    told.flavor = server.flavor_name;
    told.held_by = server.held_by;
    if (!told.held_by.empty()) told.reason += "; its unconfirmed resize left it there";
    return told;
}

std::string why_ready(const HostOption& option, const HostPlan& plan) {
    return "has room for " + counted(option.slots_ready, "slot") + " without a " +
           (plan.pending_releases.empty() ? "" : "further ") + "deletion";
}

}  // namespace

NothingToDo room_is_there(const Problem& problem, Amount requested) {
    std::map<std::size_t, Amount> taken;  // slots by host
    Amount open = requested;
    // Room that is there at once comes before room that is still on its way.
    for (const bool at_once : {true, false})
        for (std::size_t host = 0; host < problem.hosts.size() && open > 0; ++host) {
            if (problem.hosts.ready(host) <= 0) continue;
            const auto& option = problem.hosts[host];
            const Amount there =
                at_once ? std::min(option.max_slots, slots_at_once(option.room, problem.shape,
                                                                   option.room.room_now()))
                        : option.slots_ready;
            const auto at = taken.find(host);
            const Amount more = std::min(open, there - (at == taken.end() ? 0 : at->second));
            if (more <= 0) continue;
            taken[host] += more;
            open -= more;
        }
    NothingToDo answer;
    for (const auto& [host, slots] : taken) {
        const auto& option = problem.hosts[host];
        answer.hosts.push_back(host_plan(problem, option, OnHost{{}, slots}));
        answer.hosts.back().reason = why_ready(option, answer.hosts.back());
    }
    const auto going = static_cast<Amount>(answer.pending_releases().size());
    answer.reason =
        "room for " + counted(requested, "slot") +
        (going == 0 ? " is there already, on "
                    : " comes free without a further deletion, when " + counted(going, "server") +
                          " on the way out " + (going == 1 ? "is" : "are") + " gone, on ") +
        (answer.hosts.size() == 1 ? answer.hosts.front().host_name
                                  : counted(answer.hosts.size(), "host"));
    return answer;
}

HostPlan explain_host(const Problem& problem, std::size_t host, const OnHost& chosen,
                      const Selection& selection) {
    const auto& option = problem.hosts[host];
    HostPlan plan = host_plan(problem, option, chosen);
    for (const std::size_t victim : chosen.victims)
        plan.victims.push_back(explain_victim(problem, option, chosen, victim));
    if (option.slots_ready > 0) plan.reason = why_ready(option, plan);
    if (chosen.victims.empty()) return plan;
    const auto at = selection.hosts.find(host);
    if (at != selection.hosts.end() && !at->second.reason.empty())
        plan.reason += (plan.reason.empty() ? "" : "; ") + at->second.reason;
    return plan;
}

Rejection too_few_slots(const HostOption& option, Amount requested) {
    const std::string how = option.candidates.empty()
                                ? ""
                                : ", even if its " +
                                      counted(option.candidates.size(), "revocable server") +
                                      " were deleted";
    return Rejection{option.host->id, option.host->name, RejectionCode::not_enough_revocable,
                     "gives " + counted(option.slots_possible, "slot") + " of the " +
                         std::to_string(requested) + " requested" + how};
}

Rejection over_limit(const HostOption& option) {
    return Rejection{option.host->id, option.host->name, RejectionCode::over_limit,
                     "gives " + counted(option.slots_possible, "slot") +
                         ", but no way within the limits was found with it"};
}

std::string why_over_limit(const BudgetCounter& usage, const std::vector<BudgetGroup>& groups,
                           Amount requested, bool proven) {
    std::string text =
        proven ? "no choice of victims within the limits frees " + counted(requested, "slot")
               : "no choice of victims within the limits was found that frees " +
                     counted(requested, "slot");
    for (const auto& group : groups) {
        const Budget& budget = usage.budget(group);
        text += "; " + usage.text(group) + ", " + std::to_string(std::max<Amount>(budget.left, 0)) +
                " left, " + std::to_string(usage.of(group)) + " needed";
    }
    return text;
}

std::string why_not_enough(std::size_t hosts, const std::vector<RejectionCount>& refused,
                           Amount requested, Amount possible, bool not_all) {
    std::string text = "only " + std::to_string(possible) + " of " + counted(requested, "slot") +
                       " can come free, even if all revocable servers " +
                       (not_all ? "that may be deleted were (" : "were deleted (");
    if (hosts == 0 && refused.empty()) text += "no hosts are known";
    if (hosts > 0) text += counted(static_cast<Amount>(hosts), "host") + " with slots";
    bool first = hosts == 0;
    for (const auto& each : refused) {
        text += (first ? "" : ", ") + std::to_string(each.hosts) + " " +
                std::string{to_string(each.code)};
        first = false;
    }
    return text + ")";
}

}  // namespace reaper
