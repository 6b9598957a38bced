// Which neighbours of its victims a plan tells, and why they stayed.
#include "reaper/planner/spared_servers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

#include "core/cloud_builder.hpp"

namespace reaper::spared_servers_test {
namespace {

using namespace reaper::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Resources quarter{{"VCPU", 2}, {"MEMORY_MB", 2048}};

Host full(const std::string& name, int servers) {
    Host made = host(name, quarter * servers);
    for (int i = 1; i <= servers; ++i)
        put(made, revocable(name + "-" + std::to_string(10 + i), made.id, quarter, i));
    return made;
}

Plan plan_on(const Host& made, const PlanOptions& options = {}) {
    const auto decision = plan(request(quarter), Snapshot{at(100), {made}, {}}, options);
    EXPECT_TRUE(std::holds_alternative<Plan>(decision)) << summary(decision);
    return std::holds_alternative<Plan>(decision) ? std::get<Plan>(decision) : Plan{};
}

std::vector<std::string> spared_ids(const HostPlan& host) {
    std::vector<std::string> ids;
    for (const auto& spared : host.spared) ids.push_back(spared.server.str());
    return ids;
}

TEST(SparedServers, AreReportedWithWhatTheyHoldAndWhyTheyStay) {
    Host made = full("a", 3);
    made.servers[2].task_state = "migrating";
    for (Server& each : made.servers) each.flavor_name = "m1.small";
    const Plan plan = plan_on(made);
    const auto victims = plan.victims();
    ASSERT_THAT(victims, SizeIs(1));
    EXPECT_EQ(victims[0].flavor, "m1.small");
    ASSERT_EQ(plan.hosts[0].spared_in_all, 2);
    ASSERT_THAT(plan.hosts[0].spared, SizeIs(2));
    const SparedServer& first = plan.hosts[0].spared[0];
    EXPECT_EQ(first.server, ServerId{victims[0].server == ServerId{"a-11"} ? "a-12" : "a-11"});
    EXPECT_TRUE(first.might_have_gone);
    EXPECT_EQ(first.reason,
              "might have gone instead of the victim: as good otherwise; among equals the ids "
              "decide");
    EXPECT_EQ(first.resources, quarter);
    EXPECT_EQ(first.project, ProjectId{"cheap"});
    const SparedServer& moving = plan.hosts[0].spared[1];
    EXPECT_EQ(moving.server, ServerId{"a-13"});
    EXPECT_FALSE(moving.might_have_gone);
    EXPECT_THAT(moving.reason, ::testing::StartsWith("it is between two hosts"));
    EXPECT_EQ(moving.created, at(3));
}

/// Why the neighbours of the victims stay, by their ids.
std::map<std::string, std::string> reasons(const Host& made, const Resources& wanted,
                                           const std::string& strategy,
                                           const Parameters& parameters = {}) {
    PlanOptions options;
    options.now = at(36'000);
    const auto decision =
        plan(request(wanted), Snapshot{at(36'000), {made}, {}}, options, {}, strategy, parameters);
    EXPECT_TRUE(std::holds_alternative<Plan>(decision)) << summary(decision);
    std::map<std::string, std::string> all;
    for (const auto& host : host_plans(decision))
        for (const auto& spared : host.spared) all[spared.server.str()] = spared.reason;
    return all;
}

TEST(SparedServers, ThoseThatAreTooSmallAreReportedWithWhatWouldBeMissing) {
    Host made = host("a", {{"VCPU", 12}});
    put(made, revocable("large", made.id, {{"VCPU", 8}}));
    for (const char* const id : {"s1", "s2", "s3", "s4"})
        put(made, revocable(id, made.id, {{"VCPU", 1}}));
    const auto one = reasons(made, {{"VCPU", 8}}, "cost");
    EXPECT_EQ(one.size(), 4U);
    for (const auto& [id, why] : one)
        EXPECT_EQ(why, "too small to go instead of the victim: 7 VCPU would be missing") << id;
    const auto two = reasons(made, {{"VCPU", 9}}, "cost");
    EXPECT_EQ(two.size(), 3U);
    for (const auto& [id, why] : two)
        EXPECT_THAT(why, HasSubstr("might have gone instead of 'name-of-s1': as good")) << id;
}

TEST(SparedServers, ThoseThatCostMoreAreReportedWithTheFigures) {
    Host made = host("a", {{"VCPU", 6}});
    put(made, revocable("old", made.id, {{"VCPU", 2}}, 0));
    put(made, revocable("wide", made.id, {{"VCPU", 3}}, 29'000));
    put(made, revocable("young", made.id, {{"VCPU", 1}}, 34'000));
    const auto by_cost = reasons(made, {{"VCPU", 1}}, "cost");
    EXPECT_EQ(
        by_cost.at("old"),
        "might have gone instead of the victim: score 1260 = lost work 1200 vCPU-minutes + 60 "
        "x 1 victim against score 93 = lost work 33 vCPU-minutes + 60 x 1 victim");
    const auto by_waste = reasons(made, {{"VCPU", 1}}, "strict");
    EXPECT_EQ(by_waste.at("wide"),
              "might have gone instead of the victim: VCPU=2 unused against VCPU=0 unused");
    const auto alike = reasons(full("b", 2), quarter, "strict_time");
    for (const auto& [id, why] : alike)
        EXPECT_EQ(why,
                  "might have gone instead of the victim: as good otherwise; among equals the "
                  "newest go first, then the ids decide");
    const auto by_dice = reasons(full("b", 2), quarter, "chance");
    for (const auto& [id, why] : by_dice) EXPECT_THAT(why, HasSubstr("preferred the victims"));
}

TEST(SparedServers, RegularOnesAndThoseThatGoAlreadyAreNoNeighbours) {
    Host made = full("a", 2);
    put(made, server("regular", made.id, {}));
    put(made, revocable("idle", made.id, {{"CUSTOM_OTHER", 1}}));
    Server going = revocable("going", made.id, {{"CUSTOM_OTHER", 1}});
    going.task_state = "deleting";
    put(made, going);
    const Plan plan = plan_on(made);
    EXPECT_EQ(plan.hosts[0].spared_in_all, 2);
    ASSERT_THAT(plan.hosts[0].spared, SizeIs(2));
    EXPECT_EQ(plan.hosts[0].spared[1].server, ServerId{"idle"});
    EXPECT_EQ(plan.hosts[0].spared[1].reason, "it holds nothing that the request needs");
}

TEST(SparedServers, WhomAFreshReadFoundUnfitHasItsReason) {
    PlanOptions options;
    options.skipped[ServerId{"a-11"}] = "it was locked since";
    const Plan plan = plan_on(full("a", 2), options);
    EXPECT_THAT(victim_ids(plan), ElementsAre("a-12"));
    ASSERT_THAT(plan.hosts[0].spared, SizeIs(1));
    EXPECT_EQ(plan.hosts[0].spared[0].reason, "it was locked since");
}

TEST(SparedServers, AreAsManyAsAHostMayTellAndTheRestIsCounted) {
    const Plan plan = plan_on(full("a", 40));
    EXPECT_EQ(plan.hosts[0].spared_in_all, 39);
    EXPECT_THAT(plan.hosts[0].spared, SizeIs(max_spared_of_host));
    const auto ids = spared_ids(plan.hosts[0]);
    EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
}

TEST(SparedServers, AreBoundedOverAllHostsOfAPlan) {
    Snapshot cloud{at(100), {}, {}};
    const int hosts = 12;
    for (int i = 0; i < hosts; ++i) cloud.hosts.push_back(full("h" + std::to_string(10 + i), 10));
    Request wanted = request(quarter, hosts);
    wanted.placement.group = {"g", "group", "anti-affinity", 1, {}};
    const auto decision = plan(wanted, cloud);
    ASSERT_TRUE(std::holds_alternative<Plan>(decision)) << summary(decision);
    std::size_t told = 0;
    int counted = 0;
    for (const auto& host : std::get<Plan>(decision).hosts) {
        told += host.spared.size();
        counted += host.spared_in_all.value_or(0);
    }
    EXPECT_EQ(told, max_spared_of_plan);
    EXPECT_EQ(counted, 9 * hosts);
}

TEST(SparedServers, WhereNoServerIsDeletedNoneIsSpared) {
    Host made = host("a", quarter * 2);
    put(made, revocable("a-1", made.id, quarter));
    const auto decision = plan(request(quarter), Snapshot{at(100), {made}, {}});
    ASSERT_TRUE(std::holds_alternative<NothingToDo>(decision)) << summary(decision);
    EXPECT_EQ(std::get<NothingToDo>(decision).hosts[0].spared_in_all, std::nullopt);
    EXPECT_THAT(std::get<NothingToDo>(decision).hosts[0].spared, IsEmpty());
}

}  // namespace
}  // namespace reaper::spared_servers_test
