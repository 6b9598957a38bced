#include "config/request_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/loader.hpp"
#include "tests/config/world.hpp"

namespace reaper::config::test::request_list_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<RequestEntry> good(const std::string& text) {
    auto read = read_request_list("r.yaml", text);
    if (auto* errors = std::get_if<std::vector<ConfigError>>(&read)) {
        ADD_FAILURE() << to_string(errors->front());
        return {};
    }
    return std::get<std::vector<RequestEntry>>(std::move(read));
}

std::vector<std::string> errors(const std::string& text) {
    std::vector<std::string> lines;
    const auto read = read_request_list("r.yaml", text);
    if (const auto* found = std::get_if<std::vector<ConfigError>>(&read))
        for (const ConfigError& error : *found) lines.push_back(to_string(error));
    return lines;
}

TEST(RequestList, ReadsYamlAndJson) {
    const auto yaml = good(
        "- project: web\n"
        "  resources: {VCPU: 4, MEMORY_MB: 2048}\n"
        "- id: req-1\n"
        "  project: ml\n"
        "  resources: VCPU=1\n"
        "  slots: 3\n"
        "  zone: nova\n"
        "  res_type: ~regular\n"
        "  traits: [CUSTOM_GPU=required, CUSTOM_OLD=forbidden]\n");
    ASSERT_EQ(yaml.size(), 2U);
    EXPECT_EQ(yaml[0].resources, "VCPU=4,MEMORY_MB=2048");
    EXPECT_EQ(yaml[0].slots, 1);
    EXPECT_EQ(yaml[1].id, "req-1");
    EXPECT_EQ(yaml[1].slots, 3);
    EXPECT_EQ(yaml[1].zone, "nova");
    EXPECT_EQ(yaml[0].res_type, "");
    EXPECT_EQ(yaml[1].res_type, "~regular");
    EXPECT_EQ(yaml[1].line, 3);
    EXPECT_THAT(yaml[1].traits, ElementsAre("CUSTOM_GPU=required", "CUSTOM_OLD=forbidden"));
    const auto json = good(
        "[\n\t{\"project\": \"web\", \"resources\": {\"VCPU\": 4}, \"slots\": 2,\n"
        "\t \"traits\": [\"CUSTOM_GPU=required\"]}\n]\n");
    ASSERT_EQ(json.size(), 1U);
    EXPECT_EQ(json[0].resources, "VCPU=4");
    EXPECT_EQ(json[0].slots, 2);
}

TEST(RequestList, AllMistakesAreReportedWithTheirLines) {
    EXPECT_THAT(
        errors("- project: web\n  resource: {VCPU: 1}\n- 7\n- project: [a]\n  resources: {}\n"
               "  slots: 0\n  traits: x\n"),
        ElementsAre(
            HasSubstr("r.yaml:2: [0]: there is no field \"resource\"; expected 'resources'?"),
            HasSubstr("r.yaml:1: [0].resources: missing"),
            HasSubstr("r.yaml:3: [1]: not a mapping"),
            HasSubstr("r.yaml:4: [2].project: not a text"),
            HasSubstr("r.yaml:5: [2].resources: empty"),
            HasSubstr("r.yaml:6: [2].slots: not a number of slots"),
            HasSubstr("r.yaml:7: [2].traits: not a list")));
}

TEST(RequestList, WhatIsNoListIsRefused) {
    EXPECT_THAT(errors(""), ElementsAre(HasSubstr("the file is empty")));
    EXPECT_THAT(errors("[]"), ElementsAre(HasSubstr("not a list of requests")));
    EXPECT_THAT(errors("project: web"), ElementsAre(HasSubstr("not a list of requests")));
    EXPECT_THAT(errors("- [\n"), ElementsAre(HasSubstr("not valid YAML")));
    std::string many;
    for (int i = 0; i <= max_requests; ++i) many += "- 1\n";
    EXPECT_THAT(errors(many), ElementsAre(HasSubstr("10001 requests; expected at most 10000")));
}

TEST(RequestList, AliasesMakeNoLongLists) {
    std::string list;
    for (int i = 0; i <= 100; ++i) list += "t, ";
    const auto lines = errors("- {project: p, resources: VCPU=1, traits: &t [" + list +
                              "]}\n- {project: p, resources: VCPU=1, groups: *t}\n");
    EXPECT_THAT(lines, ElementsAre(HasSubstr("[0].traits: 101 of them; expected at most 100"),
                                   HasSubstr("[1].groups: 101 of them; expected at most 100")));
}

TEST(RequestList, NotEveryOneOfManyMistakesIsReported) {
    std::string many;
    for (int i = 0; i < 5'000; ++i) many += "- 1\n";
    const auto lines = errors(many);
    ASSERT_EQ(lines.size(), 101U);
    EXPECT_THAT(lines.back(), HasSubstr("more mistakes may follow"));
    std::string fields;
    for (int i = 0; i < 5'000; ++i) fields += "  f" + std::to_string(i) + ": 1\n";
    EXPECT_EQ(errors("- a: 1\n" + fields).size(), 101U);
}

TEST(RequestList, TextThatIsNotUtf8IsRefused) {
    EXPECT_THAT(errors("- {project: \xff\xfe, resources: VCPU=1}\n"),
                ElementsAre(HasSubstr("r.yaml: not UTF-8")));
}

TEST(Policy, IsReadWithoutACloud) {
    World world;
    world.files["p.yaml"] = {"alternatives: 3\nstrategy: {name: chance}\n", false};
    const auto read = load_policy("p.yaml", world.environment());
    ASSERT_TRUE(std::holds_alternative<reaper::config::Policy>(read));
    const auto& policy = std::get<reaper::config::Policy>(read);
    EXPECT_EQ(policy.alternatives, 3);
    EXPECT_EQ(policy.strategy.name, "chance");
    EXPECT_TRUE(policy.taggers.empty()) << "not written";
}

TEST(Policy, ItsOwnMistakesAreStillTold) {
    World world;
    world.files["p.yaml"] = {"alternatives: -3\nstrategie: {}\n", false};
    const auto read = load_policy("p.yaml", world.environment());
    const auto* errors = std::get_if<std::vector<ConfigError>>(&read);
    ASSERT_NE(errors, nullptr);
    EXPECT_EQ(errors->size(), 2U);
    const auto missing = load_policy("none.yaml", world.environment());
    EXPECT_THAT(to_string(std::get<std::vector<ConfigError>>(missing).front()),
                HasSubstr("none.yaml: can't be read"));
}

TEST(RequestList, AFlavorStandsForResourcesAndGroups) {
    const auto read = good("- {project: web, flavor: m1.two, slots: 2}\n");
    ASSERT_EQ(read.size(), 1U);
    EXPECT_EQ(read[0].flavor, "m1.two");
    EXPECT_EQ(read[0].resources, "");
    EXPECT_THAT(errors("- {project: web, flavor: a, resources: VCPU=1}\n"),
                ElementsAre(HasSubstr("resources: is given with a flavor")));
    EXPECT_THAT(errors("- {project: web, flavor: a, groups: [VGPU=1]}\n"),
                ElementsAre(HasSubstr("groups: is given with a flavor")));
    EXPECT_THAT(errors("- {project: web, flavor: []}\n"),
                ElementsAre(HasSubstr("flavor: not a text")));
    EXPECT_THAT(errors("- {project: web}\n"), ElementsAre(HasSubstr("resources: missing")));
}

}  // namespace
}  // namespace reaper::config::test::request_list_test
