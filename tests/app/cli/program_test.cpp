// The real binary: what it prints and how it ends.
#include "app/cli/program.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/golden.hpp"
#include "clients/journal/sqlite_journal.hpp"
#include "reaper/runtime/machine.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::test::program_test {
namespace {

/// A configuration that is right and leads nowhere: nothing listens on these ports.
std::string quiet_config(const TemporaryDirectory& directory) {
    return "cloud:\n"
           "  auth:\n"
           "    auth_url: http://127.0.0.1:1/v3\n"
           "    username: reaper\n"
           "    user_domain_name: Default\n"
           "    password: swordfish\n"
           "    project_name: service\n"
           "    project_domain_name: Default\n"
           "http:\n"
           "  max_retries: 0\n"
           "  call_timeout: 2s\n"
           "  connect_timeout: 1s\n"
           "broker:\n"
           "  urls: [\"amqp://reaper:swordfish@127.0.0.1:1/\"]\n"
           "  connect_timeout: 1s\n"
           "taggers:\n"
           "  - name: project\n"
           "journal:\n"
           "  path: " +
           directory.file("journal.db") + "\n" + "pause_file: " + directory.file("paused") + "\n";
}

std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream in{text};
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

/// The commands that a help page lists.
std::vector<std::string> commands_in(const std::string& help) {
    std::vector<std::string> commands;
    bool list = false;
    for (const auto& line : lines_of(help)) {
        if (line.empty()) list = false;
        if (list && line.starts_with("  ") && line[2] != ' ')
            commands.push_back(line.substr(2, line.find(' ', 2) - 2));
        if (line == "Commands:") list = true;
    }
    return commands;
}

TEST(ProgramHelp, EveryCommandHasAPageThatFitsATerminal) {
    std::vector<std::vector<std::string>> waiting{{}};
    std::size_t pages = 0;
    while (!waiting.empty()) {
        const auto words = std::move(waiting.back());
        waiting.pop_back();
        auto call = words;
        call.push_back("--help");
        const auto page = run_program(call);
        const std::string name = words.empty() ? "reaper" : words.back();
        EXPECT_EQ(page.exit_code, 0) << name;
        EXPECT_EQ(page.err, "") << name;
        EXPECT_THAT(page.out, ::testing::HasSubstr("Usage: ")) << name;
        for (const auto& line : lines_of(page.out)) EXPECT_LE(line.size(), 100U) << line;
        for (const auto& command : commands_in(page.out)) {
            waiting.push_back(words);
            waiting.back().push_back(command);
        }
        ++pages;
    }
    EXPECT_GE(pages, 22U);
}

TEST(ProgramTables, StrategiesAndTaggersAreGolden) {
    for (const std::string name : {"strategies", "taggers", "estimators", "qos"}) {
        const auto text = run_program({name});
        EXPECT_EQ(text.exit_code, 0);
        expect_golden(name, text.out);
        const auto json = run_program({name, "--json"});
        EXPECT_EQ(json.exit_code, 0);
        expect_golden(name + "-json", json.out);
    }
}

TEST(ProgramTables, NeedNoConfiguration) {
    const auto result = run_program({"--config", "/nonexistent", "strategies"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "");
}

TEST(ProgramErrors, AWrongCommandLineIsOneLineAndExitTwo) {
    const auto result = run_program({"plann"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, "reaper: unknown command 'plann'; did you mean 'plan'?\n");
}

TEST(ProgramErrors, EveryCommandThatNeedsAConfigurationSaysThatItIsMissing) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"run"},
          {"hosts"},
          {"candidates", "--resources", "VCPU=1"},
          {"setup", "resource-tagging", "--slots", "1"},
          {"setup", "reservations"},
          {"snapshot"},
          {"history"},
          {"config"},
          {"resume"},
          {"status"},
          {"plan", "--resources", "VCPU=1", "--project", "p"}}) {
        std::vector<std::string> all{"--config", "/nonexistent/reaper.yaml"};
        all.insert(all.end(), words.begin(), words.end());
        const auto result = run_program(all);
        // The daemon is started again: the file may come.
        EXPECT_EQ(result.exit_code, words.front() == "run" ? 1 : 2) << words.front();
        EXPECT_EQ(result.out, "") << words.front();
        EXPECT_EQ(result.err.substr(0, 32), "reaper: /nonexistent/reaper.yaml") << result.err;
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    }
}

