// Plans for requests with groups on random hosts, against a plain reading of Placement's rules.
#include <algorithm>
#include <bit>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "core/cloud_builder.hpp"
#include "core/seeded.hpp"

namespace reaper::groups_properties_test {
namespace {

using namespace reaper::testing;

const std::vector<std::string> classes{"VCPU", "VGPU", "CUSTOM_A"};
const std::vector<std::string> traits{"CUSTOM_T1", "CUSTOM_T2"};

ResourceClass random_class() {
    return ResourceClass{classes[static_cast<std::size_t>(upto(2))]};
}

void add_traits(std::set<Trait>& to, int one_of) {
    for (const auto& name : traits)
        if (upto(one_of) == 0) to.emplace(name);
}

void give_traits(Provider& provider) {
    std::set<Trait> own;
    add_traits(own, 1);
    provider.traits = own;
}

Host random_host(const std::string& name) {
    Host made = host(name, {{"VCPU", 4}});
    give_traits(made.providers[0]);
    const int nested = upto(3);
    for (int i = 0; i < nested; ++i) {
        Resources capacity;
        for (const auto& each : classes)
            if (upto(1) == 0) capacity.set(ResourceClass{each}, 1 + upto(3));
        give_traits(nest(made, name + "-" + std::to_string(i), capacity));
    }
    // Servers take the available room, from one provider or from two.
    const int servers = 2 + upto(5);
    for (int i = 0; i < servers; ++i) {
        Server each = upto(4) == 0 ? server(name + "-s" + std::to_string(i), made.id, {}, i)
                                   : revocable(name + "-s" + std::to_string(i), made.id, {}, i);
        Allocations held;
        for (int part = 0; part <= upto(1); ++part) {
            const auto& on = made.providers[static_cast<std::size_t>(
                upto(static_cast<int>(made.providers.size()) - 1))];
            for (const auto& [resource_class, inventory] : on.inventories) {
                const Amount left =
                    inventory.total - on.used.get(resource_class) - held[on.id].get(resource_class);
                if (left > 0 && upto(2) > 0)
                    held[on.id].add(resource_class, 1 + upto(static_cast<int>(left) - 1));
            }
        }
        std::erase_if(held, [](const auto& part) { return part.second.empty(); });
        each.allocations = std::move(held);
        put(made, std::move(each));
    }
    return made;
}

Request random_request() {
    Request made = request({}, 1 + upto(1));
    if (upto(3) > 0) made.resources.set(random_class(), 1 + upto(1));
    add_traits(made.required_traits, 4);
    for (const auto& name : traits)
        if (!made.required_traits.contains(Trait{name}) && upto(7) == 0)
            made.forbidden_traits.emplace(name);
    const int groups = 1 + upto(2);
    for (int i = 1; i <= groups; ++i) {
        RequestGroup group;
        group.suffix = std::to_string(i);
        for (int part = 0; part <= upto(1); ++part)
            group.resources.set(random_class(), 1 + upto(1));
        add_traits(group.required_traits, 4);
        if (i > 1 && upto(1) == 0) {
            group = made.groups.back();
            group.suffix = std::to_string(i);
        }
        made.groups.push_back(std::move(group));
    }
    if (made.resources.empty()) {  // Placement would not search for traits of nothing
        made.required_traits.clear();
        made.forbidden_traits.clear();
    }
    made.resources += sum_of(made.groups);
    made.group_policy = upto(1) == 0 ? GroupPolicy::isolate : GroupPolicy::none;
    return made;
}

/// What a slot takes, by provider and class.
using Way = std::map<std::pair<std::size_t, ResourceClass>, Amount>;

bool has_all(const Provider& provider, const std::set<Trait>& wanted) {
    return std::all_of(wanted.begin(), wanted.end(),
                       [&](const Trait& trait) { return provider.traits.contains(trait); });
}

/// All ways to take one slot from an empty host.
std::vector<Way> ways_of(const Host& host, const Request& wanted) {
    std::vector<Way> ways;
    const Resources ungrouped = ungrouped_resources(wanted);
    std::vector<Resources::Entry> rest(ungrouped.begin(), ungrouped.end());
    std::vector<std::size_t> of_group;
    Way way;
    std::set<Trait> together;
    const std::function<void(std::size_t)> spread = [&](std::size_t at) {
        if (at == rest.size()) {
            const bool all = std::all_of(
                wanted.required_traits.begin(), wanted.required_traits.end(),
                [&](const Trait& trait) { return rest.empty() || together.contains(trait); });
            if (all) ways.push_back(way);
            return;
        }
        for (std::size_t p = 0; p < host.providers.size(); ++p) {
            const Provider& provider = host.providers[p];
            const bool refused =
                std::any_of(wanted.forbidden_traits.begin(), wanted.forbidden_traits.end(),
                            [&](const Trait& trait) { return provider.traits.contains(trait); });
            if (refused || !provider.inventories.contains(rest[at].first)) continue;
            const auto before = together;
            together.insert(provider.traits.begin(), provider.traits.end());
            way[{p, rest[at].first}] += rest[at].second;
            spread(at + 1);
            way[{p, rest[at].first}] -= rest[at].second;
            together = before;
        }
    };
    const std::function<void(std::size_t)> assign = [&](std::size_t at) {
        if (at == wanted.groups.size()) return spread(0);
        for (std::size_t p = 0; p < host.providers.size(); ++p) {
            const RequestGroup& group = wanted.groups[at];
            const Provider& provider = host.providers[p];
            const bool there = std::all_of(group.resources.begin(), group.resources.end(),
                                           [&](const Resources::Entry& each) {
                                               return provider.inventories.contains(each.first);
                                           });
            const bool taken = std::find(of_group.begin(), of_group.end(), p) != of_group.end();
            if (!there || !has_all(provider, group.required_traits) ||
                (taken && wanted.group_policy == GroupPolicy::isolate))
                continue;
            of_group.push_back(p);
            for (const auto& [name, amount] : group.resources) way[{p, name}] += amount;
            assign(at + 1);
            for (const auto& [name, amount] : group.resources) way[{p, name}] -= amount;
            of_group.pop_back();
        }
    };
    assign(0);
    return ways;
}

bool fits(const std::vector<Way>& ways, std::size_t first, Way& room, int slots) {
    if (slots == 0) return true;
    for (std::size_t at = first; at < ways.size(); ++at) {
        const bool there = std::all_of(ways[at].begin(), ways[at].end(), [&](const auto& each) {
            return each.second == 0 || room[each.first] >= each.second;
        });
        if (!there) continue;
        for (const auto& [key, amount] : ways[at]) room[key] -= amount;
        const bool rest = fits(ways, at, room, slots - 1);
        for (const auto& [key, amount] : ways[at]) room[key] += amount;
        if (rest) return true;
    }
    return false;
}

/// Up to `most`.
int slots_without(const Host& host, const std::vector<Way>& ways, const std::set<ServerId>& gone,
                  int most) {
    Way room;
    for (std::size_t p = 0; p < host.providers.size(); ++p)
        for (const auto& [name, inventory] : host.providers[p].inventories) {
            Amount free = inventory.total - host.providers[p].used.get(name);
            for (const auto& server : host.servers)
                if (const auto held = server.allocations.find(host.providers[p].id);
                    gone.contains(server.id) && held != server.allocations.end())
                    free += held->second.get(name);
            room[{p, name}] = free;
        }
    int slots = 0;
    while (slots < most && fits(ways, 0, room, slots + 1)) ++slots;
    return slots;
}

struct Case {
    Snapshot cloud;
    std::vector<std::vector<Way>> ways;  // by host
    Request wanted;
    Decision decision;
};

Case random_case(int hosts, const char* strategy, Parameters parameters = {}) {
    Case c;
    for (int i = 0; i < hosts; ++i) c.cloud.hosts.push_back(random_host("h" + std::to_string(i)));
    c.wanted = random_request();
    c.wanted.operation = Operation::manual;  // of a build, all slots take one combination
    for (const auto& host : c.cloud.hosts) c.ways.push_back(ways_of(host, c.wanted));
    c.decision = plan(c.wanted, c.cloud, {}, {}, strategy, std::move(parameters));
    return c;
}

int slots_in_all(const Case& c, const std::set<ServerId>& gone) {
    int all = 0;
    for (std::size_t i = 0; i < c.cloud.hosts.size(); ++i)
        all += slots_without(c.cloud.hosts[i], c.ways[i], gone, c.wanted.slots);
    return all;
}

std::set<ServerId> all_that_may_go(const Case& c) {
    std::set<ServerId> all;
    for (const auto& host : c.cloud.hosts)
        for (const auto& server : host.servers)
            if (server.revocable()) all.insert(server.id);
    return all;
}

std::set<ServerId> victims_of(const Decision& decision) {
    std::set<ServerId> gone;
    if (const auto* made = std::get_if<Plan>(&decision))
        for (const auto& victim : made->victims()) gone.insert(victim.server);
    return gone;
}

class GroupPlans : public ::testing::TestWithParam<const char*> {};

TEST_P(GroupPlans, AreEnoughAndNoVictimCouldBeLeftOut) {
    holds("enough, and minimal", [&] {
        const Case c = random_case(1 + upto(1), GetParam());
        const int wanted = c.wanted.slots;
        const bool ready = slots_in_all(c, {}) >= wanted;
        const bool possible = slots_in_all(c, all_that_may_go(c)) >= wanted;
        RC_CLASSIFY(!ready && possible, "plan");
        RC_ASSERT(std::holds_alternative<NothingToDo>(c.decision) == ready);
        RC_ASSERT(std::holds_alternative<NotEnough>(c.decision) == (!ready && !possible));
        const auto gone = victims_of(c.decision);
        if (gone.empty()) return;
        RC_ASSERT(slots_in_all(c, gone) >= wanted);
        for (const auto& victim : gone) {
            auto others = gone;
            others.erase(victim);
            RC_ASSERT(slots_in_all(c, others) < wanted);
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Strategies, GroupPlans,
                         ::testing::Values("strict", "strict_time", "chance", "cost"),
                         [](const auto& row) { return std::string{row.param}; });

TEST(GroupPlan, TheFewestVictimsAreTheFewest) {
    holds("no set of fewer victims is enough", [] {
        const Case c = random_case(1, "cost", {{"objective", std::vector<std::string>{"victims"}}});
        const auto gone = victims_of(c.decision);
        if (gone.empty()) return;
        const auto all = all_that_may_go(c);
        const std::vector<ServerId> servers(all.begin(), all.end());
        for (std::size_t set = 0; set < std::size_t{1} << servers.size(); ++set) {
            if (static_cast<std::size_t>(std::popcount(set)) + 1 != gone.size()) continue;
            std::set<ServerId> some;
            for (std::size_t i = 0; i < servers.size(); ++i)
                if ((set >> i & 1) != 0) some.insert(servers[i]);
            RC_ASSERT(slots_in_all(c, some) < c.wanted.slots);
        }
    });
}

Host three_gpus(const std::string& name, Amount each) {
    Host made = host(name, {{"VCPU", 1}});
    for (const char* const gpu : {"-gpu0", "-gpu1", "-gpu2"})
        nest(made, name + gpu, {{"VGPU", each}});
    return made;
}

/// Of one GPU each.
Request in_groups(const std::vector<Amount>& amounts, int slots) {
    Request wanted = request({}, slots);
    for (const Amount amount : amounts) {
        RequestGroup group;
        group.suffix = std::to_string(amount);
        group.resources.set(ResourceClass{"VGPU"}, amount);
        wanted.resources += group.resources;
        wanted.groups.push_back(std::move(group));
    }
    return wanted;
}

TEST(GroupPlan, WhatASearchDoesNotFindIsNotSaidToBeMissing) {
    const Host made = three_gpus("h", 200);
    Request wanted = in_groups({1, 2}, 70);
    wanted.operation = Operation::manual;  // counts all combinations
    wanted.group_policy = GroupPolicy::isolate;
    ASSERT_EQ(slots_without(made, ways_of(made, wanted), {}, wanted.slots), wanted.slots);
    const auto decision = plan(wanted, Snapshot{at(0), {made}, {}});
    const auto* const answer = std::get_if<NotEnough>(&decision);
    ASSERT_NE(answer, nullptr);
    EXPECT_THAT(answer->reason, ::testing::HasSubstr("70 slots could be found, in a search"));
    EXPECT_TRUE(answer->cut);
    // Nor is it proven that limits are in the way.
    Host other = three_gpus("i", 9);
    for (const std::string gpu : {"i-gpu0", "i-gpu1", "i-gpu2"})
        put(other, revocable("on-" + gpu, ProviderId{gpu}, {{"VGPU", 9}}));
    Budgets budgets;
    budgets.all = {Budget{0, "limit-window", "all"}};
    PlanOptions options;
    options.budgets = &budgets;
    const auto limited = plan(wanted, Snapshot{at(0), {made, other}, {}}, options);
    ASSERT_TRUE(std::holds_alternative<NotEnough>(limited)) << summary(limited);
    EXPECT_THAT(summary(limited), ::testing::HasSubstr("within the limits was found"));
}

TEST(GroupPlan, NoSearchIsSaidToBeCutShortThatCouldHaveFoundNothing) {
    // Whether nine fit onto eight empty GPUs is a long search, but these are full.
    Host made = host("h", {{"VCPU", 1}});
    for (int i = 0; i < 8; ++i) {
        const std::string gpu = "gpu" + std::to_string(i);
        nest(made, gpu, {{"VGPU", 100 + i}});
        put(made, server("on-" + gpu, ProviderId{gpu}, {{"VGPU", 100 + i}}));
    }
    Request wanted = in_groups({61, 62, 63, 64, 65, 66, 67, 68, 69}, 1);
    wanted.group_policy = GroupPolicy::none;
    const auto decision = plan(wanted, Snapshot{at(0), {made}, {}});
    const auto* const answer = std::get_if<NotEnough>(&decision);
    ASSERT_NE(answer, nullptr);
    EXPECT_FALSE(answer->cut);
    EXPECT_THAT(answer->reason, ::testing::HasSubstr("0 of 1 slot can come free"));
    EXPECT_EQ(rejection_of(decision, "h").code, RejectionCode::not_enough_revocable)
        << "the search was not long";
}

}  // namespace
}  // namespace reaper::groups_properties_test
