// What the configuration names in the cloud: found, or told; and ids for names.
#include "reaper/decision/cloud_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reaper/decision/policy.hpp"

namespace reaper::cloud_names_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;
using Level = NameFinding::Level;

config::Policy policy_with(const std::vector<std::string>& protected_projects) {
    config::Policy policy;
    policy.taggers = {{"project", {}}};
    policy.strategy = {"strict", {}};
    policy.safeguards.protect.projects = protected_projects;
    return policy;
}

ProjectSearch found(const std::string& id, const std::string& name) {
    Project project;
    project.id = ProjectId{id};
    project.name = name;
    project.domain = "default";
    return {project, ""};
}

CloudDirectory usual_cloud() {
    CloudDirectory directory;
    directory.classes = {ResourceClass{"VCPU"}, ResourceClass{"MEMORY_MB"},
                         ResourceClass{"DISK_GB"}};
    directory.tagged = {{"preemptible", {"spot"}}};
    return directory;
}

const NameFinding& finding(const ResolvedPolicy& resolved, const std::string& text) {
    for (const auto& each : resolved.findings)
        if (each.name.text == text) return each;
    ADD_FAILURE() << "nothing is said of " << text;
    return resolved.findings.front();
}

TEST(CloudNames, AreThoseOfEveryKeyThatNamesSomething) {
    config::Policy policy = policy_with({"gold"});
    policy.scheduler.watched_aggregates = {"east", " north | south "};
    policy.taggers = {{"resource", {{"class", std::string{"CUSTOM_SPOT"}}}}, {"project", {}}};
    policy.strategy = {"cost",
                       {{"objective", std::vector<std::string>{"2 waste:CUSTOM_GPU + victims"}},
                        {"waste_order", std::vector<std::string>{"VCPU"}},
                        {"work_class", std::string{"MEMORY_MB"}},
                        {"priorities", std::vector<std::string>{"a=b=5", "large=1"}}}};
    std::vector<std::string> told;
    for (const auto& name : names_in(policy)) told.push_back(name.key + " " + name.text);
    EXPECT_THAT(told, ElementsAre("protect.projects gold", "watched_aggregates east",
                                  "watched_aggregates north", "watched_aggregates south",
                                  "taggers[0].class CUSTOM_SPOT", "taggers[1].tag preemptible",
                                  "strategy.objective CUSTOM_GPU", "strategy.waste_order VCPU",
                                  "strategy.work_class MEMORY_MB", "strategy.priorities a=b",
                                  "strategy.priorities large"));
}

TEST(CloudNames, AProtectedProjectMayBeCalledByItsName) {
    CloudDirectory directory = usual_cloud();
    directory.projects = {{"Default/spot", found("77cb", "spot")}};
    const ResolvedPolicy resolved = resolve(policy_with({"Default/spot"}), directory);
    EXPECT_EQ(resolved.obstacle(), std::nullopt);
    EXPECT_EQ(finding(resolved, "Default/spot").level, Level::found);
    const auto compiled = compile_policy(resolved.policy);
    ASSERT_TRUE(compiled);
    Server server;
    server.project = ProjectId{"77cb"};
    EXPECT_TRUE((*compiled)->protection.protects(server));
    server.project = ProjectId{"other"};
    EXPECT_FALSE((*compiled)->protection.protects(server));
}

TEST(CloudNames, AProtectedProjectThatIsNotThereHoldsEverythingBack) {
    CloudDirectory directory = usual_cloud();
    directory.projects = {{"spot", found("77cb", "spot")},
                          {"spto", {std::nullopt, "Keystone has no project 'spto'"}}};
    const ResolvedPolicy resolved = resolve(policy_with({"spot", "spto"}), directory);
    EXPECT_THAT(resolved.obstacle(), Optional(HasSubstr("Keystone has no project 'spto'")));
    EXPECT_THAT(resolved.obstacle(), Optional(HasSubstr("protect.projects")));
    const auto compiled = compile_policy(resolved.policy);
    ASSERT_TRUE(compiled);
    EXPECT_TRUE((*compiled)->protection.protects(Server{}))
        << "nor does the policy spare any server";
}

