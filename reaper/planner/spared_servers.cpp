#include "reaper/planner/spared_servers.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "reaper/model/amount.hpp"
#include "reaper/rooms/room.hpp"

namespace reaper {
namespace {

/// Those that the strategy could choose and did not: by id, as candidates are.
std::vector<const Server*> not_chosen(const HostOption& option, const OnHost& chosen) {
    std::vector<const Server*> servers;
    for (std::size_t i = 0; i < option.candidates.size(); ++i)
        if (std::find(chosen.victims.begin(), chosen.victims.end(), i) == chosen.victims.end())
            servers.push_back(option.candidates[i].server);
    return servers;
}

/// Those that it was not offered, by id.
std::vector<const Server*> not_offered(const HostOption& option, const Ledger& ledger) {
    std::set<const Server*> offered;
    for (const auto& candidate : option.candidates) offered.insert(candidate.server);
    std::vector<const Server*> servers;
    for (const auto& server : option.host->servers)
        if (server.revocable() && !offered.contains(&server) && !ledger.evicting(server.id) &&
            !comes_free(server, ledger))
            servers.push_back(&server);
    std::sort(servers.begin(), servers.end(),
              [](const Server* a, const Server* b) { return a->id < b->id; });
    return servers;
}

SparedServer spared_server(const Server& server, const Host& host) {
    SparedServer spared;
    spared.server = server.id;
    spared.name = server.name;
    spared.project = server.project;
    spared.resources = held_on(server, host);
    spared.created = server.created;
    return spared;
}

}  // namespace

void tell_spared(HostPlan& plan, const HostOption& option, const OnHost& chosen,
                 const FilterInput& input, std::size_t left) {
    const Host& host = *option.host;
    const auto first = not_chosen(option, chosen);
    const auto others = not_offered(option, input.ledger);
    plan.spared_in_all = to_int(static_cast<Amount>(first.size() + others.size()));
    const std::size_t most = std::min(left, max_spared_of_host);
    for (std::size_t i = 0; i < first.size() && plan.spared.size() < most; ++i) {
        plan.spared.push_back(spared_server(*first[i], host));
        plan.spared.back().might_have_gone = true;
        plan.spared.back().reason =
            "might have gone instead: the strategy preferred the victims, and their room is enough";
    }
    for (std::size_t i = 0; i < others.size() && plan.spared.size() < most; ++i) {
        plan.spared.push_back(spared_server(*others[i], host));
        plan.spared.back().reason =
            why_kept(*others[i], host, input).value_or("it holds nothing that the request needs");
    }
}

}  // namespace reaper
