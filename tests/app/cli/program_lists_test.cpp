// Each list of the real binary in each format.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

#include "app/cli/golden.hpp"
#include "app/cli/program.hpp"
#include "clients/journal/sqlite_journal.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::test::program_lists_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::string cloud = std::string(REAPER_SOURCE_DIR) + "/tests/app/cli/data/cloud.json";

std::size_t lines_in(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::string answer(std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    const auto result = run_program(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    return result.out;
}

/// YAML says what JSON says.
void expect_same(const YAML::Node& yaml, const json& value) {
    if (value.is_object()) {
        ASSERT_TRUE(yaml.IsMap());
        ASSERT_EQ(yaml.size(), value.size());
        for (const auto& [name, member] : value.items()) expect_same(yaml[name], member);
    } else if (value.is_array()) {
        ASSERT_TRUE(yaml.IsSequence());
        ASSERT_EQ(yaml.size(), value.size());
        for (std::size_t i = 0; i < value.size(); ++i) expect_same(yaml[i], value[i]);
    } else if (value.is_null()) {
        EXPECT_TRUE(yaml.IsNull());
    } else if (value.is_string()) {
        EXPECT_EQ(yaml.Scalar(), value.get<std::string>());
    } else {
        EXPECT_EQ(yaml.Scalar(), value.dump());
    }
}

/// Of so many rows.
void expect_formats(const std::vector<std::string>& words, std::size_t rows) {
    EXPECT_EQ(lines_in(answer(words, {})), rows + 1);
    EXPECT_EQ(lines_in(answer(words, {"-o", "wide"})), rows + 1);
    const std::string csv = answer(words, {"-o", "csv"});
    EXPECT_EQ(lines_in(csv), rows + 1);
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\r'), static_cast<long>(rows) + 1);
    EXPECT_EQ(lines_in(answer(words, {"-o", "name"})), rows);
    const json document = json::parse(answer(words, {"-o", "json"}));
    EXPECT_EQ(json::parse(answer(words, {"--json"})), document);
    expect_same(YAML::Load(answer(words, {"-o", "yaml"})), document);
}

TEST(ProgramLists, OfASnapshotHaveEachFormat) {
    expect_formats({"hosts", "--snapshot", cloud}, 3);
    expect_formats({"hosts", "--servers", "--snapshot", cloud}, 9);
    expect_formats({"candidates", "--resources", "VCPU:3", "--snapshot", cloud}, 2);
}

TEST(ProgramLists, WhatThisCloudDoesNotHaveIsUnknown) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"candidates", "--resources", "FOO:1"},
          {"hosts", "--host", "no-such"},
          {"hosts", "--zone", "mars"},
          {"hosts", "--flavor", "m1.mars"},
          {"candidates", "--resources", "VCPU:1", "--zone", "mars"},
          {"room", "--resources", "VCPU:1", "--trait", "CUSTOM_NOPE=required"}}) {
        auto asked = words;
        asked.insert(asked.end(), {"--snapshot", cloud});
        const auto unknown = run_program(asked);
        EXPECT_EQ(unknown.exit_code, 6) << words[1];
        EXPECT_EQ(unknown.out, "");
        EXPECT_THAT(unknown.err, HasSubstr("there is no "));
    }
}

TEST(ProgramLists, OfWhatCanBeConfiguredHaveEachFormat) {
    for (const char* const name : {"strategies", "taggers", "estimators", "qos"}) {
        const json all = json::parse(answer({name}, {"--json"}));
        expect_formats({name}, all[name].size());
        EXPECT_EQ(answer({name}, {"-o", "name", "--sort", "name"}).find("\n\n"), std::string::npos);
    }
}

TEST(ProgramLists, OfServersAreGolden) {
    expect_golden("snapshot-servers", answer({"hosts", "--servers", "--snapshot", cloud}, {}));
    expect_golden("snapshot-hosts-yaml", answer({"hosts", "--snapshot", cloud}, {"-o", "yaml"}));
}

TEST(ProgramLists, AreSortedAndCut) {
    EXPECT_EQ(answer({"hosts", "--snapshot", cloud},
                     {"--sort", "-VCPU_free", "--columns", "host,vcpu_free"}),
              "HOST    VCPU_FREE\nhost-1          1\nhost-2          0\nhost-3          0\n");
    EXPECT_EQ(answer({"hosts", "--snapshot", cloud}, {"-o", "name", "--sort", "host:desc"}),
              "host-3\nhost-2\nhost-1\n");
    const json sorted =
        json::parse(answer({"hosts", "--snapshot", cloud}, {"--json", "--sort", "host:desc"}));
    EXPECT_EQ(sorted["hosts"][0]["name"], "host-3");
    const auto refused = run_program({"hosts", "--snapshot", cloud, "--columns", "hots"});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_EQ(refused.out, "");
    EXPECT_THAT(refused.err, HasSubstr("reaper: --columns: there is no column 'hots'; there are: "
                                       "host, label, state"));
}

