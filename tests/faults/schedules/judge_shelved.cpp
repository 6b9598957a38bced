// The judgement on servers that a reaper shelved: none is lost, and none is left half way.
#include <algorithm>

#include "faults/schedules/checker.hpp"

namespace reaper::faults {
namespace {

bool between_hosts(const cloudsim::Server& server) {
    return server.task == cloudsim::TaskState::shelving ||
           server.task == cloudsim::TaskState::unshelving;
}

}  // namespace

/// Those that it was the last to shelve, by Nova's record of actions: they may be back by now.
std::vector<const cloudsim::Server*> Checker::shelved_by_reapers() const {
    std::vector<const cloudsim::Server*> all;
    if (!plan_.with_shelving()) return all;
    const std::string reaper = site_.world().identity.user_named("reaper")->id;
    for (const cloudsim::Server* const server : site_.world().nova.listed()) {
        const auto& actions = server->actions;
        const auto last = std::find_if(actions.rbegin(), actions.rend(),
                                       [](const auto& each) { return each.name == "shelve"; });
        if (last != actions.rend() && site_.world().names.text(last->user) == reaper)
            all.push_back(server);
    }
    return all;
}

bool Checker::awaits_shelved() const {
    return std::ranges::any_of(shelved_by_reapers(),
                               [](const auto* each) { return between_hosts(*each); });
}

/// The reaper brings back what a journal has: what no journal has would stay shelved forever.
void Checker::judge_shelved_left() {
    for (const cloudsim::Server* const server : shelved_by_reapers()) {
        const std::string id = server->id.text();
        if (between_hosts(*server))
            blame("shelved-left", id + " is still on its way off its host, or back");
        if (server->state != cloudsim::VmState::shelved_offloaded) continue;
        ++tally_.left_shelved;
        const bool known = std::ranges::any_of(journals_, [&](const auto* journal) {
            return journal->has_step(id, Step::shelve_sent);
        });
        if (!known) blame("shelved-left", id + " is shelved, and no journal has it as shelved");
    }
}

}  // namespace reaper::faults
