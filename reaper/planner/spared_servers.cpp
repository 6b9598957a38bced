#include "reaper/planner/spared_servers.hpp"

#include <algorithm>
#include <set>

#include "reaper/model/resources.hpp"
#include "reaper/model/text.hpp"
#include "reaper/planner/cloud_index.hpp"
#include "reaper/planner/suitable_hosts.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/rooms/room.hpp"

namespace reaper {
namespace {

std::uint32_t hash_of_workload(const Workload& workload) {
    const std::uint64_t hash =
        hash_of(workload.project.str()) * 0x9e3779b97f4a7c15ULL ^ hash_of(workload.name);
    return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

Amount ms(TimePoint at) {
    return at.time_since_epoch().count();
}

}  // namespace

void SparedRows::clear() {
    *this = SparedRows{};
}

void SparedRows::drop_workload(const Workload& workload) {
    rows_of_workloads_.each(hash_of_workload(workload),
                            [&](std::uint32_t row) { until_[row] = unknown; });
}

void SparedRows::follow(const CloudIndex& cloud, const RunTimeFilter& filter) {
    const RunTimeRules& rules = filter.rules();
    const bool same = rules.horizon == rules_.horizon &&
                      rules.min_run_time == rules_.min_run_time &&
                      rules.workload_key == rules_.workload_key && cloud.width() == width_;
    if (!same || ms(filter.now()) < now_) clear();
    now_ = ms(filter.now());
    width_ = cloud.width();
    auto was = rules_.grace.begin();
    for (const auto& [workload, grace] : rules.grace) {
        while (was != rules_.grace.end() && was->first < workload) drop_workload((was++)->first);
        const bool known = was != rules_.grace.end() && was->first == workload;
        if (!known || was->second != grace) drop_workload(workload);
        if (known) ++was;
    }
    while (was != rules_.grace.end()) drop_workload((was++)->first);
    rules_ = rules;
}

void SparedRows::look(const CloudIndex& cloud, std::uint32_t row, const RunTimeFilter& filter,
                      const Ledger* ledger) {
    if (row >= until_.size()) {
        until_.resize(row + 1, unknown);
        spared_.resize(row + 1);
        young_.resize(row + 1);
    }
    spared_[row].reset();
    for (const std::uint32_t workload : young_[row]) rows_of_workloads_.erase(workload, row);
    young_[row].clear();
    until_[row] = forever;
    const HostRow& own = cloud.row(row);
    const Amount young = now_ - rules_.horizon.count();
    if (own.last_start <= young) return;

    const auto look = [&](const Server& server) {
        if (!server.revocable() || ms(start_of(server)) <= young || !may_be_victim(server) ||
            cloud.protection().protects(server) ||
            cloud.protection().protects_host(own.host->member_of) ||
            (ledger != nullptr ? comes_free(server, *ledger) || ledger->evicting(server.id) ||
                                     ledger->reserved().lender_of(server.id) != nullptr
                               : comes_free(server)))
            return;
        young_[row].push_back(hash_of_workload(workload_of(server, rules_.workload_key)));
        if (const auto until = filter.kept_until(server))
            until_[row] = std::min(until_[row], ms(*until));
    };
    for (const Server& server : own.host->servers) look(server);
    for (const Server& server : own.host->left_behind) look(server);
    std::sort(young_[row].begin(), young_[row].end());
    young_[row].erase(std::unique(young_[row].begin(), young_[row].end()), young_[row].end());
    for (const std::uint32_t workload : young_[row]) rows_of_workloads_.add(workload, row);
    if (until_[row] != forever)
        spared_[row] = std::make_unique<ReadRow>(cloud.read_under(row, &filter, ledger));
}

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