/// A journal with two requests, a victim, a message and an event; the configuration's path.
std::string journaled(const TemporaryDirectory& directory) {
    boost::asio::io_context io{1};  // outlives the journal's thread
    auto journal = open_journal(directory.file("journal.db"));
    EXPECT_TRUE(journal) << journal.error().what;
    const auto at = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
    const auto done = [&](auto task) { EXPECT_TRUE(run_task(io, std::move(task))); };
    for (const char* const id : {"req-1", "req-2"}) {
        Request request;
        request.id = RequestId{id};
        request.project = ProjectId{"p"};
        request.project_name = "shop";
        done((*journal)->admit(request, at));
        Plan plan;
        plan.hosts.resize(1);
        plan.hosts.front().host_name = "compute-1";
        Victim victim;
        victim.server = ServerId{std::string{"server-of-"} + id};
        victim.name = std::string{"spot-"} + id;
        plan.hosts.front().victims = {victim};
        done((*journal)->add_plan(request.id, PlanEntry{1, at, plan}));
        const auto sent = at + std::chrono::milliseconds{id[4] - '0'};
        done((*journal)->add_step(request.id,
                                  StepEntry{victim.server, Step::delete_sent, "", sent}));
    }
    done((*journal)->note_message({"m-1", "x.error", RequestId{}, "ignored", "\x1b[2J", at}));
    done((*journal)->note_event({"paused", "by alice", at}));
    return directory.write("reaper.yaml",
                           "journal: {path: " + directory.file("journal.db") + "}\n");
}

TEST(ProgramLists, OfTheHistoryHaveEachFormat) {
    const TemporaryDirectory directory;
    const std::string config = journaled(directory);
    expect_formats({"--config", config, "history"}, 2);
    expect_formats({"--config", config, "history", "victims"}, 2);
    expect_formats({"--config", config, "history", "messages"}, 1);
    expect_formats({"--config", config, "history", "events"}, 1);
    EXPECT_EQ(answer({"--config", config, "history", "victims", "-o", "name"}, {}),
              "server-of-req-2\nserver-of-req-1\n")
        << "newest first";
}

/// No cloud is configured: what the journal does not know can't be denied.
TEST(ProgramLists, OfTheHistoryAreFilteredByAProjectsName) {
    const TemporaryDirectory directory;
    const std::string config = journaled(directory);
    const auto history = [&](const std::string& project) {
        return run_program({"--config", config, "history", "--project", project, "-o", "name"});
    };
    EXPECT_EQ(history("p").out, "req-2\nreq-1\n");
    EXPECT_EQ(history("shop").out, "req-2\nreq-1\n");
    const auto unknown = history("no-such");
    EXPECT_EQ(unknown.exit_code, 0) << unknown.err;
    EXPECT_THAT(unknown.err, HasSubstr("the journal knows no project 'no-such', and whether there "
                                       "is one could not be asked"));
}

TEST(ProgramLists, WhatIsNoListIsATextOrADocument) {
    const TemporaryDirectory directory;
    const std::string config = journaled(directory);
    const std::vector<std::string> show{"--config", config, "history", "show", "req-1"};
    EXPECT_THAT(answer(show, {}), HasSubstr("Request req-1"));
    expect_same(YAML::Load(answer(show, {"-o", "yaml"})),
                json::parse(answer(show, {"-o", "json"})));
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{"-o", "csv"}, {"--sort", "at"}, {"--columns", "at"}}) {
        auto words = show;
        words.insert(words.end(), more.begin(), more.end());
        const auto result = run_program(words);
        EXPECT_EQ(result.exit_code, 2);
        EXPECT_THAT(result.err, HasSubstr("the answer is no list"));
    }
}

TEST(ProgramLists, EveryAnswerIsADocumentToo) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"plan", "--snapshot", cloud, "--resources", "VCPU=1",
                                   "--project", "p"},
          {"room", "--snapshot", cloud, "--resources", "VCPU=1"}}) {
        const json document = json::parse(answer(words, {"--json"}));
        EXPECT_EQ(json::parse(answer(words, {"-o", "json"})), document);
        expect_same(YAML::Load(answer(words, {"-o", "yaml"})), document);
        auto wrong = words;
        wrong.insert(wrong.end(), {"-o", "csv"});
        EXPECT_EQ(run_program(wrong).exit_code, 2) << words[0];
    }
}

}  // namespace
}  // namespace reaper::test::program_lists_test
