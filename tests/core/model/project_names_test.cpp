// Names of projects beside their ids.
#include "reaper/model/project_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reaper/model/named_records.hpp"

namespace reaper::test::project_names_test {
namespace {

using ::testing::ElementsAre;

const ProjectNames known{{ProjectId{"p-1"}, "web"}, {ProjectId{"p-2"}, "batch"}};

RequestRecord record() {
    RequestRecord made;
    made.request.project = ProjectId{"p-1"};
    Plan plan;
    plan.hosts.resize(1);
    Victim victim;
    victim.project = ProjectId{"p-2"};
    SparedServer spared;
    spared.project = ProjectId{"p-3"};
    plan.hosts[0].victims = {victim};
    plan.hosts[0].spared = {spared};
    made.plans.push_back({1, TimePoint{}, plan});
    return made;
}

TEST(ProjectNames, StandBeforeTheId) {
    EXPECT_EQ(project_text(ProjectId{"p-1"}, "web"), "web (p-1)");
    EXPECT_EQ(project_text(ProjectId{"p-1"}, ""), "p-1") << "not known";
    EXPECT_EQ(project_text(ProjectId{"web"}, "web"), "web");
}

TEST(ProjectNames, DoNothingToTheLineThatTheyStandIn) {
    EXPECT_EQ(project_text(ProjectId{"p-1"}, "a\x1b[2J\nb"), R"(a\x1b[2J\x0ab (p-1))");
    EXPECT_EQ(project_text(ProjectId{"p-1"}, std::string(100, 'a')).size(), 67U + 6U) << "cut";
}

TEST(ProjectNames, AreAddedWhereNoneWasRecorded) {
    RequestRecord told = record();
    add_names(known, told);
    EXPECT_EQ(told.request.project_name, "web");
    const HostPlan& host = std::get<Plan>(told.plans[0].decision).hosts[0];
    EXPECT_EQ(host.victims[0].project_name, "batch");
    EXPECT_EQ(host.spared[0].project_name, "") << "not among those that are known";
    add_names({{ProjectId{"p-1"}, "renamed"}}, told);
    EXPECT_EQ(told.request.project_name, "web") << "as it was called then";
}

TEST(ProjectNames, LeadToTheProjectsThatHaveThem) {
    ProjectNames twice = known;
    twice[ProjectId{"p-0"}] = "web";
    EXPECT_THAT(projects_named(twice, "web"), ElementsAre(ProjectId{"p-0"}, ProjectId{"p-1"}));
    EXPECT_THAT(projects_named(twice, "p-1"), ElementsAre()) << "an id is no name";
    EXPECT_EQ(several_projects("web", projects_named(twice, "web")),
              "2 projects are called 'web': write the id of one: p-0, p-1");
}

TEST(ProjectNames, StandInTheLineOfARequest) {
    Request request;
    request.id = RequestId{"req-1"};
    request.project = ProjectId{"p-1"};
    EXPECT_NE(to_string(request).find(" for project p-1 (build"), std::string::npos);
    request.project_name = "web";
    EXPECT_NE(to_string(request).find(" for project web (p-1) (build"), std::string::npos);
}

}  // namespace
}  // namespace reaper::test::project_names_test
