// `reaper plan --save` and `reaper apply`: the file between them, and what is no such file.
#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/program.hpp"
#include "reaper/cli/arguments/arguments.hpp"
#include "reaper/cli/cloud/saved_plan.hpp"
#include "reaper/model/time.hpp"

namespace reaper::cli::apply_command_test {
namespace {

using nlohmann::json;
using test::run_program;
using test::TemporaryDirectory;
using ::testing::HasSubstr;

DescribedRequest described() {
    DescribedRequest wanted;
    wanted.resources = Resources{{"VCPU", 4}};
    wanted.project = "web";
    wanted.slots = 2;
    wanted.availability_zone = "nova";
    wanted.required_traits = {"CUSTOM_A"};
    return wanted;
}
Request planned_request() {
    return request_of(described(), RequestId{"manual-1"}, ProjectId{"66353a94"},
                      *parse_time("2026-11-20T12:00:00Z"));
}
Plan plan_of(const std::vector<std::string>& victims) {
    Plan plan;
    plan.request = RequestId{"manual-1"};
    plan.strategy = "cost";
    plan.hosts.emplace_back();
    plan.hosts.back().host = HostId{"h"};
    plan.hosts.back().host_name = "compute-1";
    for (const auto& id : victims) {
        Victim victim;
        victim.server = ServerId{id};
        victim.name = "spot";
        plan.hosts.back().victims.push_back(victim);
    }
    return plan;
}

TEST(SavedPlan, ComesBackAsItWas) {
    const TemporaryDirectory directory;
    const std::string path = directory.file("plan.json");
    ASSERT_TRUE(save_plan(path, described(), planned_request(), plan_of({"a", "b"}), "alice"));
    const auto saved = read_saved_plan(path);
    ASSERT_TRUE(saved) << saved.error().what;
    EXPECT_EQ(saved->planned_by, "alice");
    EXPECT_EQ(saved->planned_at, planned_request().sent_at);
    EXPECT_EQ(saved->plan, plan_of({"a", "b"}));
    EXPECT_EQ(saved->request, json({{"id", "manual-1"},
                                    {"project", "66353a94"},
                                    {"resources", {{"VCPU", 4}}},
                                    {"slots", 2},
                                    {"zone", "nova"},
                                    {"traits", {"CUSTOM_A=required"}}}));
}

TEST(SavedPlan, WhatIsNoneIsNamed) {
    const TemporaryDirectory directory;
    const std::string path = directory.file("plan.json");
    ASSERT_TRUE(save_plan(path, described(), planned_request(), plan_of({"a"}), "alice"));
    std::stringstream text;
    text << std::ifstream{path}.rdbuf();
    const json good = json::parse(text.str());
    const auto wrong_with = [&](const char* pointer, const json& value) {
        json document = good;
        document[json::json_pointer{pointer}] = value;
        const auto read = read_saved_plan(directory.write("wrong.json", document.dump()));
        return read ? "read" : read.error().what;
    };
    EXPECT_THAT(wrong_with("/format", "reaper-snapshot"), HasSubstr("reaper plan --save"));
    EXPECT_THAT(wrong_with("/version", 2), HasSubstr("another version"));
    EXPECT_THAT(wrong_with("/planned_at", "noon"), HasSubstr("planned_at"));
    EXPECT_THAT(wrong_with("/request", 1), HasSubstr("request"));
    EXPECT_THAT(wrong_with("/request/id", ""), HasSubstr("request.id"));
    EXPECT_THAT(wrong_with("/decision/hosts", json::array()), HasSubstr("a plan with victims"));
    EXPECT_THAT(wrong_with("/decision/slots_freed", "x"), HasSubstr("slots_freed"));
    const auto no_json = read_saved_plan(directory.write("text", "plan: yes"));
    EXPECT_THAT(no_json.error().what, HasSubstr("line 1, column 1: not JSON"));
    EXPECT_THAT(read_saved_plan(directory.file("none")).error().what, HasSubstr("can't be opened"));
}

std::string refused(std::vector<const char*> words) {
    words.insert(words.begin(), "reaper");
    const auto parsed = parse_arguments(static_cast<int>(words.size()), words.data());
    const auto* const leave = std::get_if<Leave>(&parsed);
    return leave == nullptr ? "accepted" : leave->err;
}

TEST(ApplyArguments, OnlyAPlanThatTheDaemonMakesByItselfIsSaved) {
    std::vector<const char*> plain{"plan", "--resources", "VCPU=1", "--project",
                                   "p",    "--save",      "f"};
    EXPECT_EQ(refused(plain), "accepted");
    const auto with = [&](std::vector<const char*> more) {
        auto words = plain;
        words.insert(words.end(), more.begin(), more.end());
        return refused(words);
    };
    EXPECT_THAT(with({"--snapshot", "cloud.json"}), HasSubstr("--save goes with the live cloud"));
    EXPECT_THAT(with({"--strategy", "strict"}), HasSubstr("--save goes without --strategy"));
    EXPECT_THAT(with({"--alternatives", "2"}), HasSubstr("--save goes without"));
    EXPECT_THAT(refused({"plan", "--requests", "r.yaml", "--save", "f"}),
                HasSubstr("--save goes with --resources or --flavor"));
    EXPECT_THAT(refused({"plan", "--resources", "VCPU=1", "--project", "p", "--save", ""}),
                HasSubstr("--save: is empty; expected a file"));
    EXPECT_THAT(refused({"apply"}), HasSubstr("FILE"));
    EXPECT_EQ(refused({"apply", "f", "--dry-run"}), "accepted");
}

TEST(Apply, WithoutADaemonNothingHappensAndOneLineSaysSo) {
    const TemporaryDirectory directory;
    const std::string plan = directory.file("plan.json");
    ASSERT_TRUE(save_plan(plan, described(), planned_request(), plan_of({"a"}), "alice"));
    const std::string config =
        directory.write("reaper.yaml", "admin: {socket: " + directory.file("admin.sock") + "}\n");
    for (const bool dry : {false, true}) {
        std::vector<std::string> words{"--config", config, "apply", plan};
        if (dry) words.emplace_back("--dry-run");
        const auto result = run_program(words);
        EXPECT_EQ(result.exit_code, 1) << result.err;
        EXPECT_EQ(result.out, "");
        EXPECT_THAT(result.err, HasSubstr("is the daemon running"));
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    }
    const auto no_plan = run_program({"--config", config, "apply", config});
    EXPECT_EQ(no_plan.exit_code, 2);
    EXPECT_EQ(std::count(no_plan.err.begin(), no_plan.err.end(), '\n'), 1) << no_plan.err;
}

}  // namespace
}  // namespace reaper::cli::apply_command_test
