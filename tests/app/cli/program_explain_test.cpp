// `reaper explain` and `reaper history` on a journal: what they print and how they end.
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/cli/program.hpp"
#include "clients/journal/sqlite_journal.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::test::program_explain_test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TimePoint noon(int seconds = 0) {
    using namespace std::chrono;
    return TimePoint{sys_days{year{2024} / May / 1} + hours{12} + std::chrono::seconds{seconds}};
}

/// A journal that is written while the program reads it.
class ExplainProgram : public ::testing::Test {
protected:
    ExplainProgram() {
        config_ = directory_.write("reaper.yaml", "taggers: [{name: project}]\njournal: {path: " +
                                                      directory_.file("journal.db") + "}\n");
        auto opened =
            open_journal(directory_.file("journal.db"), JournalOptions{std::chrono::days{100'000}});
        if (!opened) throw std::runtime_error(opened.error().what);
        journal_ = std::move(*opened);
    }

    void admit(const std::string& id, int at) {
        Request request;
        request.id = RequestId{id};
        request.project = ProjectId{"web"};
        request.resources = {{"VCPU", 4}};
        request.requesters = {ServerId{"waits-for-" + id}};
        run_task(io_, journal_->admit(request, noon(at))).value();
    }
    /// The first server goes, the others are skipped.
    void cull(const std::string& id, int at, const std::vector<std::string>& servers) {
        admit(id, at);
        Plan plan;
        plan.strategy = "strict";
        plan.slots_requested = plan.slots_wanted = plan.slots_freed = 1;
        HostPlan host;
        host.host_name = "compute-1";
        host.slots = 1;
        for (const auto& server : servers) {
            Victim victim;
            victim.server = ServerId{server};
            victim.name = "batch";
            victim.project = ProjectId{"cheap"};
            victim.host = "compute-1";
            victim.reason = "its project is preemptible";
            host.victims.push_back(victim);
        }
        host.spared_in_all = 0;
        plan.hosts = {host};
        run_task(io_, journal_->add_plan(RequestId{id}, PlanEntry{1, noon(at + 1), plan})).value();
        for (const auto& server : servers) {
            const bool first = server == servers.front();
            step(id, server, first ? Step::delete_sent : Step::skipped, at + 2);
            if (first) step(id, server, Step::gone, at + 3);
        }
        run_task(io_,
                 journal_->finish(RequestId{id}, Outcome{OutcomeKind::freed, "room", noon(at + 4)}))
            .value();
    }
    void step(const std::string& id, const std::string& server, Step kind, int at) {
        StepEntry entry{ServerId{server}, kind, "it was locked", noon(at)};
        run_task(io_, journal_->add_step(RequestId{id}, entry)).value();
    }
    std::vector<std::string> words(std::vector<std::string> words) {
        words.insert(words.begin(), {"--config", config_});
        return words;
    }
    ProgramResult run(std::vector<std::string> given) { return run_program(words(given)); }
    json answer(std::vector<std::string> given) {
        given.emplace_back("--json");
        const auto result = run(given);
        EXPECT_EQ(result.exit_code, 0) << result.err;
        EXPECT_EQ(result.err, "");
        return json::parse(result.out, nullptr, false);
    }
    std::vector<std::string> requests(std::vector<std::string> given) {
        given.insert(given.begin(), "history");
        std::vector<std::string> ids;
        const json told = answer(given);
        for (const json& each : told.at("requests")) ids.push_back(each.at("request").at("id"));
        return ids;
    }

    TemporaryDirectory directory_;
    std::string config_;
    boost::asio::io_context io_{1};  // outlives the journal's thread
    std::unique_ptr<Journal> journal_;
};

TEST_F(ExplainProgram, TellsWhyAServerWentByIdAndByName) {
    cull("req-1", 0, {"v-1", "v-2"});
    for (const char* const asked : {"v-1", "req-1"}) {
        const auto told = run({"explain", asked});
        EXPECT_EQ(told.exit_code, 0) << told.err;
        EXPECT_THAT(told.out,
                    HasSubstr("Server batch v-1: was deleted at 2024-05-01T12:00:02.000Z\n"));
        EXPECT_THAT(told.out, HasSubstr("its project is preemptible"));
        EXPECT_THAT(told.out, HasSubstr("for project web"));
    }
    EXPECT_THAT(run({"explain", "v-1"}).out, HasSubstr("chosen too: batch v-2"));
    const json skipped = answer({"explain", "v-2"});
    EXPECT_EQ(skipped.at("servers")[0].at("fate"), "skipped");
    EXPECT_EQ(skipped.at("servers")[0].at("fate_reason"), "it was locked");
}

TEST_F(ExplainProgram, BeginsWithTheAnswer) {
    cull("req-1", 0, {"v-1", "v-2"});
    const auto told = run({"explain", "v-1"});
    EXPECT_THAT(told.out, ::testing::StartsWith(
                              "batch was deleted at 2024-05-01T12:00:02.000Z: waits-for-req-1 of "
                              "project web needed 1 x VCPU=4 on\ncompute-1; its project is "
                              "preemptible\n"));
    EXPECT_THAT(run({"explain", "req-1"}).out, ::testing::StartsWith("Server batch v-1"));
}

TEST_F(ExplainProgram, ARequestIsFoundByHowItsIdBegins) {
    const std::string id = "req-7f3a2b10-0000-4000-8000-000000000001";
    cull(id, 0, {"v-1"});
    cull("req-7f3a2b11-0000-4000-8000-000000000001", 60, {"v-2"});
    EXPECT_EQ(answer({"history", "show", "req-7f3a2b10"}).at("request").at("id"), id);
    EXPECT_EQ(answer({"explain", "req-7f3a2b10"}).at("request").at("id"), id);
    EXPECT_EQ(run({"explain", "req-7f3a"}).exit_code, 6) << "too short to tell";
}

TEST_F(ExplainProgram, OfSeveralServersOfOneNameTheNewestComesFirst) {
    cull("req-1", 0, {"v-1"});
    cull("req-2", 60, {"v-2"});
    const json told = answer({"explain", "batch"});
    EXPECT_EQ(told.at("servers")[0].at("server"), "v-2");
    EXPECT_EQ(told.at("also")[0].at("server"), "v-1");
    const auto text = run({"explain", "batch"});
    EXPECT_THAT(text.out, HasSubstr("Also in the journal\n  2024-05-01T12:00:00.000Z batch v-1"));
}

TEST_F(ExplainProgram, WhatTheJournalDoesNotKnowIsOneLine) {
    cull("req-1", 0, {"v-1"});
    const auto unknown = run({"explain", "no\nbody"});
    EXPECT_EQ(unknown.exit_code, 6);
    EXPECT_EQ(unknown.out, "");
    EXPECT_EQ(
        unknown.err,
        "reaper: the journal knows no request 'no\\x0abody', and no server of that id or name "
        "that a plan chose, or that waited for one of the newest 10000 requests; 'reaper history' "
        "and 'reaper history victims' list what it knows; with --api the daemon explains any "
        "server of the cloud\n");
    const auto none = run_program({"--config",
                                   directory_.write("other.yaml",
                                                    "taggers: [{name: project}]\n"
                                                    "journal: {path: " +
                                                        directory_.file("no.db") + "}\n"),
                                   "explain", "v-1"});
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_THAT(none.err, HasSubstr("does not exist yet"));
}

TEST_F(ExplainProgram, HistoryIsFilteredBeforeItIsCut) {
    cull("req-1", 0, {"v-1", "v-2"});
    cull("req-2", 60, {"v-3"});
    admit("req-3", 120);
    EXPECT_THAT(requests({}), ElementsAre("req-3", "req-2", "req-1"));
    EXPECT_THAT(requests({"--limit", "1", "--server", "v-1"}), ElementsAre("req-1"));
    EXPECT_THAT(requests({"--outcome", "none"}), ElementsAre("req-3"));
    EXPECT_THAT(requests({"--until", "2024-05-01T12:01:00Z"}), ElementsAre("req-1"));
    EXPECT_THAT(requests({"--since", "2024-05-01T12:01:00Z"}), ElementsAre("req-3", "req-2"));
    EXPECT_THAT(requests({"--since", "24h"}), ElementsAre());
    const json victims = answer({"history", "victims", "--host", "compute-1"}).at("victims");
    ASSERT_EQ(victims.size(), 2U);
    EXPECT_EQ(victims[0].at("server"), "v-3") << "newest first";
    EXPECT_EQ(answer({"history", "victims"}).at("victims").size(), 0U) << "those of a day";
}

TEST_F(ExplainProgram, HistoryShowsTheRequestOfAServer) {
    cull("req-1", 0, {"v-1"});
    cull("req-2", 60, {"v-2"});
    for (const char* const asked : {"req-2", "v-2", "waits-for-req-2"})
        EXPECT_EQ(answer({"history", "show", asked}).at("request").at("id"), "req-2") << asked;
    const auto several = run({"history", "show", "batch"});
    EXPECT_EQ(several.exit_code, 0);
    EXPECT_THAT(several.out, HasSubstr("Request req-2"));
    EXPECT_THAT(several.err, HasSubstr("warning: several requests are about server 'batch'"));
    const auto begin = "req-11111111-2222-4";
    for (const char* const end : {"333-8444-555555555555", "333-8444-666666666666"})
        cull((begin + std::string{end}).c_str(), 120, {"v-9"});
    const auto two = run({"history", "show", begin});
    EXPECT_EQ(two.exit_code, 0);
    EXPECT_THAT(two.err, HasSubstr("warning: several requests have an id that begins with "
                                   "'req-11111111-2222-4'; this is the newest"));
    const auto unknown = run({"history", "show", "no-such"});
    EXPECT_EQ(unknown.exit_code, 6);
    EXPECT_THAT(unknown.err, HasSubstr("no request and no server 'no-such'"));
}

TEST_F(ExplainProgram, FollowingTellsWhatComesAndEndsOnCtrlC) {
    cull("req-1", 0, {"v-1"});
    Program follower{words({"history", "--follow"})};
    EXPECT_TRUE(follower.wait_for_text("  received  "));
    EXPECT_TRUE(follower.wait_for_text("  ended  req-1 freed: room\n"));
    admit("req-2", 60);
    EXPECT_TRUE(follower.wait_for_text("req-2)\n"));
    run_task(io_, journal_->finish(RequestId{"req-2"},
                                   Outcome{OutcomeKind::refused, "no\nroom", noon(70)}))
        .value();
    EXPECT_TRUE(follower.wait_for_text("12:01:10.000Z  ended  req-2 refused: no\\nroom\n"));
    follower.send_signal(SIGINT);
    const auto result = follower.finish();
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "");
}

TEST_F(ExplainProgram, FollowedVictimsAreJsonLinesOnDemand) {
    Program follower{words({"history", "victims", "--follow", "--host", "compute-1", "--json"})};
    cull("req-1", 0, {"v-1"});
    EXPECT_TRUE(follower.wait_for_text("\"server\":\"v-1\"}\n"));
    follower.send_signal(SIGTERM);
    const auto result = follower.finish();
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(json::parse(result.out).at("request"), "req-1");
}

TEST_F(ExplainProgram, FollowingStartsWithTheLastLines) {
    for (int i = 1; i <= 5; ++i) admit("req-" + std::to_string(i), i);
    Program follower{words({"history", "-f", "--limit", "2"})};
    EXPECT_TRUE(follower.wait_for_text("req-5)\n"));
    follower.send_signal(SIGINT);
    const auto result = follower.finish();
    EXPECT_THAT(result.out, HasSubstr("req-4)\n"));
    EXPECT_THAT(result.out, Not(HasSubstr("req-3)\n")));
}

TEST_F(ExplainProgram, FollowingWithoutAJournalFails) {
    journal_.reset();
    const auto none =
        run_program({"--config",
                     directory_.write("other.yaml", "taggers: [{name: project}]\njournal: {path: " +
                                                        directory_.file("no.db") + "}\n"),
                     "history", "-f"});
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_THAT(none.err, HasSubstr("does not exist yet"));
}

}  // namespace
}  // namespace reaper::test::program_explain_test
