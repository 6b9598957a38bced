#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"
#include "reaper/cloud/cache/assemble.hpp"
#include "tagging/taggers.hpp"

namespace reaper::tagger_test {
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
    TaggerInputs tagger_inputs;
    project_tagger_of()->ask(tagger_inputs);
    project_tagger_of({{"tag", std::string{"spot"}}})->ask(tagger_inputs);
    EXPECT_THAT(tagger_inputs.project_tags, ElementsAre("preemptible", "spot"));
}

TEST(ProjectTagger, ServersOfTaggedProjectsAreRevocable) {
    const TagData tag_data{{{"preemptible", {ProjectId{"cheap"}}}, {"spot", {ProjectId{"other"}}}}};
    const auto tagger = project_tagger_of();
    Server server;
    server.project = ProjectId{"cheap"};
    EXPECT_THAT(tagger->why_revocable(server, tag_data),
                Optional(std::string{"its project cheap carries the tag 'preemptible'"}));
    for (const auto* project : {"other", "usual", ""}) {
        server.project = ProjectId{project};
        EXPECT_EQ(tagger->why_revocable(server, tag_data), std::nullopt) << project;
    }
    EXPECT_EQ(tagger->why_revocable(server, TagData{}), std::nullopt);
}

TEST(ProjectTagger, Rule7RequestersOfTaggedProjectsAreRevocable) {
    const TagData tag_data{{{"preemptible", {ProjectId{"cheap"}}}}};
    auto wanted = request({{"VCPU", 1}});
    EXPECT_EQ(project_tagger_of()->why_revocable(wanted, tag_data), std::nullopt);
    wanted.project = ProjectId{"cheap"};
    EXPECT_THAT(project_tagger_of()->why_revocable(wanted, tag_data),
                Optional(std::string{"its project cheap carries the tag 'preemptible'"}));
    wanted.project_name = "night";
    EXPECT_THAT(project_tagger_of()->why_revocable(wanted, tag_data),
                Optional(std::string{"its project night (cheap) carries the tag 'preemptible'"}));
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
    held.allocations.insert_or_assign(nested, Resources{{"CUSTOM_PREEMPTIBLE", 1}});
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

std::unique_ptr<Tagger> flavor_tagger_of(Parameters given = {}) {
    const auto* info = find_tagger("flavor");
    auto made = info->make(with_standards(info->parameters, std::move(given)));
    return std::move(std::get<std::unique_ptr<Tagger>>(made));
}

Server with_spec(const std::string& key, const std::string& value) {
    Server made;
    made.flavor_extra_specs = {{"hw:cpu_policy", "shared"}, {key, value}};
    return made;
}

TEST(FlavorTagger, ServersWhoseFlavorCarriesKeyAndValueAreRevocable) {
    const auto tagger = flavor_tagger_of();
    EXPECT_THAT(tagger->why_revocable(with_spec("reaper:revocable", "true"), {}),
                Optional(std::string{"its flavor has reaper:revocable=true"}));
    EXPECT_EQ(tagger->why_revocable(with_spec("reaper:revocabl", "true"), {}), std::nullopt);
    EXPECT_EQ(tagger->why_revocable(with_spec("Reaper:revocable", "true"), {}), std::nullopt);
    EXPECT_EQ(tagger->why_revocable(Server{}, {}), std::nullopt);
    const auto spot = flavor_tagger_of({{"key", std::string{"tier"}}, {"value", std::string{"3"}}});
    EXPECT_TRUE(spot->why_revocable(with_spec("tier", "3"), {}).has_value());
    EXPECT_EQ(spot->why_revocable(with_spec("reaper:revocable", "true"), {}), std::nullopt);
}

TEST(FlavorTagger, OfTheValueOnlyTheCaseOfLettersMayDiffer) {
    const auto tagger = flavor_tagger_of();
    for (const auto* value : {"true", "True", "TRUE"})
        EXPECT_TRUE(tagger->why_revocable(with_spec("reaper:revocable", value), {})) << value;
    for (const auto* value : {"", "1", "yes", "true ", "tru", "truer", "false"}) {
        EXPECT_FALSE(tagger->why_revocable(with_spec("reaper:revocable", value), {})) << value;
        EXPECT_TRUE(tagger->why_regular(with_spec("reaper:revocable", value), {})) << value;
    }
    EXPECT_EQ(tagger->why_regular(with_spec("reaper:revocable", "True"), {}), std::nullopt);
    EXPECT_EQ(tagger->why_regular(Server{}, {}), std::nullopt);
}

TEST(FlavorTagger, Rule7RequestersOfSuchAFlavorAreRevocable) {
    auto wanted = request({{"VCPU", 1}});
    EXPECT_EQ(flavor_tagger_of()->why_revocable(wanted, {}), std::nullopt);
    wanted.flavor_extra_specs["reaper:revocable"] = "True";
    EXPECT_TRUE(flavor_tagger_of()->why_revocable(wanted, {}).has_value());
    wanted.flavor_extra_specs["reaper:revocable"] = "no";
    EXPECT_TRUE(flavor_tagger_of()->why_regular(wanted, {}).has_value());
}

TEST(FlavorTagger, AsksForItsSpecAndRefusesWhatNovaCannotHave) {
    TaggerInputs tagger_inputs;
    flavor_tagger_of()->ask(tagger_inputs);
    EXPECT_THAT(tagger_inputs.flavor_specs,
                ElementsAre(std::pair<std::string, std::string>{"reaper:revocable", "true"}));
    const auto* info = find_tagger("flavor");
    const auto refused = [&](const char* key, const std::string& value) {
        return std::holds_alternative<ParameterError>(info->make(
            with_standards(info->parameters, {{"key", std::string{key}}, {"value", value}})));
    };
    EXPECT_TRUE(refused("", "x"));
    EXPECT_TRUE(refused("a=b", "x"));
    EXPECT_TRUE(refused("a", ""));
    EXPECT_TRUE(refused("a", std::string(256, 'x')));
    EXPECT_FALSE(refused("reaper:x-Y_z.1", std::string(255, 'x')));
}

/// [project, project of another tag, flavor].
Taggers three(TaggerConflict rule) {
    Taggers taggers{rule};
    taggers.push_back(project_tagger_of());
    taggers.push_back(project_tagger_of({{"tag", std::string{"spot"}}}));
    taggers.push_back(flavor_tagger_of());
    return taggers;
}

TEST(Taggers, OneSaysRevocableAndAllReasonsAreReported) {
    const TagData tag_data{{{"preemptible", {ProjectId{"cheap"}}}, {"spot", {ProjectId{"cheap"}}}}};
    const Taggers taggers = three(TaggerConflict::any);
    Server server;
    server.project = ProjectId{"cheap"};
    const auto found = tagging_of(server, taggers, tag_data);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->because,
              "its project cheap carries the tag 'preemptible', and its project cheap carries the "
              "tag 'spot'");
    EXPECT_EQ(found->by, "project, project");
    server.project = ProjectId{"usual"};
    EXPECT_EQ(why_revocable(server, taggers, tag_data), std::nullopt);
}