TEST(ProgramErrors, AllMistakesOfAConfigurationAreReportedAtOnce) {
    const TemporaryDirectory directory;
    const std::string path = directory.write("reaper.yaml", quiet_config(directory) +
                                                                "cull:\n"
                                                                "  max_rounds: many\n"
                                                                "  dedline: 5min\n");
    const auto result = run_program({"run"}, {{"REAPER_CONFIG", path}});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.err.find("reaper: " + path + ":22: cull.max_rounds: "), std::string::npos)
        << result.err;
    EXPECT_NE(result.err.find("reaper: " + path + ":23: cull.dedline: "), std::string::npos)
        << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 2) << result.err;
}

/// A read-only command must not look like a reaper that ran.
TEST(ProgramLooks, CommandsThatLookLeaveNothingBehind) {
    const TemporaryDirectory directory;
    const std::string config = directory.write("reaper.yaml", quiet_config(directory));
    const std::vector<std::vector<std::string>> all{
        {"history"},
        {"history", "victims"},
        {"history", "messages"},
        {"history", "events"},
        {"history", "totals"},
        {"history", "show", "req-1"},
        {"explain", "server-1"},
        {"report"},
        {"status"},
        {"health"},
        {"check"},
        {"config"},
        {"usage"},
        {"hosts"},
        {"room", "--resources", "VCPU=1"},
        {"plan", "--resources", "VCPU=1", "--project", "p"}};
    for (std::vector<std::string> words : all) {
        words.insert(words.begin(), {"--config", config});
        const ProgramResult done = run_program(words);
        EXPECT_LT(done.exit_code, 128) << words[2] << ": " << done.err;
        std::vector<std::string> there;
        for (const auto& file :
             std::filesystem::directory_iterator{std::filesystem::path{config}.parent_path()})
            there.push_back(file.path().filename());
        EXPECT_EQ(there, std::vector<std::string>{"reaper.yaml"}) << words[2];
    }
}

TEST(ProgramErrors, AnUnknownStrategyIsAUsageError) {
    const TemporaryDirectory directory;
    const std::string path = directory.write("reaper.yaml", quiet_config(directory));
    const auto result = run_program({"--config", path, "plan", "--resources", "VCPU=1", "--project",
                                     "p", "--strategy", "gentle"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, ::testing::HasSubstr("--strategy: strategy.name: "));
    EXPECT_THAT(result.err, ::testing::HasSubstr("\"gentle\"; expected one of "));
}

TEST(ProgramConfig, ShowsNoSecret) {
    const TemporaryDirectory directory;
    const std::string path = directory.write("reaper.yaml", quiet_config(directory));
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"config"}, {"config", "--json"}}) {
        std::vector<std::string> all{"--config", path};
        all.insert(all.end(), words.begin(), words.end());
        const auto result = run_program(all);
        EXPECT_EQ(result.exit_code, 0) << result.err;
        EXPECT_EQ(result.out.find("swordfish"), std::string::npos) << result.out;
        EXPECT_NE(result.out.find("127.0.0.1:1"), std::string::npos) << result.out;
    }
}

TEST(ProgramPlan, AnInvalidMessageIsRefused) {
    const TemporaryDirectory directory;
    const std::string path = directory.write("reaper.yaml", quiet_config(directory));
    const auto result =
        run_program({"--config", path, "plan", "--notification", "-"}, {}, "not json");
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.err.substr(0, 43), "reaper: stdin is not a notification of Nova")
        << result.err;
}

TEST(ProgramPlan, AnotherEventMakesNoRequestAndNeedsNoCloud) {
    const TemporaryDirectory directory;
    const std::string path = directory.write("reaper.yaml", quiet_config(directory));
    const std::string message =
        std::string(REAPER_TEST_DATA) + "/openstack-zed/notifications/instance.create.end.json";
    const auto text = run_program({"--config", path, "plan", "--notification", message});
    EXPECT_EQ(text.exit_code, 0) << text.err;
    EXPECT_EQ(text.out.substr(0, message.size() + 17), message + ": nothing to plan");
    const auto json = run_program({"--config", path, "plan", "--json", "--notification", message});
    const auto parsed = nlohmann::json::parse(json.out);
    EXPECT_EQ(parsed.at("plans").size(), 0U);
    EXPECT_EQ(parsed.at("no_request").at(0).at("source"), message);
}

