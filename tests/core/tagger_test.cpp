#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cloud_builder.hpp"
#include "reaper/snapshot/assemble.hpp"
#include "tagging/tagger_table.hpp"

namespace reaper {
namespace {

using namespace reaper::testing;
using ::testing::ElementsAre;
using ::testing::Optional;

std::unique_ptr<Tagger> project_tagger_of(Parameters given = {}) {
    const auto* info = find_tagger("project");
    auto made = info->make(with_standards(info->parameters, std::move(given)));
    return std::move(std::get<std::unique_ptr<Tagger>>(made));
}

TEST(ProjectTagger, AsksForItsTag) {
    TagQuestions questions;
    project_tagger_of()->ask(questions);
    project_tagger_of({{"tag", std::string{"spot"}}})->ask(questions);
    EXPECT_THAT(questions.project_tags, ElementsAre("preemptible", "spot"));
}

TEST(ProjectTagger, ServersOfTaggedProjectsAreRevocable) {
    const TagFacts facts{{{"preemptible", {ProjectId{"cheap"}}}, {"spot", {ProjectId{"other"}}}}};
    const auto tagger = project_tagger_of();
    Server server;
    server.project = ProjectId{"cheap"};
    EXPECT_THAT(tagger->why_revocable(server, facts),
                Optional(std::string{"its project cheap carries the tag 'preemptible'"}));
    for (const auto* project : {"other", "usual", ""}) {
        server.project = ProjectId{project};
        EXPECT_EQ(tagger->why_revocable(server, facts), std::nullopt) << project;
    }
    EXPECT_EQ(tagger->why_revocable(server, TagFacts{}), std::nullopt);
}

TEST(ProjectTagger, Rule7RequestersOfTaggedProjectsAreRevocable) {
    const TagFacts facts{{{"preemptible", {ProjectId{"cheap"}}}}};
    auto wanted = request({{"VCPU", 1}});
    EXPECT_EQ(project_tagger_of()->why_revocable(wanted, facts), std::nullopt);
    wanted.project = ProjectId{"cheap"};
    EXPECT_TRUE(project_tagger_of()->why_revocable(wanted, facts).has_value());
}

TEST(ProjectTagger, TagThatKeystoneCannotHaveIsRefused) {
    const auto* info = find_tagger("project");
    for (const auto* tag : {"", "a/b", "a,b"})
        EXPECT_TRUE(std::holds_alternative<ParameterError>(
            info->make(with_standards(info->parameters, {{"tag", std::string{tag}}}))))
            << tag;
}

std::unique_ptr<Tagger> resource_tagger_of(Parameters given = {}) {
    const auto* info = find_tagger("resource");
    auto made = info->make(with_standards(info->parameters, std::move(given)));
    return std::move(std::get<std::unique_ptr<Tagger>>(made));
}

TEST(ResourceTagger, ServersThatHoldTheClassOnAnyProviderAreRevocable) {
    const auto tagger = resource_tagger_of();
    const ProviderId root{"a"};
    const ProviderId nested{"a-slots"};
    Server held = server("v", root, {{"VCPU", 2}});
    EXPECT_EQ(tagger->why_revocable(held, {}), std::nullopt);
    held.allocations[nested] = Resources{{"CUSTOM_PREEMPTIBLE", 1}};
    EXPECT_THAT(tagger->why_revocable(held, {}),
                Optional(std::string{"it holds CUSTOM_PREEMPTIBLE in Placement"}));
    EXPECT_EQ(resource_tagger_of({{"class", std::string{"CUSTOM_SPOT"}}})->why_revocable(held, {}),
              std::nullopt);
    const Server on_root = server("w", root, {{"VCPU", 2}, {"CUSTOM_PREEMPTIBLE", 1}});
    EXPECT_TRUE(tagger->why_revocable(on_root, {}).has_value());
}

TEST(ResourceTagger, Rule7RequestersThatAskForTheClassAreRevocable) {
    const auto tagger = resource_tagger_of();
    EXPECT_EQ(tagger->why_revocable(request({{"VCPU", 1}}), {}), std::nullopt);
    EXPECT_TRUE(
        tagger->why_revocable(request({{"VCPU", 1}, {"CUSTOM_PREEMPTIBLE", 1}}), {}).has_value());
}

TEST(ResourceTagger, ClassThatEveryServerHoldsIsRefused) {
    const auto* info = find_tagger("resource");
    for (const auto* name : {"", "VCPU", "CUSTOM_", "CUSTOM_spot", "CUSTOM_A B", "XCUSTOM_A"})
        EXPECT_TRUE(std::holds_alternative<ParameterError>(
            info->make(with_standards(info->parameters, {{"class", std::string{name}}}))))
            << name;
}

TEST(ResourceTagger, ItsClassIsHeldWhereFreedRoomIs) {
    EXPECT_THAT(resource_tagger_of({{"class", std::string{"CUSTOM_SPOT"}}})->held_class(),
                Optional(ResourceClass{"CUSTOM_SPOT"}));
    EXPECT_EQ(resource_tagger_of({{"freed_room", std::string{"open"}}})->held_class(),
              std::nullopt);
    EXPECT_EQ(project_tagger_of()->held_class(), std::nullopt);
    const auto* info = find_tagger("resource");
    EXPECT_TRUE(std::holds_alternative<ParameterError>(
        info->make(with_standards(info->parameters, {{"freed_room", std::string{"maybe"}}}))));
}

TEST(Taggers, OneSaysRevocableAndAllReasonsAreTold) {
    const TagFacts facts{{{"preemptible", {ProjectId{"cheap"}}}, {"spot", {ProjectId{"cheap"}}}}};
    Taggers taggers;
    taggers.push_back(project_tagger_of());
    taggers.push_back(project_tagger_of({{"tag", std::string{"spot"}}}));
    taggers.push_back(project_tagger_of({{"tag", std::string{"unused"}}}));
    Server server;
    server.project = ProjectId{"cheap"};
    EXPECT_THAT(why_revocable(server, taggers, facts),
                Optional(std::string{"its project cheap carries the tag 'preemptible', and its "
                                     "project cheap carries the tag 'spot'"}));
    server.project = ProjectId{"usual"};
    EXPECT_EQ(why_revocable(server, taggers, facts), std::nullopt);
}

TEST(TaggerTable, EveryTaggerHasHelpAndMakesWithItsStandards) {
    for (const auto& info : tagger_table()) {
        EXPECT_FALSE(info.help.empty());
        EXPECT_EQ(find_tagger(info.name), &info);
        EXPECT_TRUE(std::holds_alternative<std::unique_ptr<Tagger>>(
            info.make(with_standards(info.parameters, {}))));
    }
    EXPECT_EQ(find_tagger("none"), nullptr);
}

}  // namespace
}  // namespace reaper
