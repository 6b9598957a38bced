// The core's part of deploy/docs/guarantees.md, on random clouds, for every strategy.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "core/cloud_builder.hpp"
#include "core/seeded.hpp"

namespace reaper::planner_properties_test {
namespace {

using namespace reaper::testing;

Resources random_resources(int largest) {
    return Resources{{"VCPU", upto(largest)},
                     {"MEMORY_MB", 512 * upto(largest)},
                     {"DISK_GB", 10 * upto(largest)}};
}

void add_random_server(Host& host, const std::string& id) {
    const auto& on =
        host.providers[static_cast<std::size_t>(upto(static_cast<int>(host.providers.size()) - 1))];
    Server made = upto(3) == 0 ? server(id, on.id, random_resources(3))
                               : revocable(id, on.id, random_resources(3), upto(5));
    if (upto(6) == 0) made.task_state = upto(3) == 0 ? "migrating" : "deleting";
    if (upto(9) == 0) made.status = "SOFT_DELETED";
    put(host, std::move(made));
}

/// Mostly nearly full, so that plans are needed.
Host random_host(const std::string& name) {
    Host made = host(name, Resources{{"VCPU", 1}, {"MEMORY_MB", 1}, {"DISK_GB", 1}});
    if (upto(3) == 0) nest(made, name + "-nested", Resources{{"VCPU", 1}});
    const int servers = upto(6);
    for (int i = 0; i < servers; ++i) add_random_server(made, name + "-" + std::to_string(i));
    const int spare = upto(2);
    for (auto& provider : made.providers)
        for (auto& [name_of_class, inventory] : provider.inventories) {
            const Amount unit = name_of_class == ResourceClass{"MEMORY_MB"} ? 512
                                : name_of_class == ResourceClass{"DISK_GB"} ? 10
                                                                            : 1;
            inventory.total = provider.used.get(name_of_class) + unit * upto(spare);
        }
    if (upto(9) == 0) made.enabled = false;
    if (upto(9) == 0) made.up = false;
    return made;
}

struct Case {
    Snapshot cloud;
    Request wanted;
    PlanOptions options;
    Ledger ledger;
    std::string strategy;
    Decision decision;
};

/// Another request's cull, decided on the same cloud, is under way.
void add_other_request(Case& c) {
    const auto other = request(random_resources(2) + Resources{{"VCPU", 1}}, 1, "req-other");
    const auto decision = plan(other, c.cloud, {}, c.ledger);
    if (const auto* made = std::get_if<Plan>(&decision)) c.ledger.enter(other, *made, at(0));
}

/// Deletions that are taken for stuck.
void give_up_on_some(Case& c) {
    for (const auto& host : c.cloud.hosts)
        for (const auto& server : host.servers)
            if ((server.task_state == "deleting" || c.ledger.evicting(server.id)) && upto(2) == 0)
                c.ledger.give_up_on(host.id, server.id, at(1));
}

Case random_case() {
    static const std::vector<std::string> strategies{"strict", "strict_time", "chance", "cost"};
    Case c;
    const int hosts = 1 + upto(4);
    for (int i = 0; i < hosts; ++i) c.cloud.hosts.push_back(random_host("h" + std::to_string(i)));
    c.wanted = request(random_resources(3) + Resources{{"VCPU", 1}}, 1 + upto(2));
    c.wanted.operation = Operation::manual;  // of a build, all slots take one combination
    c.options.alternatives = 1 + upto(2);
    c.options.seed = static_cast<std::uint64_t>(upto(1000));
    if (upto(2) == 0) add_other_request(c);
    if (upto(2) == 0) give_up_on_some(c);
    c.strategy = strategies[static_cast<std::size_t>(upto(3))];
    c.decision = plan(c.wanted, c.cloud, c.options, c.ledger, c.strategy);
    RC_CLASSIFY(std::holds_alternative<Plan>(c.decision), "plan");
    RC_CLASSIFY(std::holds_alternative<NothingToDo>(c.decision), "nothing to do");
    RC_CLASSIFY(std::holds_alternative<NotEnough>(c.decision), "not enough");
    return c;
}

bool is_being_deleted(const Server& server, const Case& c) {
    const bool deleting = server.task_state == "deleting" && server.status != "SOFT_DELETED";
    return (deleting || c.ledger.evicting(server.id)) && !c.ledger.given_up(server.id);
}

/// Slots of the request on a host without `gone`, counted by a plain reading of the rules: each
/// class on one provider; promises taken off where they hurt the most.
Amount slots_on(const Host& host, const Case& c, const std::set<ServerId>& gone) {
    Amount scarcest = std::numeric_limits<Amount>::max();
    for (const auto& [name, amount] : c.wanted.resources) {
        Amount slots = 0;
        std::size_t providers = 0;
        std::vector<Amount> rooms;
        for (const auto& provider : host.providers) {
            if (!provider.inventories.contains(name)) continue;
            ++providers;
            Amount room = provider.inventories.at(name).capacity() - provider.used.get(name);
            for (const auto& server : host.servers)
                if ((gone.contains(server.id) || is_being_deleted(server, c)) &&
                    server.allocations.contains(provider.id))
                    room += server.allocations.at(provider.id).get(name);
            rooms.push_back(room);
        }
        if (providers == 0) return 0;
        const Amount promised = c.ledger.promised_to_others(host.id, c.wanted.id).get(name);
        if (providers == 1) rooms[0] -= promised;
        for (const Amount room : rooms) slots += std::max<Amount>(room, 0) / amount;
        if (providers > 1) slots -= promised == 0 ? 0 : (promised + amount - 1) / amount;
        scarcest = std::min(scarcest, slots);
    }
    return std::max<Amount>(scarcest, 0);
}

std::set<ServerId> victims_of(const Plan& plan) {
    std::set<ServerId> gone;
    for (const auto& victim : plan.victims()) gone.insert(victim.server);
    return gone;
}

/// Slots on the hosts that the plan may use.
Amount slots_in_all(const Case& c, const std::set<ServerId>& gone) {
    Amount all = 0;
    for (const auto& host : c.cloud.hosts)
        if (host.up && host.enabled) all += slots_on(host, c, gone);
    return all;
}

const Plan* plan_of(const Case& c) {
    return std::get_if<Plan>(&c.decision);
}

TEST(PlannerProperties, Rule1NeverARegularLockedChangingOrEvictingServer) {
    holds("victims are revocable and may go", [] {
        const Case c = random_case();
        if (plan_of(c) == nullptr) return;
        const auto gone = victims_of(*plan_of(c));
        std::size_t seen = 0;
        for (const auto& host : c.cloud.hosts)
            for (const auto& server : host.servers) {
                if (!gone.contains(server.id)) continue;
                ++seen;
                RC_ASSERT(server.revocable());
                RC_ASSERT(server.task_state.empty());
                RC_ASSERT(server.status == "ACTIVE");
                RC_ASSERT(!c.ledger.evicting(server.id));
            }
        RC_ASSERT(seen == gone.size());
    });
}

TEST(PlannerProperties, Rule2AllOrNothing) {
    holds("a plan frees what it says, at least the requested slots", [] {
        const Case c = random_case();
        if (const auto* made = plan_of(c)) {
            RC_ASSERT(made->slots_freed >= c.wanted.slots);
            RC_ASSERT(made->slots_freed <= made->slots_wanted);
            RC_ASSERT(slots_in_all(c, victims_of(*made)) >= made->slots_freed);
            int counted = 0;
            for (const auto& on_host : made->hosts) counted += on_host.slots;
            RC_ASSERT(counted == made->slots_freed);
        }
        if (std::holds_alternative<NothingToDo>(c.decision) && !c.wanted.resources.empty())
            RC_ASSERT(slots_in_all(c, {}) >= c.wanted.slots);
    });
}

TEST(PlannerProperties, Rule2RefusesOnlyTheImpossible) {
    holds("not enough means that all who may go are not enough", [] {
        const Case c = random_case();
        const auto* none = std::get_if<NotEnough>(&c.decision);
        if (none == nullptr) return;
        std::set<ServerId> all;
        for (const auto& host : c.cloud.hosts)
            for (const auto& server : host.servers)
                if (server.revocable() && server.task_state.empty() && server.status == "ACTIVE" &&
                    !c.ledger.evicting(server.id))
                    all.insert(server.id);
        bool nested = false;  // a promise on one of several providers is counted at its worst
        for (const auto& host : c.cloud.hosts) nested = nested || host.providers.size() > 1;
        if (!nested || c.ledger.empty()) RC_ASSERT(slots_in_all(c, all) < c.wanted.slots);
        RC_ASSERT(none->slots_possible < c.wanted.slots);
    });
}

TEST(PlannerProperties, Rule3NoVictimCouldBeLeftOut) {
    holds("without any one victim there are fewer slots", [] {
        const Case c = random_case();
        // The plain reading above is exact only without promises on nested providers.
        if (plan_of(c) == nullptr || !c.ledger.empty()) return;
        auto gone = victims_of(*plan_of(c));
        const auto all = gone;
        for (const auto& victim : all) {
            gone.erase(victim);
            RC_ASSERT(slots_in_all(c, gone) < plan_of(c)->slots_freed);
            gone.insert(victim);
        }
    });
}

TEST(PlannerProperties, Rule4PromisedRoomIsNeverCounted) {
    holds("both requests fit, one class on one provider each", [] {
        const Case c = random_case();
        const auto* made = plan_of(c);
        if (made == nullptr || c.ledger.promises().empty()) return;
        const auto gone = victims_of(*made);
        for (const auto& on_host : made->hosts) {
            const auto host = std::find_if(c.cloud.hosts.begin(), c.cloud.hosts.end(),
                                           [&](const Host& h) { return h.id == on_host.host; });
            for (const auto& [name, amount] : c.wanted.resources) {
                Amount room = -c.ledger.promised_to_others(host->id, c.wanted.id).get(name);
                for (const auto& provider : host->providers)
                    if (const auto at = provider.inventories.find(name);
                        at != provider.inventories.end())
                        room += at->second.capacity() - provider.used.get(name);
                for (const auto& server : host->servers)
                    if (gone.contains(server.id) || is_being_deleted(server, c))
                        room += server.resources().get(name);
                if (host->providers.size() == 1) RC_ASSERT(room >= amount * on_host.slots);
            }
        }
    });
}

TEST(PlannerProperties, EqualInputsGiveEqualPlansWhateverTheirOrder) {
    holds("determinism under permutation", [] {
        Case c = random_case();
        auto shuffled = c.cloud;
        shuffled.hosts = *rc::gen::just(shuffled.hosts);
        std::reverse(shuffled.hosts.begin(), shuffled.hosts.end());
        if (shuffled.hosts.size() > 1)
            std::rotate(shuffled.hosts.begin(),
                        shuffled.hosts.begin() + upto(static_cast<int>(shuffled.hosts.size()) - 1),
                        shuffled.hosts.end());
        for (auto& host : shuffled.hosts) {
            std::reverse(host.servers.begin(), host.servers.end());
            std::reverse(host.providers.begin(), host.providers.end());
        }
        RC_ASSERT(plan(c.wanted, shuffled, c.options, c.ledger, c.strategy) == c.decision);
    });
}

TEST(PlannerProperties, EveryHostAndVictimHasItsReason) {
    holds("reasons are there", [] {
        const Case c = random_case();
        const auto* made = plan_of(c);
        if (made == nullptr) return;
        RC_ASSERT(made->hosts.size() + made->rejected.size() == c.cloud.hosts.size());
        for (const auto& on_host : made->hosts) {
            RC_ASSERT(!on_host.reason.empty());
            for (const auto& victim : on_host.victims)
                RC_ASSERT(victim.reason.find("the host nothing short") == std::string::npos);
        }
        for (const auto& rejection : made->rejected) RC_ASSERT(!rejection.reason.empty());
    });
}

}  // namespace
}  // namespace reaper::planner_properties_test
