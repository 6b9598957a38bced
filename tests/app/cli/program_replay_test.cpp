// The real binary on recordings: no cloud, no credentials, no broker. Golden texts as in
// program_test.cpp; a test makes the recording that they are of.
#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "app/cli/golden.hpp"
#include "app/cli/program.hpp"
#include "clients/journal/sqlite_journal.hpp"
#include "recording/recorded_cloud.hpp"

namespace reaper::test::program_replay_test {
namespace {

using nlohmann::json;
using recording::test::RecordedCloud;
using recording::test::Scratch;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// Two days of requests, from the same seed each time.
class ProgramReplay : public ::testing::Test {
protected:
    ProgramReplay() {
        RecordedCloud cloud(scratch_.path());
        cloud.build(11);
        for (int i = 0; i < 10; ++i) {
            if (i == 5) cloud.advance(std::chrono::hours{24});
            cloud.decide(2 + i % 5, 1 + i % 2);
        }
    }
    ProgramResult run(std::vector<std::string> words) {
        for (std::string& word : words)
            if (word == "DIR") word = scratch_.path();
        return run_program(std::move(words));
    }
    /// Wherever it was made.
    std::string anywhere(std::string text) const {
        for (std::size_t at = text.find(scratch_.path()); at != std::string::npos;
             at = text.find(scratch_.path()))
            text.replace(at, scratch_.path().size(), "DIR");
        return text;
    }
    const std::string& directory() const { return scratch_.path(); }

private:
    Scratch scratch_;
};

TEST_F(ProgramReplay, AnotherStrategyIsGolden) {
    const auto result = run({"replay", "DIR", "--strategy", "strict"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    expect_golden("replay", anywhere(result.out));
    EXPECT_EQ(run({"replay", "DIR", "--strategy", "strict"}).out, result.out);
    EXPECT_THAT(result.out, HasSubstr("makes 10 of 10 recorded plans again"));
}

TEST_F(ProgramReplay, OtherLimitsAreGoldenAsJson) {
    const auto result = run({"replay", "DIR", "--set", "limits.victims_per_window=2", "--json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    expect_golden("replay-json", anywhere(result.out));
    const json answer = json::parse(result.out);
    EXPECT_LT(answer["asked"]["victims"], answer["recorded"]["victims"]);
    EXPECT_GT(answer["asked"]["safeguards"]["limit-window"], 0);
}

TEST_F(ProgramReplay, ItsCsvHasARowForEachRequestWithTheSumsSoFar) {
    const auto result = run({"replay", "DIR", "--strategy", "strict", "-o", "csv"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, StartsWith("time,request,victims_recorded,victims_asked,"
                                       "lost_hours_recorded,lost_hours_asked\r\n"));
    EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 11);
    // As in the golden text of the same replay.
    EXPECT_THAT(result.out, HasSubstr("\r\n2026-11-21T01:10:00.000Z,req-10,23,21,772."));
}

TEST_F(ProgramReplay, AConfigurationTakesThePlaceOfTheRecordedOne) {
    const TemporaryDirectory files;
    const std::string config =
        files.write("reaper.yaml", "strategy: {name: strict}\nlimits: {victims_per_request: 1}\n");
    const auto result = run({"replay", "DIR", "--config", config, "--json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const json answer = json::parse(result.out);
    for (const json& request : answer["requests"])
        EXPECT_LE(request["asked"]["victims"].size(), 1U);
    EXPECT_THAT(answer["asked"]["configuration"].get<std::string>(), HasSubstr("strategy strict"));
}

TEST_F(ProgramReplay, TheReportOfAWeekIsGolden) {
    const std::vector<std::string> ask{"report",     "DIR",     "--since",
                                       "2026-11-18", "--until", "2026-11-25"};
    const auto result = run(ask);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    expect_golden("report", anywhere(result.out));
    auto as_json = ask;
    as_json.push_back("--json");
    const json answer = json::parse(run(as_json).out);
    EXPECT_EQ(answer["requests"], 10);
    EXPECT_EQ(answer["dry_run"], true);
}

TEST_F(ProgramReplay, TheReportFindsTheRecordingByTheConfiguration) {
    const TemporaryDirectory files;
    const std::string config =
        files.write("reaper.yaml", "record: {directory: " + directory() + "}\n");
    const auto result =
        run({"report", "--config", config, "--since", "2026-11-18", "--until", "2026-11-25"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("recording " + directory()));
}

TEST_F(ProgramReplay, TheReportOfADaemonNamesTheRecordingOfTheDryRunBefore) {
    const TemporaryDirectory files;
    const std::string journal = files.file("journal.db");
    ASSERT_TRUE(open_journal(journal, JournalOptions{}));
    const std::string config = files.write("reaper.yaml", "journal: {path: " + journal + "}\n");
    const auto report = [&] { return run({"report", "--config", config}); };
    EXPECT_THAT(report().err, Not(HasSubstr("dry run")));
    std::filesystem::copy(directory(), files.file("dry-run"));
    const auto result = report();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("journal " + journal));
    EXPECT_THAT(result.err, HasSubstr("'reaper report " + files.file("dry-run") + "'"));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
}

TEST_F(ProgramReplay, WhatCannotBeIsReportedInOneLine) {
    const TemporaryDirectory empty;
    const auto refused = [&](std::vector<std::string> words, const std::string& why) {
        const auto result = run(std::move(words));
        EXPECT_EQ(result.exit_code, 2) << result.err;
        EXPECT_EQ(result.out, "");
        EXPECT_THAT(result.err, HasSubstr(why));
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    };
    refused({"replay", empty.file(".")}, "holds no recording");
    refused({"replay", "DIR", "--strategy", "no-such"}, "no-such");
    refused({"replay", "DIR", "--strategy", "cost:{}"}, "--strategy");
    refused({"replay", "DIR", "--set", "limits"}, "--set");
    refused({"replay", "DIR", "--set", "broker.urls=[x]"}, "does not decide");
    refused({"replay", "DIR", "--set", "limits.victims_per_window=many"}, "victims_per_window");
    refused({"replay", "DIR", "--set", "limits.no_such=1"}, "no_such");
    refused({"replay", "DIR", "--config", empty.file("none.yaml")}, "none.yaml");
    EXPECT_EQ(run({"replay", empty.file("none")}).exit_code, 1);
}

}  // namespace
}  // namespace reaper::test::program_replay_test
