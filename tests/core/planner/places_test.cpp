// Servers that take a request's places on a host (anti-affinity, hints) may be victims: what is
// planned holds once they are gone.
#include "reaper/planner/places.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "core/cloud_builder.hpp"
#include "core/seeded.hpp"

namespace reaper::places_test {
namespace {

using namespace reaper::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Resources one_cpu{{"VCPU", 1}};

Request apart(std::set<ServerId> members, int slots = 1, int most = 1) {
    Request wanted = request(one_cpu, slots);
    wanted.placement.group = {"g-1", "the group", "anti-affinity", most, std::move(members)};
    return wanted;
}

Host with(const char* name, Amount vcpus, std::vector<Server> servers) {
    Host made = host(name, Resources{{"VCPU", vcpus}});
    for (Server& server : servers) put(made, std::move(server));
    return made;
}

std::string reason_of(const Decision& decision) {
    const auto* none = std::get_if<NotEnough>(&decision);
    return none == nullptr ? "" : none->reason;
}

TEST(Places, ARevocableNeighbourOfAnAntiAffinityGroupGoes) {
    const Snapshot cloud{at(0), {with("a", 4, {revocable("v", HostId{"a"}, one_cpu)})}, {}};
    EXPECT_THAT(victim_ids(plan(apart({ServerId{"v"}}), cloud)), ElementsAre("v"));
}

TEST(Places, ARegularNeighbourStays) {
    const Snapshot cloud{at(0), {with("a", 4, {server("r", HostId{"a"}, one_cpu)})}, {}};
    const auto none = plan(apart({ServerId{"r"}}), cloud);
    EXPECT_EQ(rejection_of(none, "a").code, RejectionCode::server_group);
}

TEST(Places, OnlyAsManyGoAsTheGroupNeeds) {
    const Snapshot cloud{
        at(0),
        {with("a", 8,
              {revocable("v1", HostId{"a"}, one_cpu), revocable("v2", HostId{"a"}, one_cpu),
               revocable("w", HostId{"a"}, one_cpu)})},
        {}};
    EXPECT_EQ(victim_ids(plan(apart({ServerId{"v1"}, ServerId{"v2"}}, 1, 2), cloud)).size(), 1U);
    EXPECT_THAT(victim_ids(plan(apart({ServerId{"v1"}, ServerId{"v2"}}, 2, 2), cloud)),
                ElementsAre("v1", "v2"));
}

TEST(Places, ServersToBeApartFromGoIfAllOfAHostMay) {
    Request wanted = request(one_cpu);
    wanted.placement.apart_from = {ServerId{"v1"}, ServerId{"v2"}};
    const Snapshot cloud{
        at(0),
        {with("a", 8,
              {revocable("v1", HostId{"a"}, one_cpu), revocable("v2", HostId{"a"}, one_cpu)})},
        {}};
    const auto decision = plan(wanted, cloud);
    EXPECT_THAT(victim_ids(decision), ElementsAre("v1", "v2"));
    // No server holds the places as resources.
    const auto& made = std::get<Plan>(decision).hosts.at(0);
    EXPECT_EQ(made.victims.at(0).resources, one_cpu);
    EXPECT_EQ(made.free_before, (Resources{{"VCPU", 6}}));
}

TEST(Places, OfSeveralServersToBeBesideOneStays) {
    for (const bool by_hint : {false, true}) {
        Request wanted = request(one_cpu);
        const std::set<ServerId> both{ServerId{"v1"}, ServerId{"v2"}};
        if (by_hint)
            wanted.placement.with = both;
        else
            wanted.placement.group = {"g-1", "the group", "affinity", 1, both};
        const Snapshot cloud{
            at(0),
            {with("a", 2,
                  {revocable("v1", HostId{"a"}, one_cpu), revocable("v2", HostId{"a"}, one_cpu)})},
            {}};
        EXPECT_EQ(victim_ids(plan(wanted, cloud)).size(), 1U);
    }
}

TEST(Places, OfSeveralServersToBeBesideTheOneStaysThatIsWorthMost) {
    Request wanted = request(one_cpu);
    wanted.placement.with = {ServerId{"v1"}, ServerId{"v2"}};
    Server gold = revocable("v2", HostId{"a"}, one_cpu);
    gold.project = ProjectId{"gold"};
    const Snapshot cloud{at(0), {with("a", 2, {revocable("v1", HostId{"a"}, one_cpu), gold})}, {}};
    const Parameters tiers{{"objective", std::vector<std::string>{"priority"}},
                           {"priorities", std::vector<std::string>{"gold=9"}}};
    EXPECT_THAT(victim_ids(plan(wanted, cloud, {}, {}, "cost", tiers)), ElementsAre("v1"));
}

TEST(Places, AreNoRoomOfTheCloudThatAProjectHoldsAShareOf) {
    Server small = revocable("small", HostId{"a"}, one_cpu, -60);
    small.project = ProjectId{"small"};
    Server large = revocable("large", HostId{"b"}, {{"VCPU", 4}}, -9'000);
    large.project = ProjectId{"large"};
    const Snapshot cloud{at(0), {with("a", 5, {small}), with("b", 5, {large})}, {}};
    const Request wanted = apart({ServerId{"small"}, ServerId{"large"}});
    const Parameters fair{{"objective", std::vector<std::string>{"fair_share", "lost_work"}}};
    EXPECT_THAT(victim_ids(plan(wanted, cloud, {}, {}, "cost", fair)), ElementsAre("large"));
}

TEST(Places, OfHundredsToBeBesideNotEachIsTriedAndThatIsNotSaidToBeAll) {
    Request wanted = request(one_cpu, 300);
    std::vector<Server> servers;
    for (int i = 0; i < 300; ++i) {
        servers.push_back(revocable("v" + std::to_string(i), HostId{"a"}, one_cpu));
        wanted.placement.with.insert(servers.back().id);
    }
    const Snapshot cloud{at(0), {with("a", 300, servers)}, {}};
    EXPECT_LE(beside_one_each(wanted, CloudIndex{cloud}).size(), 32U);
    const auto decision = plan(wanted, cloud);
    ASSERT_TRUE(std::holds_alternative<NotEnough>(decision)) << summary(decision);
    EXPECT_TRUE(std::get<NotEnough>(decision).cut);
    wanted.slots = 1;
    EXPECT_EQ(victim_ids(plan(wanted, cloud)).size(), 1U);
}

TEST(Places, ItIsNotSaidThatAllRevocableServersAreTooFewWhereSomeMayNotGo) {
    Snapshot cloud{at(0), {with("a", 1, {revocable("v", HostId{"a"}, one_cpu)})}, {}};
    PlanOptions options;
    options.skipped = {{ServerId{"v"}, "protected"}};
    EXPECT_THAT(reason_of(plan(request(one_cpu), cloud, options)),
                HasSubstr("even if all revocable servers that may be deleted were"));
    EXPECT_THAT(reason_of(plan(request({{"VCPU", 2}}), cloud, options)),
                HasSubstr("even if all revocable servers were deleted"));
    Request beside = request(one_cpu);
    beside.placement.group = {"g-1", "the group", "affinity", 1, {ServerId{"v"}}};
    EXPECT_THAT(reason_of(plan(beside, cloud)),
                HasSubstr("even if all revocable servers that may be deleted were"));
}

// ---- against enumeration ----

struct Case {
    Snapshot cloud;
    Request wanted;
    std::vector<ServerId> revocable;
};

Case random_case() {
    Case c;
    c.wanted = request(one_cpu, 1 + upto(2));
    const int hosts = 1 + upto(2);
    std::set<ServerId> members;
    for (int h = 0; h < hosts; ++h) {
        const std::string name = "h" + std::to_string(h);
        const int servers = upto(3);
        Host made = host(name, Resources{{"VCPU", std::max(1, servers + upto(2))}});
        for (int i = 0; i < servers; ++i) {
            const ServerId id{name + "-" + std::to_string(i)};
            const bool goes = upto(3) > 0;
            if (goes) c.revocable.push_back(id);
            put(made,
                goes ? revocable(id.str(), made.id, one_cpu) : server(id.str(), made.id, one_cpu));
            if (upto(1) == 0) members.insert(id);
            if (upto(4) == 0) c.wanted.placement.apart_from.insert(id);
        }
        c.cloud.hosts.push_back(std::move(made));
    }
    if (upto(3) > 0)
        c.wanted.placement.group = {"g-1", "the group", "anti-affinity", 1 + upto(1),
                                    std::move(members)};
    c.cloud.taken_at = at(0);
    return c;
}

/// Nova's rules, read plainly, of the cloud without `gone`.
Amount slots_without(const Case& c, const std::set<ServerId>& gone) {
    Amount sum = 0;
    const auto& placement = c.wanted.placement;
    for (const Host& host : c.cloud.hosts) {
        Amount room = host.root().inventories.at(ResourceClass{"VCPU"}).total;
        Amount places = placement.group.apart() ? placement.group.max_on_a_host : 1000;
        for (const Server& server : host.servers) {
            if (gone.contains(server.id)) continue;
            --room;
            if (placement.group.members.contains(server.id)) --places;
            if (placement.apart_from.contains(server.id)) places = -1000;
        }
        sum += std::max<Amount>(0, std::min(room, places));
    }
    return sum;
}

TEST(PlacesProperties, APlanIsFoundExactlyWhereTheCloudAfterItHasTheSlots) {
    holds("places as the cloud will be", [] {
        const Case c = random_case();
        Amount most = 0;
        for (unsigned set = 0; set < 1U << c.revocable.size(); ++set) {
            std::set<ServerId> gone;
            for (std::size_t i = 0; i < c.revocable.size(); ++i)
                if ((set >> i & 1U) != 0) gone.insert(c.revocable[i]);
            most = std::max(most, slots_without(c, gone));
        }
        const Decision decision = plan(c.wanted, c.cloud);
        RC_CLASSIFY(std::holds_alternative<Plan>(decision), "plan");
        RC_CLASSIFY(std::holds_alternative<NotEnough>(decision), "not enough");
        if (const auto* none = std::get_if<NotEnough>(&decision)) {
            RC_ASSERT(most < c.wanted.slots);
            RC_ASSERT(none->slots_possible == most);
            return;
        }
        RC_ASSERT(most >= c.wanted.slots);
        std::set<ServerId> gone;
        for (const auto& id : victim_ids(decision)) gone.insert(ServerId{id});
        RC_ASSERT(slots_without(c, gone) >= c.wanted.slots);
        for (const ServerId& victim : std::set<ServerId>{gone}) {
            gone.erase(victim);
            RC_ASSERT(slots_without(c, gone) < c.wanted.slots);
            gone.insert(victim);
        }
    });
}

}  // namespace
}  // namespace reaper::places_test
