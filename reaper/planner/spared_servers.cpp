#include "reaper/planner/spared_servers.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "reaper/model/amount.hpp"
#include "reaper/model/text.hpp"
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

/// Of a host of a plan: why those went that were chosen, and not others.
class WhyOthers {
public:
    WhyOthers(const Problem& problem, std::size_t host, const OnHost& chosen,
              const Strategy& strategy)
        : problem_{problem},
          host_{host},
          option_{problem.hosts[host]},
          chosen_{chosen},
          strategy_{strategy} {}

    std::string why_not(const Server& server) const {
        const std::size_t candidate = index_of(server);
        for (std::size_t place = 0; place < chosen_.victims.size(); ++place) {
            const auto instead = with(candidate, place);
            if (!option_.room.fits(problem_.shape, room_without(option_, instead), chosen_.slots))
                continue;
            const std::string why = strategy_.why_not_instead(
                problem_, {host_, chosen_.slots, chosen_.victims, instead});
            if (why.empty())
                return "might have gone instead: the room is enough, and the strategy or a limit "
                       "preferred the victims";
            return "might have gone instead of " + victim_words(place) + ": " + why;
        }
        const ByPool room = room_without(option_, with(candidate, 0));
        return "too small to go instead of " + victim_words(0) + ": " +
               option_.room.shortage(problem_.shape, room, chosen_.slots) + " would be missing";
    }

private:
    std::size_t index_of(const Server& server) const {
        std::size_t index = 0;
        while (option_.candidates[index].server != &server) ++index;
        return index;
    }
    /// The victims, with the candidate in the place of one of them.
    std::vector<std::size_t> with(std::size_t candidate, std::size_t place) const {
        std::vector<std::size_t> victims = chosen_.victims;
        victims[place] = candidate;
        return victims;
    }
    std::string victim_words(std::size_t place) const {
        if (chosen_.victims.size() == 1) return "the victim";
        const Server& victim = *option_.candidates[chosen_.victims[place]].server;
        return in_quotes(victim.name.empty() ? victim.id.str() : victim.name);
    }

    const Problem& problem_;
    const std::size_t host_;
    const HostOption& option_;
    const OnHost& chosen_;
    const Strategy& strategy_;
};

}  // namespace

void add_spared(HostPlan& plan, const Problem& problem, std::size_t host_index,
                const OnHost& chosen, const Strategy& strategy, const FilterInput& input,
                std::size_t left) {
    const HostOption& option = problem.hosts[host_index];
    const Host& host = *option.host;
    const WhyOthers why_others{problem, host_index, chosen, strategy};
    const auto first = not_chosen(option, chosen);
    const auto others = not_offered(option, input.ledger);
    plan.spared_in_all = to_int(static_cast<Amount>(first.size() + others.size()));
    const std::size_t most = std::min(left, max_spared_of_host);
    for (std::size_t i = 0; i < first.size() && plan.spared.size() < most; ++i) {
        plan.spared.push_back(spared_server(*first[i], host));
        plan.spared.back().might_have_gone = true;
        plan.spared.back().reason = why_others.why_not(*first[i]);
    }
    for (std::size_t i = 0; i < others.size() && plan.spared.size() < most; ++i) {
        plan.spared.push_back(spared_server(*others[i], host));
        plan.spared.back().reason =
            why_kept(*others[i], host, input).value_or("it holds nothing that the request needs");
    }
}

}  // namespace reaper