/// A project that is tagged or not, and a flavor that says yes, no, or nothing.
struct Disagreement {
    const char* project;
    const char* flavor;  // the value of the extra spec; null: none
    // By which taggers it is revocable; null: it is regular.
    const char* any;
    const char* project_first;
    const char* flavor_first;
    const char* all;
};

TEST(Taggers, WhenTheyDifferTheConfiguredRuleDecidesServersAndRequestersAlike) {
    const Disagreement cases[]{
        {"cheap", "true", "project, flavor", "project", "flavor", "project, flavor"},
        {"cheap", "false", "project", "project", nullptr, nullptr},
        {"cheap", nullptr, "project", "project", "project", nullptr},
        {"usual", "true", "flavor", "flavor", "flavor", nullptr},
        {"usual", "false", nullptr, nullptr, nullptr, nullptr},
        {"usual", nullptr, nullptr, nullptr, nullptr, nullptr},
    };
    const TagData tag_data{{{"preemptible", {ProjectId{"cheap"}}}}};
    const auto check = [&](const Disagreement& each, TaggerConflict rule, bool flavor_first,
                           const char* expected) {
        Taggers taggers{rule};
        if (flavor_first) taggers.push_back(flavor_tagger_of());
        taggers.push_back(project_tagger_of());
        if (!flavor_first) taggers.push_back(flavor_tagger_of());
        Server server;
        auto wanted = request({{"VCPU", 1}});
        server.project = wanted.project = ProjectId{each.project};
        if (each.flavor != nullptr) {
            server.flavor_extra_specs = {{"reaper:revocable", each.flavor}};
            wanted.flavor_extra_specs = {{"reaper:revocable", each.flavor}};
        }
        const std::string shown = std::string{each.project} + " project, flavor " +
                                  (each.flavor != nullptr ? each.flavor : "silent") + ", rule " +
                                  std::to_string(static_cast<int>(rule)) +
                                  (flavor_first ? ", flavor first" : ", project first");
        const auto of_server = tagging_of(server, taggers, tag_data);
        EXPECT_EQ(why_revocable(server, taggers, tag_data),
                  why_revocable(wanted, taggers, tag_data))
            << shown;
        EXPECT_EQ(of_server.has_value(), expected != nullptr) << shown;
        if (of_server && expected != nullptr) {
            EXPECT_EQ(of_server->by, expected) << shown;
        }
    };
    for (const auto& each : cases) {
        check(each, TaggerConflict::any, false, each.any);
        check(each, TaggerConflict::first, false, each.project_first);
        check(each, TaggerConflict::first, true, each.flavor_first);
        check(each, TaggerConflict::all, false, each.all);
    }
}

