#include "reaper/planner/explain.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace reaper {
namespace {

int to_int(Amount amount) {
    return static_cast<int>(std::clamp<Amount>(amount, 0, std::numeric_limits<int>::max()));
}

std::string count(Amount n, const std::string& what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

/// What the server holds on the host's providers.
Resources held_on(const Server& server, const Host& host) {
    Resources held;
    for (const auto& provider : host.providers)
        if (const auto at = server.allocations.find(provider.id); at != server.allocations.end())
            held += at->second;
    return held;
}

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
    plan.free_after = totals(room_without(option, chosen.victims));
    return plan;
}

/// Why this victim is needed, given the others.
std::string why_needed(const Problem& problem, const HostOption& option, const OnHost& chosen,
                       std::size_t victim) {
    auto others = chosen.victims;
    std::erase(others, victim);
    const auto missing =
        option.room.missing(problem.shape, room_without(option, others), chosen.slots);
    return "without it the host is short of " + to_string(named(problem.shape, missing)) + " for " +
           count(chosen.slots, "slot");
}

Victim explain_victim(const Problem& problem, const HostOption& option, const OnHost& chosen,
                      std::size_t victim) {
    const Server& server = *option.candidates[victim].server;
    return Victim{
        server.id,
        server.name,
        server.project,
        server.host,
        held_on(server, *option.host),
        server.created,
        server.revocable_because.value_or("") + "; " + why_needed(problem, option, chosen, victim)};
}

}  // namespace

NothingToDo room_is_there(const Problem& problem, Amount requested) {
    NothingToDo answer;
    Amount open = requested;
    for (const auto& option : problem.hosts) {
        if (open <= 0) break;
        if (option.slots_ready <= 0) continue;
        const OnHost taken{{}, std::min(open, option.slots_ready)};
        open -= taken.slots;
        answer.hosts.push_back(host_plan(problem, option, taken));
        answer.hosts.back().reason =
            "has room for " + count(option.slots_ready, "slot") + " without a deletion";
    }
    answer.reason =
        "room for " + count(requested, "slot") + " is there already, on " +
        (answer.hosts.size() == 1 ? answer.hosts.front().host_name
                                  : count(static_cast<Amount>(answer.hosts.size()), "host"));
    return answer;
}

HostPlan explain_host(const Problem& problem, std::size_t host, const OnHost& chosen,
                      const Selection& selection) {
    const auto& option = problem.hosts[host];
    HostPlan plan = host_plan(problem, option, chosen);
    for (const std::size_t victim : chosen.victims)
        plan.victims.push_back(explain_victim(problem, option, chosen, victim));
    if (option.slots_ready > 0)
        plan.reason = "has room for " + count(option.slots_ready, "slot") + " without a deletion";
    if (chosen.victims.empty()) return plan;
    const auto at = selection.hosts.find(host);
    if (at != selection.hosts.end() && !at->second.reason.empty())
        plan.reason += (plan.reason.empty() ? "" : "; ") + at->second.reason;
    return plan;
}

Rejection ranked_lower(const HostOption& option, const Selection& selection, std::size_t host) {
    const auto at = selection.passed.find(host);
    return Rejection{option.host->id, option.host->name, RejectionCode::ranked_lower,
                     at != selection.passed.end()
                         ? at->second
                         : "the slots of other hosts made those of this one needless"};
}

Rejection too_few_slots(const HostOption& option, Amount requested) {
    const std::string how =
        option.candidates.empty()
            ? ""
            : ", even without its " +
                  count(static_cast<Amount>(option.candidates.size()), "revocable server");
    return Rejection{option.host->id, option.host->name, RejectionCode::not_enough_revocable,
                     "gives " + count(option.slots_possible, "slot") + " of the " +
                         std::to_string(requested) + " requested" + how};
}

std::string why_not_enough(const Problem& problem, const std::vector<Rejection>& rejected,
                           Amount requested, Amount possible) {
    std::string text = "only " + std::to_string(possible) + " of " + count(requested, "slot") +
                       " can come free, even without all revocable servers";
    std::map<RejectionCode, int> codes;
    for (const auto& rejection : rejected) ++codes[rejection.code];
    text += " (";
    if (problem.hosts.empty() && rejected.empty()) text += "no hosts are known";
    if (!problem.hosts.empty())
        text += count(static_cast<Amount>(problem.hosts.size()), "host") + " with slots";
    bool first = problem.hosts.empty();
    for (const auto& [code, n] : codes) {
        text += (first ? "" : ", ") + std::to_string(n) + " " + std::string{to_string(code)};
        first = false;
    }
    return text + ")";
}

void sort_by_name(std::vector<Rejection>& rejected) {
    std::sort(rejected.begin(), rejected.end(), [](const Rejection& a, const Rejection& b) {
        return std::tie(a.host_name, a.host) < std::tie(b.host_name, b.host);
    });
}

}  // namespace reaper