TEST(ProgramPlan, AnUnreachableCloudIsAFailureInOneLine) {
    const TemporaryDirectory directory;
    const std::string path = directory.write("reaper.yaml", quiet_config(directory));
    const auto result =
        run_program({"--config", path, "plan", "--resources", "VCPU=1", "--project", "p"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find("127.0.0.1:1"), std::string::npos) << result.err;
    EXPECT_EQ(result.err.find("swordfish"), std::string::npos) << result.err;
}

TEST(ProgramHistory, WithoutAJournalSaysSo) {
    const TemporaryDirectory directory;
    const std::string path = directory.write("reaper.yaml", quiet_config(directory));
    const auto result = run_program({"--config", path, "history"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.err.find(directory.file("journal.db")), std::string::npos) << result.err;
}

auto switched(const std::string& config, std::vector<std::string> words) {
    words.insert(words.begin(), {"--config", config});
    return run_program(words, {{"SUDO_USER", "alice"}});
}

TEST(ProgramSwitch, PausesShowsAndResumes) {
    const TemporaryDirectory directory;
    const std::string path = directory.write("reaper.yaml", quiet_config(directory));
    const std::string here = " on this machine (" + machine_name() + ")";
    EXPECT_TRUE(switched(path, {"status"}).out.starts_with("not paused" + here + "\n"));
    EXPECT_NE(switched(path, {"status"}).out.find("active reaper: not known: "), std::string::npos);
    EXPECT_EQ(switched(path, {"status"}).exit_code, 0);

    const auto paused = switched(path, {"pause", "--reason", "kernel update"});
    EXPECT_EQ(paused.exit_code, 0) << paused.err;
    EXPECT_EQ(paused.out, "paused: the reaper of this machine (" + machine_name() +
                              ") deletes no servers until 'reaper resume' (" +
                              directory.file("paused") + ")\n");
    const auto status = switched(path, {"status"});
    EXPECT_EQ(status.exit_code, 4);
    EXPECT_TRUE(status.out.starts_with("paused" + here + " by alice")) << status.out;
    EXPECT_NE(status.out.find(": kernel update\n"), std::string::npos) << status.out;
    EXPECT_NE(switched(path, {"check"}).out.find("warn switch: paused by alice"),
              std::string::npos);

    const auto again = switched(path, {"pause", "--reason", "another"});
    EXPECT_EQ(again.exit_code, 0);
    EXPECT_TRUE(again.out.starts_with("already paused by alice")) << again.out;
    EXPECT_NE(again.out.find("kernel update"), std::string::npos) << again.out;

    const auto resumed = switched(path, {"resume"});
    EXPECT_EQ(resumed.exit_code, 0);
    EXPECT_TRUE(resumed.out.starts_with("resumed" + here + "; it was paused by alice"))
        << resumed.out;
    EXPECT_TRUE(switched(path, {"resume"}).out.starts_with("it was not paused"));
    EXPECT_TRUE(switched(path, {"status"}).out.starts_with("not paused" + here));
}

TEST(ProgramSwitch, StatusListsWhatIsUnderWay) {
    const TemporaryDirectory directory;
    const std::string path = directory.write("reaper.yaml", quiet_config(directory));
    boost::asio::io_context io{1};  // outlives the journal's thread
    auto journal = open_journal(directory.file("journal.db"));
    ASSERT_TRUE(journal) << journal.error().what;
    const auto at = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
    for (int i = 0; i < 12; ++i) {
        Request request;
        request.id = RequestId{"req-" + std::to_string(i)};
        request.project = ProjectId{"web"};
        ASSERT_TRUE(run_task(io, (*journal)->admit(request, at + std::chrono::seconds{i})));
        if (i > 0) continue;
        const auto status = switched(path, {"status"}).out;
        EXPECT_NE(status.find("\nUnder way\nSINCE "), std::string::npos) << status;
        EXPECT_NE(status.find("  req-0    web"), std::string::npos) << status;
        EXPECT_EQ(status.find(" more: "), std::string::npos) << status;
    }
    const auto status = switched(path, {"status"}).out;
    EXPECT_NE(status.find("  req-11   web"), std::string::npos) << status;
    EXPECT_EQ(status.find("  req-1 "), std::string::npos) << "the newest ones: " << status;
    EXPECT_NE(status.find("\n  and 2 more: reaper history --outcome none\n"), std::string::npos)
        << status;
    const auto told = nlohmann::json::parse(switched(path, {"status", "--json"}).out);
    EXPECT_EQ(told.at("under_way").size(), 10U);
    EXPECT_EQ(told.at("under_way").at(0).at("request").at("id"), "req-11");
    const Outcome done{OutcomeKind::freed, "freed", at};
    for (int i = 0; i < 12; ++i)
        ASSERT_TRUE(run_task(io, (*journal)->finish(RequestId{"req-" + std::to_string(i)}, done)));
    EXPECT_EQ(switched(path, {"status"}).out.find("Under way"), std::string::npos);
}

/// It has no file then, and the daemon hears of nothing else.
TEST(ProgramSwitch, ResumeSaysThatItClosesNoHalfOpenBreaker) {
    const TemporaryDirectory directory;
    const std::string path = directory.write(
        "reaper.yaml", quiet_config(directory) + "breaker: {wasted: 1, projects: 1}\n");
    {
        const auto at =
            std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()) -
            std::chrono::minutes{40};
        boost::asio::io_context io{1};  // outlives the journal's thread
        auto journal = open_journal(directory.file("journal.db"));
        ASSERT_TRUE(journal) << journal.error().what;
        Request request;
        request.id = RequestId{"req-1"};
        request.project = ProjectId{"p"};
        ASSERT_TRUE(run_task(io, (*journal)->admit(request, at)));
        ASSERT_TRUE(
            run_task(io, (*journal)->finish(request.id, Outcome{OutcomeKind::freed, "freed", at})));
        ASSERT_TRUE(run_task(
            io, (*journal)->note_freed_room(
                    request.id, FreedRoomResult{FreedRoomResultKind::wasted, "wasted", {}, at})));
    }
    const auto status = switched(path, {"status"});
    EXPECT_NE(status.out.find("half open"), std::string::npos) << status.out << status.err;
    const auto resumed = switched(path, {"resume"});
    EXPECT_EQ(resumed.exit_code, 0);
    EXPECT_TRUE(resumed.out.starts_with("it was not paused")) << resumed.out;
    EXPECT_NE(resumed.out.find("circuit breaker is half open, and stays so"), std::string::npos)
        << resumed.out;
}

/// The switch and the record need no secret, and no cloud: `sudo -u reaper` in any home directory.
TEST(ProgramSwitch, WorksWhateverElseIsWrongWithTheConfiguration) {
    const TemporaryDirectory directory;
    const std::string path =
        directory.write("reaper.yaml",
                        "cloud: {name: not-to-be-found}\n"
                        "broker: {urls_file: /run/credentials/reaper.service/broker-urls}\n"
                        "nonsense: 1\n"
                        "journal: {path: " +
                            directory.file("journal.db") + "}\n" +
                            "pause_file: " + directory.file("paused") + "\n");
    EXPECT_EQ(switched(path, {"pause"}).exit_code, 0);
    const auto status = switched(path, {"status"});
    EXPECT_EQ(status.exit_code, 4) << status.err;
    EXPECT_EQ(switched(path, {"resume"}).exit_code, 0);
    EXPECT_EQ(switched(path, {"history"}).exit_code, 1) << "there is no journal yet";
    EXPECT_EQ(switched(path, {"check"}).exit_code, 2);
}

TEST(ProgramSwitch, SpeaksJson) {
    const TemporaryDirectory directory;
    const std::string path = directory.write("reaper.yaml", quiet_config(directory));
    using nlohmann::json;
    EXPECT_EQ(json::parse(switched(path, {"status", "--json"}).out).at("paused"), json(nullptr));
    const auto paused = json::parse(switched(path, {"pause", "--json", "--reason", "why"}).out);
    EXPECT_EQ(paused.at("paused").at("reason"), "why");
    EXPECT_EQ(paused.at("was_paused"), false);
    const auto status = switched(path, {"status", "--json"});
    EXPECT_EQ(status.exit_code, 4);
    EXPECT_EQ(json::parse(status.out).at("paused").at("reason"), "why");
    EXPECT_EQ(json::parse(switched(path, {"resume", "--json"}).out).at("was").at("reason"), "why");
}

TEST(ProgramSwitch, ATouchedFileIsAPauseLikeAnyOther) {
    const TemporaryDirectory directory;
    const std::string path = directory.write("reaper.yaml", quiet_config(directory));
    directory.write("paused", "");
    EXPECT_EQ(switched(path, {"status"}).exit_code, 4);
    EXPECT_NE(switched(path, {"resume"}).out.find("; it was paused since "), std::string::npos);
}

TEST(ProgramHealth, TellsWhetherADaemonRuns) {
    const TemporaryDirectory directory;
    const std::string text = quiet_config(directory);
    const auto unasked = switched(directory.write("a.yaml", text), {"health"});
    EXPECT_EQ(unasked.exit_code, 1);
    EXPECT_EQ(
        unasked.out,
        "daemon: not known (the configuration has neither admin.socket nor metrics.listen, so "
        "no client can ask it: set metrics.listen: 127.0.0.1:9787 (or admin.socket: "
        "/run/reaper/admin.sock) and restart the reaper)\n");
    const std::string path =
        directory.write("b.yaml", text + "admin: {socket: " + directory.file("admin.sock") + "}\n");
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"health"}, {"health", "--live"}}) {
        const auto stopped = switched(path, words);
        EXPECT_EQ(stopped.exit_code, 1);
        EXPECT_TRUE(stopped.out.starts_with("daemon: not running (")) << stopped.out;
    }
    EXPECT_NE(switched(path, {"health", "--json"}).out.find("\"not running\""), std::string::npos);
    EXPECT_NE(switched(path, {"status"}).out.find("\ndaemon: not running ("), std::string::npos);
}

