// `reaper journal`: a journal moves into a database and back.
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/cli/program.hpp"
#include "clients/journal/sqlite_journal.hpp"
#include "clients/pause/pause_file.hpp"
#include "reaper/runtime/run_task.hpp"
#include "support/mariadb_server.hpp"

namespace reaper::test::journal_command_test {
namespace {

using journal::test::MariadbServer;
using testing::AllOf;
using testing::HasSubstr;

class JournalCommandTest : public testing::Test {
protected:
    void SetUp() override {
        if (!journal::test::mariadb_installed()) GTEST_SKIP() << journal::test::no_mariadb;
        url = MariadbServer::shared().new_database().url();
        config =
            directory.write("reaper.yaml", "taggers: [{name: project}]\npause_file: " + pause_file +
                                               "\njournal: {url: '" + url + "', timeout: 10s}\n");
    }
    ProgramResult run(std::vector<std::string> words) const {
        words.insert(words.begin(), {"--config", config});
        return run_program(std::move(words));
    }
    static void admit(const std::string& file, const std::string& id) {
        boost::asio::io_context io;  // outlives the journal's thread, which posts to it
        const auto journal = open_journal(file).value();
        Request request;
        request.id = RequestId{id};
        request.project = ProjectId{"web"};
        request.resources = {{"VCPU", 4}};
        run_task(io, journal->admit(std::move(request), TimePoint{})).value();
    }

    TemporaryDirectory directory;
    std::string pause_file = directory.file("pause");
    std::string url, config;
};

TEST_F(JournalCommandTest, MakesTheTables) {
    const auto none = run({"history"});
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_THAT(none.err, HasSubstr("has no tables yet; run: reaper journal migrate"));
    const auto planned = run({"journal", "migrate", "--dry-run"});
    EXPECT_EQ(planned.exit_code, 0) << planned.err;
    EXPECT_THAT(planned.out, AllOf(HasSubstr("SET SESSION sql_mode"),
                                   HasSubstr("CREATE TABLE IF NOT EXISTS request (")));
    EXPECT_EQ(run({"history"}).exit_code, 1) << "a dry run makes none";
    const auto made = run({"journal", "migrate"});
    EXPECT_EQ(made.out, "journal " + url + ": its tables were made\n") << made.err;
    EXPECT_EQ(run({"journal", "migrate"}).out, "journal " + url + ": all tables are there\n");
    EXPECT_EQ(run({"history"}).exit_code, 0);
}

TEST_F(JournalCommandTest, CopiesAFileIntoTheDatabaseAndBack) {
    const std::string file = directory.file("journal.db");
    admit(file, "req-1");
    ASSERT_EQ(run({"journal", "migrate"}).exit_code, 0);
    const auto there = run({"journal", "copy", "--from", file});
    EXPECT_EQ(there.exit_code, 0) << there.err;
    EXPECT_THAT(there.out, AllOf(HasSubstr("journal " + url + ": the same as " + file),
                                 HasSubstr("  request, 1 row\n")));
    EXPECT_THAT(run({"history"}).out, HasSubstr("req-1"));
    const auto back = run({"journal", "copy", "--to", directory.file("back.db"), "--json"});
    EXPECT_EQ(back.exit_code, 0) << back.err;
    const auto said = nlohmann::json::parse(back.out);
    EXPECT_EQ(said.at("tables").at(0).at("rows"), 1);
    EXPECT_THAT(there.out, HasSubstr(said.at("tables").at(0).at("sha256").get<std::string>()));
    EXPECT_THAT(run({"history", "--journal", directory.file("back.db")}).out, HasSubstr("req-1"));
}

TEST_F(JournalCommandTest, CarriesThePauseAndTheOpenBreakerOver) {
    const std::string file = directory.file("journal.db");
    {
        boost::asio::io_context io;  // outlives the journal's thread, which posts to it
        const auto journal = open_journal(file).value();
        JournalEvent opened;
        opened.kind = "breaker-opened";
        opened.reason = "the room of 3 slots in a row went unused";
        opened.at = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
        run_task(io, journal->note_event(std::move(opened))).value();
    }
    ASSERT_EQ(run({"journal", "migrate"}).exit_code, 0);
    std::ofstream{pause_file} << "upgrade\n";
    const auto there = run({"journal", "copy", "--from", file});
    EXPECT_EQ(there.exit_code, 0) << there.err;
    EXPECT_THAT(there.err, HasSubstr("the pause stays, for all reapers of " + url));
    std::filesystem::remove(pause_file);
    const auto back = run({"journal", "copy", "--to", directory.file("back.db")});
    EXPECT_EQ(back.exit_code, 0) << back.err;
    EXPECT_THAT(back.err, HasSubstr("the circuit breaker is open: the room of 3 slots"));
    EXPECT_TRUE(std::filesystem::exists(pause_file));
    EXPECT_TRUE(std::filesystem::exists(breaker_file(pause_file)));
    ASSERT_EQ(run({"resume"}).exit_code, 0);
    ASSERT_EQ(run({"journal", "copy", "--to", directory.file("back.db")}).exit_code, 0);
    EXPECT_FALSE(std::filesystem::exists(pause_file));
    EXPECT_FALSE(std::filesystem::exists(breaker_file(pause_file))) << "an operator resumed";
}

TEST_F(JournalCommandTest, ADryRunPausesAllReapersOfTheDatabase) {
    ASSERT_EQ(run({"journal", "migrate"}).exit_code, 0);
    const std::string in_earnest = config;
    const std::string dry = directory.write(
        "dry.yaml", "dry_run: true\ntaggers: [{name: project}]\npause_file: " + pause_file +
                        "\njournal: {url: '" + url + "', timeout: 10s}\n");
    const auto run_with = [&](const std::string& file, std::vector<std::string> words) {
        config = file;
        return run(std::move(words));
    };
    const auto paused = run_with(dry, {"pause", "--reason", "upgrade"});
    EXPECT_THAT(paused.out, HasSubstr("paused for all reapers of " + url)) << paused.err;
    EXPECT_THAT(run_with(dry, {"status"}).out, HasSubstr("upgrade"));
    EXPECT_EQ(run_with(in_earnest, {"status"}).exit_code, 4);
    EXPECT_THAT(run_with(dry, {"resume"}).out, HasSubstr("resumed for all reapers of " + url));
    EXPECT_EQ(run_with(in_earnest, {"pause"}).out.find("already"), std::string::npos);
}

TEST(JournalCommand, NeedsADatabase) {
    const TemporaryDirectory directory;
    const std::string config = directory.write("reaper.yaml", "taggers: [{name: project}]\n");
    const auto run = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"--config", config, "journal"});
        return run_program(std::move(words));
    };
    EXPECT_EQ(run({"migrate"}).exit_code, 2);
    EXPECT_THAT(run({"migrate"}).err, HasSubstr("has no journal.url"));
    EXPECT_EQ(run({"copy"}).exit_code, 2);
    EXPECT_EQ(run({"copy", "--from", "/a", "--to", "/b"}).exit_code, 2);
    EXPECT_EQ(run({"migrate", "--password-file", "/a"}).exit_code, 2);
}

}  // namespace
}  // namespace reaper::test::journal_command_test
