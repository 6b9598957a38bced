// The safeguards on random clouds, for every strategy: whom they spare never dies, no limit is ever
// passed, and nothing is refused that enumeration finds, as far as that is promised.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "core/cloud_builder.hpp"
#include "core/seeded.hpp"
#include "core/small_cloud.hpp"
#include "reaper/decision/decide.hpp"
#include "reaper/safeguards/safeguards.hpp"

namespace reaper::safeguards_properties_test {
namespace {

using namespace reaper::testing;
using namespace std::chrono_literals;

const std::vector<std::string> strategies{"strict", "strict_time", "chance", "cost"};
const std::vector<std::string> aggregates{"east", "west"};

std::string any_strategy() {
    return strategies[static_cast<std::size_t>(upto(3))];
}

/// `small_cloud` with hosts in aggregates, and servers that carry what may protect them.
Snapshot braked_cloud(int hosts, int servers) {
    SeededRng rng{static_cast<std::uint64_t>(upto(1'000'000))};
    Snapshot cloud = small_cloud({hosts, servers, upto(1) == 0}, rng);
    for (auto& host : cloud.hosts) {
        for (const auto& aggregate : aggregates)
            if (upto(1) == 0) host.aggregates.insert(aggregate);
        for (auto& server : host.servers) {
            if (upto(9) == 0) server.tags = std::set<std::string>{"reaper-protected"};
            if (upto(9) == 0)
                server.metadata.insert_or_assign("reaper:protected", upto(2) == 0 ? "no" : "yes");
            if (upto(3) == 0) server.launched = server.created + std::chrono::minutes{upto(10)};
            server.name = "web-" + std::to_string(upto(3));
        }
    }
    return cloud;
}

Request any_request() {
    SeededRng rng{static_cast<std::uint64_t>(upto(1'000'000))};
    return small_request(1 + upto(2), rng);
}

std::vector<PastVictim> any_history(const Snapshot& cloud) {
    static const std::vector<const char*> projects{"gold", "silver", "cheap"};
    std::vector<PastVictim> history;
    const int victims = upto(6);
    for (int i = 0; i < victims; ++i)
        history.push_back({cloud.taken_at - std::chrono::minutes{upto(90)},
                           RequestId{"req-" + std::to_string(upto(4))},
                           ServerId{"old-" + std::to_string(i)}, "web-" + std::to_string(i),
                           ProjectId{projects[static_cast<std::size_t>(upto(2))]},
                           cloud.hosts.front().service_host, ""});
    return history;
}

Decision decide(Safeguards& safeguards, const Snapshot& cloud, const Request& wanted,
                const std::string& strategy, int alternatives) {
    PlanOptions options;
    options.alternatives = alternatives;
    options.seed = 7;
    options.now = cloud.taken_at;
    return plan_under(safeguards, wanted,
                      CloudIndex{cloud, Protection{safeguards.settings().protect}}, Ledger{},
                      *make_strategy(strategy), strategy, options);
}

/// Each victim with its server and host.
struct Gone {
    const Server* server;
    const Host* host;
};
std::vector<Gone> gone_in(const Plan& plan, const Snapshot& cloud) {
    std::vector<Gone> gone;
    for (const auto& victim : plan.victims())
        for (const auto& host : cloud.hosts)
            for (const auto& server : host.servers)
                if (server.id == victim.server) gone.push_back({&server, &host});
    return gone;
}

TEST(SafeguardsProperties, NeverAProtectedOrTooYoungServer) {
    holds("whom the policy spares lives", [] {
        const Snapshot cloud = braked_cloud(3, 6);
        SafeguardSettings settings;
        settings.protect.min_run_time = std::chrono::minutes{upto(15)};
        if (upto(3) == 0) {
            settings.protect.projects = {"gold"};
            settings.protect.project_ids = {{"gold", "gold"}};
        }
        settings.protect.owners = true;
        Safeguards safeguards{settings};
        const auto decision = decide(safeguards, cloud, any_request(), any_strategy(), 1 + upto(1));
        const auto* const made = std::get_if<Plan>(&decision);
        RC_CLASSIFY(made != nullptr, "plan");
        if (made == nullptr) return;
        for (const auto& [server, host] : gone_in(*made, cloud)) {
            RC_ASSERT(!server->tags.contains("reaper-protected"));
            const auto at = server->metadata.find("reaper:protected");
            const bool kept = at != server->metadata.end() && at->second != "no";
            RC_ASSERT(!kept);
            if (!settings.protect.projects.empty()) RC_ASSERT(server->project != ProjectId{"gold"});
            if (settings.protect.min_run_time > 0min)
                RC_ASSERT(cloud.taken_at - server->created >= settings.protect.min_run_time);
        }
    });
}

TEST(SafeguardsProperties, RowsTellTheSameAsALookAtEveryServer) {
    holds("protection in the index and out of it; restraint and spared servers", [] {
        const Snapshot cloud = braked_cloud(4, 6);
        const Request wanted = any_request();
        ProtectSettings by_owners;
        by_owners.owners = true;
        const Protection protection{by_owners};
        const auto strategy = make_strategy(any_strategy());
        PlanOptions options;
        options.now = cloud.taken_at;
        SafeguardSettings settings;
        settings.protect.min_run_time = std::chrono::minutes{1 + upto(15)};
        RunTimes times{settings, cloud.taken_at};
        options.victim_filter = &times;
        const auto by_rows =
            make_plan(wanted, CloudIndex{cloud, protection}, Ledger{}, *strategy, "any", options);
        options.protection = &protection;
        const auto by_look =
            make_plan(wanted, CloudIndex{cloud}, Ledger{}, *strategy, "any", options);
        RC_ASSERT(victim_ids(by_rows) == victim_ids(by_look));
        RC_ASSERT(by_rows.index() == by_look.index());
        PlanOptions listed;
        listed.now = cloud.taken_at;
        for (const auto& host : cloud.hosts)
            for (const auto& server : host.servers)
                if (protection.protects(server) || times.keeps(server, host))
                    listed.skipped[server.id] = "listed";
        const auto by_list =
            make_plan(wanted, CloudIndex{cloud}, Ledger{}, *strategy, "any", listed);
        RC_ASSERT(victim_ids(by_rows) == victim_ids(by_list));
        RC_ASSERT(by_rows.index() == by_list.index());
    });
}

/// Something happens to the cloud, to the clock, or to what is known of workloads.
void change(Snapshot& cloud, CloudIndex& index, Safeguards& safeguards, TimePoint& now, int step) {
    static const std::vector<const char*> projects{"gold", "silver", "cheap"};
    switch (upto(3)) {
        case 0: now += std::chrono::minutes{upto(6)}; return;
        case 1: now -= std::chrono::minutes{upto(2)}; return;
        case 2:
            safeguards.note_victim({now, RequestId{"cull-" + std::to_string(step)},
                                    ServerId{"gone-" + std::to_string(step)}, "web-9",
                                    ProjectId{projects[static_cast<std::size_t>(upto(2))]},
                                    "elsewhere", ""});
            return;
        default: break;
    }
    auto& host =
        cloud.hosts[static_cast<std::size_t>(upto(static_cast<int>(cloud.hosts.size()) - 1))];
    if (host.servers.empty()) return;
    auto& server =
        host.servers[static_cast<std::size_t>(upto(static_cast<int>(host.servers.size()) - 1))];
    server.created = now - std::chrono::minutes{upto(12)};
    server.task_state = upto(3) == 0 ? "migrating" : "";
    index.put(host);
}

TEST(SafeguardsProperties, WhatIsKnownOfYoungServersIsWhatAFreshLookTells) {
    int spared = 0;
    holds("an index that is kept decides like a new one", [&] {
        Snapshot cloud = braked_cloud(4, 6);
        SafeguardSettings settings;
        settings.protect.min_run_time = std::chrono::minutes{upto(1) * upto(8)};
        settings.thrash = {.after = 1, .grace = 4min, .max_grace = 15min};
        Safeguards safeguards{settings};
        const Protection protection{settings.protect};
        CloudIndex kept{cloud, protection};
        Ledger ledger;
        TimePoint now = cloud.taken_at;
        for (int step = 0; step < 10; ++step) {
            change(cloud, kept, safeguards, now, step);
            PlanOptions options;
            options.now = now;
            Request wanted = any_request();
            wanted.id = RequestId{"req-" + std::to_string(step)};
            const auto strategy = make_strategy("cost");
            const auto by_kept =
                plan_under(safeguards, wanted, kept, ledger, *strategy, "cost", options);
            const auto by_new = plan_under(safeguards, wanted, CloudIndex{cloud, protection},
                                           ledger, *strategy, "cost", options);
            RC_ASSERT(by_kept.index() == by_new.index());
            RC_ASSERT(victim_ids(by_kept) == victim_ids(by_new));
            const auto* const made = std::get_if<Plan>(&by_kept);
            if (made != nullptr && upto(1) == 0) ledger.enter(wanted, *made, now);
            RunTimes times{settings, now};
            times.keep(safeguards.thrashing(now));
            for (const auto& host : cloud.hosts)
                spared += std::any_of(host.servers.begin(), host.servers.end(), [&](const auto& s) {
                    return s.revocable() && times.keeps(s, host);
                });
        }
    });
    EXPECT_GT(spared, 1000) << "hosts with servers that are kept";
}

TEST(SafeguardsProperties, NeverOverALimitWhateverTheHistory) {
    holds("victims of the window and of the plan together stay within each limit", [] {
        const Snapshot cloud = braked_cloud(3, 6);
        const auto history = any_history(cloud);
        SafeguardSettings settings;
        auto& limits = settings.limits;
        limits.victims_per_request = upto(4);
        limits.victims_per_window = upto(1) == 0 ? 0 : 3 + upto(5);
        limits.victims_per_project = upto(1) == 0 ? 0 : 1 + upto(4);
        limits.victims_per_aggregate = upto(1) == 0 ? 0 : 1 + upto(4);
        Safeguards safeguards{settings};
        for (const auto& victim : history) safeguards.note_victim(victim);
        const Request wanted = any_request();
        const auto decision = decide(safeguards, cloud, wanted, any_strategy(), 1 + upto(2));
        const auto* const made = std::get_if<Plan>(&decision);
        RC_CLASSIFY(made != nullptr, "plan");
        if (made == nullptr) return;
        const auto gone = gone_in(*made, cloud);
        int request = static_cast<int>(gone.size());
        int window = request;
        std::map<ProjectId, int> projects;
        std::map<std::string, int> in;
        const auto& first = cloud.hosts.front().aggregates;
        for (const auto& victim : history) {
            if (victim.request == wanted.id) ++request;
            if (victim.at <= cloud.taken_at - limits.window) continue;
            ++window;
            ++projects[victim.project];
            for (const auto& aggregate : first) ++in[aggregate];
        }
        for (const auto& [server, host] : gone) {
            const int of_project = ++projects[server->project];
            if (limits.victims_per_project > 0) RC_ASSERT(of_project <= limits.victims_per_project);
            for (const auto& aggregate : host->aggregates) {
                const int here = ++in[aggregate];
                if (limits.victims_per_aggregate > 0)
                    RC_ASSERT(here <= limits.victims_per_aggregate);
            }
        }
        if (limits.victims_per_request > 0) RC_ASSERT(request <= limits.victims_per_request);
        if (limits.victims_per_window > 0) RC_ASSERT(window <= limits.victims_per_window);
        RC_ASSERT(made->slots_freed >= wanted.slots);
    });
}

TEST(SafeguardsProperties, ForANumberOfVictimsThereIsAPlanWheneverEnumerationFindsOne) {
    holds("the fewest victims decide, whatever the strategy wants", [] {
        SeededRng rng{static_cast<std::uint64_t>(upto(1'000'000))};
        const Snapshot cloud = small_cloud({3, 6, upto(1) == 0}, rng);
        const Request wanted = any_request();
        const ProblemOn on{cloud, wanted};
        if (!on.worth_solving()) return;
        Goal fewest;
        fewest.levels = {{{Measure::victims, 1, {}}}};
        const Amount least = least_cost(on.problem(), objective_for(fewest, on.problem()))[0];
        for (const auto& strategy : strategies)
            for (const Amount limit : {least - 1, least, least + 1}) {
                if (limit <= 0) continue;
                SafeguardSettings settings;
                settings.limits.victims_per_request = static_cast<int>(limit);
                Safeguards safeguards{settings};
                const auto decision = decide(safeguards, cloud, wanted, strategy, 1 + upto(2));
                if (limit < least) {
                    RC_ASSERT(std::holds_alternative<NotEnough>(decision));
                    RC_ASSERT(std::get<NotEnough>(decision).safeguard == "limit-request");
                } else {
                    RC_ASSERT(std::holds_alternative<Plan>(decision));
                    RC_ASSERT(static_cast<Amount>(victim_ids(decision).size()) <= limit);
                }
            }
    });
}

/// Whether any subset of the servers frees the slots with at most so many victims of each project
/// and in each aggregate, by enumeration.
class Enumeration {
public:
    Enumeration(const Problem& problem, int per_project, int per_aggregate)
        : problem_{problem}, per_project_{per_project}, per_aggregate_{per_aggregate} {}