TEST(CloudNames, PrioritiesAreOfProjectsByAnyNameAndOfFlavors) {
    config::Policy policy = policy_with({});
    policy.strategy = {
        "cost",
        {{"priorities", std::vector<std::string>{"batch=10", "b1=3", "large=5", "no-such=1"}}}};
    CloudDirectory directory = usual_cloud();
    directory.flavors = {"large", "batch"};
    directory.projects = {{"batch", found("b1", "batch")},
                          {"b1", found("b1", "batch")},
                          {"large", {std::nullopt, "none"}},
                          {"no-such", {std::nullopt, "none"}}};
    const ResolvedPolicy resolved = resolve(policy, directory);
    EXPECT_EQ(finding(resolved, "batch").level, Level::found);
    EXPECT_EQ(finding(resolved, "large").level, Level::found);
    EXPECT_EQ(finding(resolved, "no-such").level, Level::missing);
    EXPECT_EQ(resolved.obstacle(), std::nullopt) << "no server is less protected for it";
    EXPECT_THAT(
        std::get<std::vector<std::string>>(resolved.policy.strategy.parameters.at("priorities")),
        ElementsAre("b1=10", "batch=10", "large=5", "no-such=1"));
    EXPECT_TRUE(compile_policy(resolved.policy));
}

TEST(CloudNames, ClassesAndTagsThatAreNotThereAreReported) {
    config::Policy policy = policy_with({});
    policy.strategy = {"strict", {{"leftover_order", std::vector<std::string>{"MEMORY", "VCPU"}}}};
    CloudDirectory directory = usual_cloud();
    directory.tagged.clear();
    const ResolvedPolicy resolved = resolve(policy, directory);
    EXPECT_EQ(finding(resolved, "MEMORY").level, Level::missing);
    EXPECT_EQ(finding(resolved, "MEMORY").what, "strategy.leftover_order");
    EXPECT_EQ(finding(resolved, "VCPU").level, Level::found);
    EXPECT_EQ(finding(resolved, "preemptible").level, Level::missing);
    EXPECT_THAT(finding(resolved, "preemptible").detail, HasSubstr("--tag preemptible"));
}

TEST(CloudNames, AnAggregateMayBeCalledByItsUuidInAnyCase) {
    config::Policy policy = policy_with({});
    policy.scheduler.watched_aggregates = {"ABCD-1| east", "nowhere", "empty"};
    CloudDirectory directory = usual_cloud();
    directory.aggregates = {{"abcd-1", "west", {"h1"}, {}},
                            {"u-2", "east", {"h2", "h3"}, {}},
                            {"u-3", "empty", {}, {}}};
    const ResolvedPolicy resolved = resolve(policy, directory);
    EXPECT_THAT(resolved.policy.scheduler.watched_aggregates,
                ElementsAre("abcd-1|east", "nowhere", "empty"));
    EXPECT_EQ(finding(resolved, "east").detail, "'east': 2 hosts");
    EXPECT_EQ(finding(resolved, "nowhere").level, Level::missing);
    EXPECT_EQ(finding(resolved, "empty").level, Level::doubtful);
}

TEST(CloudNames, WhatCouldNotBeAskedIsNotCalledMissing) {
    CloudDirectory directory;
    directory.not_asked = {{CloudName::Kind::resource_class, {Errc::forbidden, "placement: 403"}},
                           {CloudName::Kind::project_tag, {Errc::forbidden, "keystone: 403"}}};
    const ResolvedPolicy resolved = resolve(policy_with({}), directory);
    ASSERT_FALSE(resolved.findings.empty());
    for (const auto& each : resolved.findings) {
        EXPECT_EQ(each.level, Level::doubtful);
        EXPECT_THAT(each.detail, HasSubstr("could not be looked up"));
    }
}

}  // namespace
}  // namespace reaper::cloud_names_test