TEST(ProgramReserve, WhatWasNeverSentIsNotCalledPossiblyDone) {
    const TemporaryDirectory directory;
    const std::string path =
        directory.write("reaper.yaml", quiet_config(directory) +
                                           "admin: {socket: " + directory.file("no.sock") + "}\n");
    const auto unsent =
        switched(path, {"unreserve", "--host", "h", "--role", "r", "--resources", "VCPU=1"});
    EXPECT_EQ(unsent.exit_code, 1) << unsent.err;
    EXPECT_EQ(unsent.err.find("done anyway"), std::string::npos) << unsent.err;
}

TEST(ProgramSwitch, WithoutItsDirectorySaysWhatToDo) {
    const TemporaryDirectory directory;
    const std::string text = quiet_config(directory);
    const auto at = text.find("pause_file");
    const std::string elsewhere = directory.write(
        "elsewhere.yaml", text.substr(0, at) + "pause_file: " + directory.file("no/paused") + "\n");
    const auto failed = switched(elsewhere, {"pause"});
    EXPECT_EQ(failed.exit_code, 1);
    EXPECT_EQ(failed.out, "");
    EXPECT_NE(failed.err.find("make the directory " + directory.file("no")), std::string::npos)
        << failed.err;
}

TEST(ProgramSwitch, WithoutAConfigurationPauseSaysHowToPauseByHand) {
    const auto failed = run_program({"--config", "/nonexistent/reaper.yaml", "pause"});
    EXPECT_EQ(failed.exit_code, 2);
    EXPECT_NE(failed.err.find("touch /var/lib/reaper/paused"), std::string::npos) << failed.err;
}

