// The judgement on places: every slot of a plan is on a host where Nova's scheduler would let the
// request land, were there room.
#include <algorithm>

#include "faults/schedules/checker.hpp"

namespace reaper::faults {

bool Checker::is_victim(const PlanRecord& plan, const Uuid& server) {
    const auto victims = plan.plan->victims();
    return std::any_of(victims.begin(), victims.end(),
                       [&](const Victim& victim) { return victim.server.str() == server.text(); });
}

/// How many of its servers may land there when those of `going` are gone: the most that the reaper
/// may take it for, or the least.
std::size_t Checker::limit_after(const Demand& demand, const std::string& host,
                                 const HostState& state, const std::set<std::string>& going,
                                 bool least) {
    const std::size_t told = demand.told_at(host, state.at);
    const std::size_t now = least ? std::min(told, demand.limit_at(host, state.at)) : told;
    cloudsim::Placing placing = demand.placing;
    if (demand.hints_hidden && !least) {
        placing.same_host.clear();
        placing.different_host.clear();
    }
    const bool joins = !placing.same_host.empty() ||
                       (placing.group != nullptr && placing.group->policy != "anti-affinity");
    if (demand.never.contains(host) || joins) return now;
    const auto there = [&](const Uuid& id) {
        const Holder* const holder = state.holder(id);
        return holder != nullptr && holder->placed_at;
    };
    const auto goes = [&](const Uuid& id) { return there(id) && going.contains(id.text()); };
    const auto stays = [&](const Uuid& id) { return there(id) && !going.contains(id.text()); };
    const auto& apart = placing.different_host;
    std::size_t freed = static_cast<std::size_t>(std::count_if(apart.begin(), apart.end(), goes));
    if (std::any_of(apart.begin(), apart.end(), stays)) return now;
    std::size_t most = static_cast<std::size_t>(demand.slots);
    if (placing.group != nullptr) {
        const auto& members = placing.group->members;
        freed += static_cast<std::size_t>(std::count_if(members.begin(), members.end(), goes));
        const auto stay =
            static_cast<std::size_t>(std::count_if(members.begin(), members.end(), stays));
        const auto all = static_cast<std::size_t>(placing.group->max_on_a_host);
        most = all - std::min(all, stay);
    }
    return freed > 0 ? std::max(now, most) : now;
}

/// What others did since the plan's readings is not its fault: it is wrong if it was wrong all the
/// time.
void Checker::judge_places(const PlanRecord& plan, const Demand& demand) {
    if (plan_.lies()) return;
    const TimePoint from = change_times(plan, timeline_.true_now()).front();
    ++tally_.places;
    if (demand.joins() || !demand.never.empty()) ++tally_.constrained;
    for (const HostPlan& host : plan.plan->hosts) {
        std::size_t most =
            Demand::limit_in(demand.told, host.host_name, from, timeline_.true_now());
        for (const TimePoint at : change_times(plan, timeline_.true_now()))
            if (const HostState* state = truth_.state_at(host.host_name, at)) {
                HostState then = *state;
                then.at = at;
                const auto going = going_on(plan, host.host_name, then, false);
                most = std::max(most, limit_after(demand, host.host_name, then, going, false));
            }
        if (host.slots > 0 && most == 0)
            blame("constraint", plan.request + " has servers deleted on " + host.host_name +
                                    ", where Nova would not let it land");
        else if (static_cast<std::size_t>(std::max(host.slots, 0)) > most)
            blame("constraint", plan.request + " has " + std::to_string(host.slots) +
                                    " slots freed on " + host.host_name +
                                    ", where Nova would let " + std::to_string(most) + " land");
    }
    judge_together(plan, demand, from);
}

/// Servers of an empty affinity group all go to one host; and the servers that a request wants
/// to be with have to stay.
void Checker::judge_together(const PlanRecord& plan, const Demand& demand, TimePoint from) {
    const auto& group = demand.placing.group;
    const auto& hosts = plan.plan->hosts;
    const auto used = std::count_if(hosts.begin(), hosts.end(),
                                    [](const HostPlan& host) { return host.slots > 0; });
    const bool together = group != nullptr && group->policy == "affinity" &&
                          Demand::limit_in(demand.told, "", from, timeline_.true_now()) == 0;
    if (together && used > 1)
        blame("constraint", plan.request + " has room freed on " + std::to_string(used) +
                                " hosts, and its servers go to one");
    // Where others of the group live on elsewhere, they go there.
    std::vector<Uuid> with;
    if (!demand.hints_hidden) with = demand.placing.same_host;
    if (group != nullptr && group->policy == "affinity") {
        const auto lives = [&](const Uuid& id) {
            const cloudsim::Server* server = site_.world().nova.find_server(id);
            return server != nullptr && server->host != nullptr &&
                   server->state != cloudsim::VmState::soft_deleted && !is_victim(plan, id);
        };
        if (std::any_of(group->members.begin(), group->members.end(), lives)) with = group->members;
    }
    if (with.empty()) return;
    for (const HostPlan& host : hosts) {
        const HostState* state = truth_.state_at(host.host_name, plan.at);
        const auto is_there = [&](const Uuid& id) {
            const Holder* holder = state ? state->holder(id) : nullptr;
            return holder != nullptr && holder->placed_at;
        };
        const bool any = std::any_of(with.begin(), with.end(), is_there);
        const bool stays = std::any_of(with.begin(), with.end(), [&](const Uuid& id) {
            return is_there(id) && !is_victim(plan, id);
        });
        if (host.slots > 0 && any && !stays)
            blame("constraint", plan.request + " wants to be with servers on " + host.host_name +
                                    ", and all of them are deleted for it");
    }
}

}  // namespace reaper::faults
