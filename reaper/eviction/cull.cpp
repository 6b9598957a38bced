#include "reaper/eviction/cull.hpp"

#include <algorithm>
#include <utility>

#include "reaper/model/text.hpp"

namespace reaper {

std::string label(const Victim& victim) {
    return victim.server.str() + " (" + printable(victim.name, 64) + ") on " +
           printable(victim.host, 64);
}

LogFields about(const Cull& cull, const Victim& victim) {
    return {.request = cull.request.id.str(),
            .server = victim.server.str(),
            .server_name = victim.name,
            .host = victim.host,
            .project = victim.project.str(),
            .project_name = victim.project_name,
            .flavor = victim.flavor};
}

Cull::Cull(Request for_whom, const Plan& plan, const std::map<ServerId, Progress>& known,
           Recheck recheck, AsyncSemaphore one_asks)
    : request(std::move(for_whom)),
      victims(plan.victims()),
      look(std::move(recheck)),
      asking(std::move(one_asks)) {
    for (const auto& host : plan.hosts) {
        for (const auto& victim : host.victims) hosts[victim.server] = host.host;
        for (const auto& other : host.pending_releases) {
            hosts[other.server] = host.host;
            if (!other.unfinished) pending_releases.push_back(other.server);
        }
    }
    // One that holds room on two hosts goes once: what it left behind comes free before the rest.
    std::set<ServerId> whole;
    for (const auto& victim : victims)
        if (victim.held_by.empty()) whole.insert(victim.server);
    std::erase_if(victims, [&](const Victim& victim) {
        return !victim.held_by.empty() && whole.contains(victim.server);
    });
    for (const auto& victim : victims) {
        const auto found = known.find(victim.server);
        if (found == known.end()) {
            state(victim) = State::planned;
        } else if (found->second != Progress::sent) {
            state(victim) = State::gone;
            if (found->second == Progress::gone) ours.insert(victim.server);
        } else {
            state(victim) = State::sent;
            ours.insert(victim.server);
            unheard.insert(victim.server);
        }
    }
    for (const auto& host : plan.hosts)
        for (const auto& other : host.pending_releases)
            if (other.unfinished) add_unfinished(other);
}

void Cull::add_unfinished(const PendingRelease& other) {
    Victim victim;
    victim.server = other.server;
    victim.name = other.name;
    victim.project = other.project;
    victim.host = other.host;
    victim.reason = other.reason;
    state(victim) = State::unfinished;
    unfinished.insert(victim.server);
    victims.push_back(std::move(victim));
}

std::size_t Cull::count(State wanted) const {
    return static_cast<std::size_t>(std::count_if(
        states.begin(), states.end(), [&](const auto& entry) { return entry.second == wanted; }));
}

std::vector<HostId> Cull::hosts_of_untouched() {
    std::set<HostId> found;
    for (const auto& victim : victims)
        if (state(victim) == State::planned || state(victim) == State::unfinished)
            found.insert(hosts[victim.server]);
    return {found.begin(), found.end()};
}

bool Cull::begun() const {
    return std::any_of(sent.begin(), sent.end(),
                       [&](const ServerId& id) { return !not_out.contains(id); });
}

void Cull::fail(Error error) {
    stopped = true;
    if (!failure) failure = std::move(error);
}

Execution Cull::conclude() const {
    Execution execution;
    execution.skipped = skipped;
    const auto gone = count(State::gone);
    // What another reaper began and what others delete is given up alike.
    const auto left = static_cast<std::size_t>(
        std::count_if(unfinished.begin(), unfinished.end(),
                      [&](const ServerId& id) { return states.at(id) == State::stuck; }));
    const auto stuck = count(State::stuck) - left;
    const auto late = overdue + left;
    execution.deleted = static_cast<int>(ours.size());
    const std::string of_all =
        std::to_string(gone) + " of " + std::to_string(victims.size()) + " victims are gone";
    // Also when all of it came free.
    if (no_longer_needed && !blocked) {
        execution.end = Execution::End::no_longer_needed;
        execution.reason = *no_longer_needed;
    } else if (gone == victims.size() && overdue == 0 && !taken) {
        execution.end = Execution::End::freed;
        execution.reason = of_all;
    } else if (blocked) {
        execution.end = Execution::End::blocked;
        execution.reason = *blocked;
    } else if (taken) {
        execution.end = Execution::End::replan;
        execution.reason = *taken;
    } else if (stuck > 0) {
        execution.end = Execution::End::incomplete;
        execution.reason =
            of_all + "; " + std::to_string(stuck) + " still hold room after the deadline";
    } else if (!skipped.empty()) {
        execution.end = Execution::End::replan;
        execution.reason = skipped.begin()->second;
    } else if (late > 0) {
        execution.end = Execution::End::replan;
        execution.reason = std::to_string(late) + " servers that others delete do not go";
    } else if (failure) {
        execution.end = Execution::End::failed;
        execution.reason = failure->what;
    } else {
        execution.end = Execution::End::replan;
        execution.reason = of_all + "; of the others Nova never heard";
    }
    return execution;
}

}  // namespace reaper