TEST(ProgramCheck, GoesOnAfterFailuresAndSaysSoInItsExitCode) {
    const TemporaryDirectory directory;
    const std::string path = directory.write("reaper.yaml", quiet_config(directory));
    const auto text = run_program({"--config", path, "check"});
    EXPECT_EQ(text.exit_code, 4) << text.err;
    EXPECT_NE(text.out.find("ok   config: " + path + "\n"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("ok   journal "), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("FAIL broker: "), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("FAIL keystone: "), std::string::npos) << text.out;
    EXPECT_EQ(text.out.find("swordfish"), std::string::npos) << text.out;

    const auto json = run_program({"--config", path, "check", "--json"});
    EXPECT_EQ(json.exit_code, 4);
    const auto parsed = nlohmann::json::parse(json.out);
    EXPECT_EQ(parsed.at("version"), 2);
    EXPECT_EQ(parsed.at("ok"), false);
    EXPECT_EQ(parsed.at("checks").at(0).at("verdict"), "ok");

    const auto table =
        run_program({"--config", path, "check", "--columns", "verdict,what", "--sort", "what"});
    EXPECT_EQ(table.exit_code, 4);
    EXPECT_NE(table.out.find("fail     broker"), std::string::npos) << table.out;
    EXPECT_NE(table.out.find("warn     rights for look"), std::string::npos) << table.out;
    EXPECT_EQ(run_program({"--config", path, "check", "-o", "name"}).exit_code, 4);
}

TEST(ProgramRequest, WithoutASocketSaysWhatToDo) {
    const TemporaryDirectory directory;
    const std::string path = directory.write("reaper.yaml", quiet_config(directory));
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"reapers"},
          {"request", "--resources", "VCPU=1", "--project", "p"}}) {
        std::vector<std::string> all{"--config", path};
        all.insert(all.end(), words.begin(), words.end());
        const auto result = run_program(all);
        EXPECT_EQ(result.exit_code, 2) << result.err;
        EXPECT_NE(result.err.find("set admin.socket: /run/reaper/admin.sock and restart the "
                                  "reaper, or use --api URL"),
                  std::string::npos)
            << result.err;
    }
}

TEST(ProgramCheck, AConfigurationThatIsWrongIsAFinding) {
    const TemporaryDirectory directory;
    const std::string path = directory.write("reaper.yaml", "clowd: {}\n");
    const auto result = run_program({"--config", path, "check"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.out.find("FAIL config: " + path + ":1: clowd"), std::string::npos)
        << result.out;
}

}  // namespace
}  // namespace reaper::test::program_test