TEST(Taggers, AProjectIsRevocableIfNoOtherTaggerCanSayOtherwise) {
    const TagData tag_data{{{"preemptible", {ProjectId{"cheap"}}}}};
    const ProjectId cheap{"cheap"}, usual{"usual"};
    Taggers alone{TaggerConflict::all};
    alone.push_back(project_tagger_of());
    EXPECT_TRUE(is_revocable(cheap, alone, tag_data));
    EXPECT_FALSE(is_revocable(usual, alone, tag_data));
    EXPECT_TRUE(is_revocable(cheap, three(TaggerConflict::any), tag_data));
    EXPECT_FALSE(is_revocable(usual, three(TaggerConflict::any), tag_data));
    EXPECT_FALSE(is_revocable(cheap, three(TaggerConflict::first), tag_data));
    EXPECT_FALSE(is_revocable(cheap, three(TaggerConflict::all), tag_data));
    EXPECT_FALSE(is_revocable(cheap, Taggers{}, tag_data));
}

TEST(Taggers, NoServerIsRevocableWithoutTaggers) {
    for (const auto& [word, rule] : {std::pair{"any", TaggerConflict::any},
                                     {"first", TaggerConflict::first},
                                     {"all", TaggerConflict::all}}) {
        EXPECT_EQ(tagging_of(Server{}, Taggers{rule}, {}), std::nullopt);
        EXPECT_EQ(tagger_conflict_from(word), rule);
    }
    EXPECT_EQ(tagger_conflict_from("some"), std::nullopt);
}

TEST(Taggers, AServerIsTaggedAgainOnlyWhenTheResultChanges) {
    const TagData tag_data{{{"preemptible", {ProjectId{"cheap"}}}}};
    const Taggers taggers = three(TaggerConflict::any);
    Server server = with_spec("reaper:revocable", "true");
    EXPECT_TRUE(tag(server, taggers, tag_data));
    EXPECT_TRUE(server.revocable());
    EXPECT_EQ(server.revocable_by, "flavor");
    EXPECT_FALSE(tag(server, taggers, tag_data));
    server.flavor_extra_specs = {};
    EXPECT_TRUE(tag(server, taggers, tag_data));
    EXPECT_FALSE(server.revocable());
    EXPECT_TRUE(server.revocable_by.empty());
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
}  // namespace reaper::tagger_test