    bool feasible() { return from(0, 0); }

private:
    bool from(std::size_t host, Amount slots) {
        if (slots >= problem_.slots_least) return true;
        if (host == problem_.hosts.size()) return false;
        const auto& option = problem_.hosts[host];
        for (std::size_t set = 0; set < std::size_t{1} << option.candidates.size(); ++set) {
            std::vector<std::size_t> victims;
            for (std::size_t i = 0; i < option.candidates.size(); ++i)
                if ((set >> i & 1U) != 0) victims.push_back(i);
            const Amount given = option.room.slots(problem_.shape, room_without(option, victims));
            const auto before = counts_;
            bool within = true;
            for (const std::size_t victim : victims) {
                const auto& project = option.candidates[victim].server->project.str();
                within = ++counts_["p:" + project] <= per_project_ && within;
                for (const auto& aggregate : option.host->aggregates)
                    within = ++counts_["a:" + aggregate] <= per_aggregate_ && within;
            }
            const bool found = within && from(host + 1, slots + given);
            counts_ = before;
            if (found) return true;
        }
        return false;
    }

    const Problem& problem_;
    int per_project_;
    int per_aggregate_;
    std::map<std::string, int> counts_;
};

TEST(SafeguardsProperties, UnderSeveralLimitsARefusalThatIsCalledProvenIsRight) {
    int refused = 0;
    int missed = 0;
    holds("no way there either by enumeration", [&] {
        SeededRng rng{static_cast<std::uint64_t>(upto(1'000'000))};
        Snapshot cloud = small_cloud({3, 5, true}, rng);
        for (auto& host : cloud.hosts)
            for (const auto& aggregate : aggregates)
                if (upto(1) == 0) host.aggregates.insert(aggregate);
        const Request wanted = any_request();
        const ProblemOn on{cloud, wanted};
        if (!on.worth_solving()) return;
        SafeguardSettings settings;
        settings.limits.victims_per_project = 1 + upto(2);
        settings.limits.victims_per_aggregate = 1 + upto(3);
        Safeguards safeguards{settings};
        const auto decision = decide(safeguards, cloud, wanted, any_strategy(), 1);
        const bool feasible = Enumeration{on.problem(), settings.limits.victims_per_project,
                                          settings.limits.victims_per_aggregate}
                                  .feasible();
        RC_CLASSIFY(feasible, "feasible");
        const auto* const none = std::get_if<NotEnough>(&decision);
        if (none == nullptr) {
            RC_ASSERT(feasible);
            return;
        }
        RC_ASSERT(!none->safeguard.empty());
        ++refused;
        if (feasible) ++missed;
        const bool proven = none->reason.find("was found") == std::string::npos;
        if (proven) RC_ASSERT(!feasible);
    });
    std::cout << "refused " << refused << ", of these possible " << missed << "\n";
    // Several limits that stand in each other's way: not exact, but near.
    EXPECT_LE(missed * 20, refused);
}

TEST(SafeguardsProperties, ADoubtedHostIsUsedOnlyWhenItIsNeeded) {
    holds("without the doubted hosts there is no plan", [] {
        const Snapshot cloud = braked_cloud(4, 5);
        const Request wanted = any_request();
        const std::string strategy = any_strategy();
        Safeguards safeguards{SafeguardSettings{}};
        std::vector<HostId> untaken;
        for (const auto& host : cloud.hosts)
            if (upto(1) == 0) untaken.push_back(host.id);
        safeguards.note_cooldown(RequestId{"req-x"}, untaken, cloud.taken_at);
        const auto decision = decide(safeguards, cloud, wanted, strategy, 1);
        Snapshot rest = cloud;
        std::erase_if(rest.hosts, [&](const Host& host) {
            return std::find(untaken.begin(), untaken.end(), host.id) != untaken.end();
        });
        Safeguards none{SafeguardSettings{}};
        const auto without = decide(none, rest, wanted, strategy, 1);
        const bool needed = std::holds_alternative<NotEnough>(without);
        RC_CLASSIFY(needed, "needed");
        if (!needed) {
            RC_ASSERT(victim_ids(decision) == victim_ids(without));
            RC_ASSERT(decision.index() == without.index());
            return;
        }
        const auto all = decide(none, cloud, wanted, strategy, 1);
        RC_ASSERT(victim_ids(decision) == victim_ids(all));
    });
}

TEST(SafeguardsProperties, ThrashingWorkloadsDieOnlyWhenTheyAreNeeded) {
    holds("with young ones of the workload left out there is no plan", [] {
        const Snapshot cloud = braked_cloud(3, 5);
        const Request wanted = any_request();
        SafeguardSettings settings;
        settings.thrash.after = 1;
        Safeguards safeguards{settings};
        for (const char* project : {"gold", "cheap"})
            safeguards.note_victim({cloud.taken_at - 10min, RequestId{"req-x"},
                                    ServerId{std::string{"old-"} + project}, "web-9",
                                    ProjectId{project}, "elsewhere", ""});
        const auto decision = decide(safeguards, cloud, wanted, "cost", 1);
        const auto* const made = std::get_if<Plan>(&decision);
        if (made == nullptr) return;
        RunTimes times{settings, cloud.taken_at};
        times.keep(safeguards.thrashing(cloud.taken_at));
        bool dies = false;
        for (const auto& [server, host] : gone_in(*made, cloud))
            dies = dies || times.keeps(*server, *host);
        RC_CLASSIFY(dies, "one dies");
        if (!dies) return;
        PlanOptions options;
        options.now = cloud.taken_at;
        options.victim_filter = &times;
        const Protection protection{settings.protect};
        RC_ASSERT(slots_possible(wanted, CloudIndex{cloud, protection}, Ledger{}, options) <
                  wanted.slots);
        RC_ASSERT(made->note.find("(thrash)") != std::string::npos);
    });
}

}  // namespace
}  // namespace reaper::safeguards_properties_test
