// The index that is kept from one decision to the next.
#include "reaper/planner/cloud_index.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"

namespace reaper::cloud_index_test {
namespace {

using namespace reaper::testing;
using ::testing::ElementsAre;

const Resources big{{"VCPU", 8}};

std::vector<std::string> names_of(const CloudIndex& cloud) {
    std::vector<std::string> names;
    for (const auto row : cloud.order()) names.push_back(cloud.row(row).host->name);
    return names;
}

TEST(CloudIndex, HoldsEachHostOnceByName) {
    const Host a = host("a", big);
    const Host b = host("b", big);
    CloudIndex cloud;
    cloud.put(b);
    cloud.put(a);
    cloud.put(b);
    EXPECT_THAT(names_of(cloud), ElementsAre("a", "b"));
    EXPECT_EQ(cloud.find(b.id), &b);
}

TEST(CloudIndex, RenamedHostIsNotThereTwice) {
    Host a = host("a", big);
    const Host b = host("b", big);
    CloudIndex cloud;
    cloud.put(a);
    cloud.put(b);
    Host renamed = a;
    renamed.name = "c";
    cloud.put(renamed);
    EXPECT_THAT(names_of(cloud), ElementsAre("b", "c"));
    EXPECT_EQ(cloud.find(a.id), &renamed);
}

TEST(CloudIndex, ErasedHostIsGoneAndErasingTwiceIsNothing) {
    const Host a = host("a", big);
    CloudIndex cloud;
    cloud.put(a);
    cloud.erase(a.id);
    cloud.erase(a.id);
    EXPECT_TRUE(cloud.empty());
    EXPECT_EQ(cloud.find(a.id), nullptr);
}

TEST(CloudIndex, DecisionFollowsWhatWasPutLast) {
    Host a = host("a", big);
    put(a, revocable("a1", a.id, big));
    CloudIndex cloud;
    cloud.put(a);
    const auto strategy = make_strategy("strict");
    const auto decide = [&] {
        return make_plan(request({{"VCPU", 4}}), cloud, Ledger{}, *strategy, "strict", {});
    };
    EXPECT_THAT(victim_ids(decide()), ElementsAre("a1"));
    const Host emptied = host("a", big);
    cloud.put(emptied);
    EXPECT_TRUE(std::holds_alternative<NothingToDo>(decide()));
    cloud.erase(a.id);
    EXPECT_TRUE(std::holds_alternative<NotEnough>(decide()));
}

Host with_projects(const std::vector<std::string>& projects) {
    Host made = host("a", big);
    for (std::size_t i = 0; i < projects.size(); ++i) {
        Server server = revocable("a" + std::to_string(i), made.id, {{"VCPU", 1}});
        server.project = ProjectId{projects[i]};
        put(made, server);
    }
    return made;
}

TEST(CloudIndex, FleetsFollowServersThatComeAndGo) {
    using Fleets = std::map<ProjectId, Amount>;
    const Host before = with_projects({"p", "q", "p"});
    const Host after = with_projects({"q", "r"});
    CloudIndex cloud;
    cloud.put(before);
    EXPECT_EQ(cloud.fleets(), (Fleets{{ProjectId{"p"}, 2}, {ProjectId{"q"}, 1}}));
    cloud.put(after);
    EXPECT_EQ(cloud.fleets(), (Fleets{{ProjectId{"q"}, 1}, {ProjectId{"r"}, 1}}));
    cloud.put(before);
    EXPECT_EQ(cloud.fleets(), (Fleets{{ProjectId{"p"}, 2}, {ProjectId{"q"}, 1}}));
    cloud.erase(before.id);
    EXPECT_EQ(cloud.fleets(), Fleets{});
}

}  // namespace
}  // namespace reaper::cloud_index_test
