// `reaper room`: its options, and its answers on a snapshot file.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/cli/golden.hpp"
#include "app/cli/program.hpp"
#include "reaper/cli/arguments/request_arguments.hpp"

namespace reaper::cli::room_command_test {
namespace {

using nlohmann::json;
using test::run_program;
using ::testing::HasSubstr;

Parsed of_resources(const std::string& resources) {
    Parsed parsed;
    parsed.resources = resources;
    return parsed;
}

TEST(RoomArguments, AreAFlavorOrResources) {
    Parsed parsed = of_resources("VCPU=1,MEMORY_MB=512");
    parsed.room.slots = 4;
    parsed.zone = "nova";
    parsed.traits = {"CUSTOM_A=required", "CUSTOM_B=forbidden"};
    const auto room = finish_room(parsed);
    ASSERT_TRUE(room);
    EXPECT_EQ(room->resources, (Resources{{"VCPU", 1}, {"MEMORY_MB", 512}}));
    EXPECT_EQ(room->slots, 4);
    EXPECT_EQ(room->availability_zone, "nova");
    EXPECT_EQ(room->required_traits, std::vector<std::string>{"CUSTOM_A"});
    EXPECT_EQ(room->forbidden_traits, std::vector<std::string>{"CUSTOM_B"});
    Parsed flavor;
    flavor.room.flavor = "m1.large";
    EXPECT_EQ(finish_room(flavor)->flavor, "m1.large");
}

TEST(RoomArguments, ThatMakeNoQuestionAreRefused) {
    const auto refused = [](const Parsed& parsed) { return finish_room(parsed).error().what; };
    EXPECT_THAT(refused({}), HasSubstr("needs one of --flavor"));
    Parsed both = of_resources("VCPU=1");
    both.room.flavor = "m1.large";
    EXPECT_THAT(refused(both), HasSubstr("needs one of --flavor"));
    EXPECT_THAT(refused(of_resources("VCPU")), HasSubstr("--resources: "));
    Parsed trait = of_resources("VCPU=1");
    trait.traits = {"low"};
    EXPECT_THAT(refused(trait), HasSubstr("--trait: "));
    Parsed file;
    file.room.flavor = "m1.large";
    file.room.snapshot_file = "cloud.json";
    EXPECT_THAT(refused(file), HasSubstr("a snapshot has no flavors"));
}

// ---- the program ----

const std::string cloud = std::string{REAPER_SOURCE_DIR} + "/tests/app/cli/data/cloud.json";

std::vector<std::string> ask(std::vector<std::string> words) {
    words.insert(words.begin(), {"room", "--snapshot", cloud});
    return words;
}

TEST(RoomOnASnapshot, AnswersAreGolden) {
    std::string all;
    for (const char* const resources :
         {"VCPU=1,MEMORY_MB=512", "VCPU=4,MEMORY_MB=1024,DISK_GB=20", "VCPU=900"}) {
        const auto result = run_program(ask({"--resources", resources, "--count", "2"}));
        EXPECT_EQ(result.err, "");
        EXPECT_EQ(result.exit_code, resources == std::string{"VCPU=900"} ? 3 : 0) << result.out;
        all += result.out + "----\n";
    }
    test::expect_golden("snapshot-room", all);
}

TEST(RoomOnASnapshot, JsonTellsTheSame) {
    const auto result = run_program(ask({"--resources", "VCPU=1,MEMORY_MB=512", "--json"}));
    const json answer = json::parse(result.out);
    EXPECT_EQ(answer.at("answer"), "fits-now");
    int there = 0;
    for (const json& host : answer.at("hosts")) there += host.at("slots").get<int>();
    EXPECT_EQ(answer.at("fits_now"), there);
    EXPECT_GE(answer.at("possible"), there);
    EXPECT_TRUE(answer.contains("taken_at"));
}

/// One line on stderr, nothing on stdout.
void expect_unknown(const std::vector<std::string>& words, const std::string& named) {
    const auto result = run_program(words);
    EXPECT_EQ(result.exit_code, 6) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("'" + named + "'"));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
}

TEST(RoomOnASnapshot, WhatTheCloudDoesNotHaveHasItsOwnExitCode) {
    expect_unknown(ask({"--resources", "VCPU=1", "--zone", "mars"}), "mars");
    expect_unknown(ask({"--resources", "CUSTOM_UNHEARD=1"}), "CUSTOM_UNHEARD");
    const std::vector<std::string> plan{"plan", "--snapshot", cloud, "--project", "p"};
    for (const auto& [words, named] : std::map<std::vector<std::string>, std::string>{
             {{"--resources", "VCPU=1", "--az", "mars"}, "mars"},
             {{"--resources", "CUSTOM_UNHEARD=1"}, "CUSTOM_UNHEARD"}}) {
        auto all = plan;
        all.insert(all.end(), words.begin(), words.end());
        expect_unknown(all, named);
    }
}

TEST(RoomOnASnapshot, AListTellsEachNameThatLeadsNowhere) {
    const std::string list = R"([{"project": "p", "resources": "VCPU=1", "id": "a"},
        {"project": "p", "resources": "CUSTOM_UNHEARD=1", "id": "b"},
        {"project": "p", "resources": "VCPU=1", "zone": "mars", "id": "c"}])";
    const auto result = run_program({"plan", "--snapshot", cloud, "--requests", "-"}, {}, list);
    EXPECT_EQ(result.exit_code, 6);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("request b: there is no resource class 'CUSTOM_UNHEARD'"));
    EXPECT_THAT(result.err, HasSubstr("request c: there is no availability zone 'mars'"));
}

}  // namespace
}  // namespace reaper::cli::room_command_test
