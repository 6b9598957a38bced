// A daemon and a dry run of one configuration keep a journal each: what was really deleted is found
// in both modes, and what a dry run plans is shown as planned.
#include <csignal>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/cli/program.hpp"
#include "clients/journal/sqlite_database.hpp"
#include "clients/journal/sqlite_journal.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::test::two_journals_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

TimePoint noon(int seconds = 0) {
    using namespace std::chrono;
    return TimePoint{sys_days{year{2024} / May / 1} + hours{12} + std::chrono::seconds{seconds}};
}

/// One of the two, as a reaper writes it.
class Writer {
public:
    explicit Writer(const std::string& path) {
        auto opened = open_journal(path, JournalOptions{std::chrono::days{100'000}});
        if (!opened) throw std::runtime_error(opened.error().what);
        journal_ = std::move(*opened);
    }
    /// The server is chosen for web-1, and deleted if it is no dry run.
    void plan(const std::string& id, int at, const std::string& server, bool dry_run,
              const std::string& on = "compute-1") {
        Request request;
        request.id = RequestId{id};
        request.project = ProjectId{"web"};
        request.resources = {{"VCPU", 4}};
        request.requesters = {ServerId{"waits-for-" + id}};
        request.requester_names = {{ServerId{"waits-for-" + id}, "web-1"}};
        run_task(io_, journal_->admit(request, noon(at))).value();
        Victim victim;
        victim.server = ServerId{server};
        victim.name = "batch";
        victim.project = ProjectId{"cheap"};
        victim.host = on;
        victim.reason = "its project is preemptible";
        HostPlan host;
        host.host_name = on;
        host.slots = 1;
        host.victims = {victim};
        Plan plan;
        plan.strategy = "strict";
        plan.slots_requested = plan.slots_wanted = plan.slots_freed = 1;
        plan.hosts = {host};
        const PlanEntry entry{1, noon(at + 1), plan};
        run_task(io_, journal_->add_plan(request.id, entry)).value();
        for (const Step step : {Step::delete_sent, Step::gone})
            if (!dry_run)
                run_task(io_, journal_->add_step(request.id,
                                                 StepEntry{victim.server, step, "", noon(at + 2)}))
                    .value();
        const Outcome outcome{dry_run ? OutcomeKind::dry_run : OutcomeKind::freed, "1 victim",
                              noon(at + 4)};
        run_task(io_, journal_->finish(request.id, outcome)).value();
    }

private:
    boost::asio::io_context io_{1};  // outlives the journal's thread
    std::unique_ptr<Journal> journal_;
};

class TwoJournals : public testing::Test {
protected:
    void deletes(int at, const std::string& server = "v-1") {
        Writer{real()}.plan("req-real", at, server, false);
    }
    void plans(int at, const std::string& server = "v-1") {
        Writer{planned()}.plan("req-dry", at, server, true);
    }
    std::string real() const { return directory_.file("journal.db"); }
    std::string planned() const { return directory_.file("dry-run.db"); }
    std::vector<std::string> words(bool dry_run, std::vector<std::string> words) {
        const std::string config = directory_.write(
            "reaper.yaml", "taggers: [{name: project}]\njournal: {path: " + real() +
                               "}\ndry_run: " + (dry_run ? "true" : "false") + "\n");
        words.insert(words.begin(), {"--config", config});
        return words;
    }
    ProgramResult run(bool dry_run, std::vector<std::string> given) {
        return run_program(words(dry_run, std::move(given)));
    }
    static void give_another_version(const std::string& path) {
        journal::SqliteDatabase{path, SQLITE_OPEN_READWRITE}.execute("PRAGMA user_version = 10");
    }
    json answer(bool dry_run, std::vector<std::string> words) {
        words.emplace_back("--json");
        const auto result = run(dry_run, words);
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return json::parse(result.out, nullptr, false);
    }

    TemporaryDirectory directory_;
};

TEST_F(TwoJournals, ADryRunDoesNotDenyARealDeletion) {
    deletes(0);
    plans(600);
    for (const char* const asked : {"v-1", "batch"}) {
        const auto told = run(true, {"explain", asked});
        EXPECT_EQ(told.exit_code, 0) << told.err;
        EXPECT_THAT(told.out, HasSubstr("v-1: was deleted at 2024-05-01T12:00:02"));
        EXPECT_THAT(told.err, HasSubstr("told by the journal of real deletions, " + real() + "\n"));
    }
    EXPECT_EQ(answer(true, {"explain", "v-1"}).at("servers").at(0).at("fate"), "deleted");
    EXPECT_EQ(answer(true, {"explain", "req-dry"}).at("servers").at(0).at("fate"), "planned");
}

TEST_F(TwoJournals, WhatIsDeletedStaysSoWhenTheReaperActsAgain) {
    plans(0);
    deletes(600);
    const auto told = run(false, {"explain", "v-1"});
    EXPECT_THAT(told.out, HasSubstr("v-1: was deleted at"));
    EXPECT_EQ(told.err, "") << "its own journal told it";
    const auto only_planned = run(false, {"explain", "req-dry"});
    EXPECT_THAT(only_planned.out, HasSubstr("was chosen, and nothing was sent"));
    EXPECT_THAT(only_planned.err, HasSubstr("told by the journal of dry runs"));
}

TEST_F(TwoJournals, VictimsAreThoseOfBoth) {
    deletes(0);
    plans(600, "v-2");
    for (const bool dry_run : {true, false}) {
        const json victims =
            answer(dry_run, {"history", "victims", "--since", "2024-05-01"}).at("victims");
        ASSERT_THAT(victims, SizeIs(1)) << dry_run;
        EXPECT_EQ(victims.at(0).at("server"), "v-1");
    }
}

TEST_F(TwoJournals, AListSaysWhatTheOtherJournalHas) {
    deletes(0);
    plans(600);
    const auto of_dry_run = run(true, {"history"});
    EXPECT_THAT(of_dry_run.out, AllOf(HasSubstr("req-dry"), Not(HasSubstr("req-real"))));
    EXPECT_EQ(of_dry_run.err,
              "reaper: warning: this is the journal of dry runs; the journal of real deletions has "
              "requests up to 2024-05-01T12:00:00.000Z ('reaper history --journal " +
                  real() + "')\n");
    EXPECT_THAT(run(false, {"history"}).err,
                HasSubstr("the journal of dry runs has requests up to 2024-05-01T12:10:00.000Z"))
        << "newer than any here, as of a daemon that turned to a dry run";
    EXPECT_THAT(run(true, {"status"}).err,
                HasSubstr("the journal of real deletions has requests up to"));
}

TEST_F(TwoJournals, AnEmptyOneIsNotTold) {
    plans(600);
    { const Writer nothing{real()}; }
    EXPECT_EQ(run(true, {"history"}).err, "");
}

TEST_F(TwoJournals, ShowingOneSaysWhatTheOtherJournalHasOfIt) {
    deletes(0);
    plans(600);
    for (const char* const asked : {"v-1", "batch"}) {
        const auto planned_one = run(true, {"history", "show", asked});
        EXPECT_THAT(planned_one.out, HasSubstr("Request req-dry"));
        EXPECT_EQ(planned_one.err,
                  "reaper: warning: the journal of real deletions has it too: --journal " + real() +
                      " shows that\n");
    }
    EXPECT_THAT(run(false, {"history", "show", "v-1"}).err,
                HasSubstr("the journal of dry runs has it too"))
        << "newer than the one that is shown";
    const auto own = run(true, {"history", "show", "req-dry"});
    EXPECT_EQ(own.err, "") << "the other one has no such request";
    const auto elsewhere = run(true, {"history", "show", "req-real"});
    EXPECT_EQ(elsewhere.exit_code, 0);
    EXPECT_THAT(elsewhere.out, HasSubstr("Request req-real"));
    EXPECT_THAT(elsewhere.err, HasSubstr("told by the journal of real deletions, " + real()));
}

TEST_F(TwoJournals, FollowedVictimsAreThoseOfOne) {
    deletes(0);
    plans(600);
    EXPECT_EQ(run(true, {"history", "victims"}).err, "") << "those of both";
    Program follower{words(true, {"history", "victims", "--follow"})};
    EXPECT_TRUE(follower.wait_for_error_text(
        "the journal of dry runs alone is followed; the other one is the journal of real "
        "deletions (--journal " +
        real() + ")\n"));
    follower.send_signal(SIGTERM);
    follower.finish();
}

TEST_F(TwoJournals, FiltersOfVictimsKnowWhatEitherJournalKnows) {
    deletes(0);
    Writer{planned()}.plan("req-dry", 600, "v-2", true, "compute-2");
    for (const bool dry_run : {true, false}) {
        const auto victims = run(dry_run, {"history", "victims", "--host", "compute-1"});
        EXPECT_EQ(victims.err, "") << "no other service is asked";
        EXPECT_THAT(victims.out, HasSubstr("v-1"));
        EXPECT_EQ(run(dry_run, {"history", "victims", "--host", "compute-2", "--planned"}).err, "");
    }
    EXPECT_THAT(run(true, {"history", "victims", "--host", "compute-3"}).err,
                HasSubstr("the journal knows no host 'compute-3'"));
    EXPECT_THAT(run(true, {"history", "--host", "compute-1"}).err,
                HasSubstr("the journal knows no host 'compute-1'"))
        << "the list is of one journal";
}

TEST_F(TwoJournals, WhoWaitedIsNotToldAStrangersDeletion) {
    deletes(0);
    plans(600, "waits-for-req-real");
    const auto told = run(true, {"explain", "waits-for-req-real"});
    EXPECT_THAT(told.out, HasSubstr("waits-for-req-real: was chosen, and nothing was sent"));
    EXPECT_EQ(told.err, "");
}

TEST_F(TwoJournals, TheNewestRequestOfAWaitingServerIsShown) {
    Writer{planned()}.plan("req-oldest", -60, "v-3", true);
    plans(0);
    deletes(600);
    const auto told = run(true, {"explain", "web-1"});
    EXPECT_THAT(told.out, HasSubstr("waited for the room of request req-real\n"));
    EXPECT_THAT(told.err, HasSubstr("told by the journal of real deletions"));
    EXPECT_THAT(told.out,
                HasSubstr("Also in the journal\n"
                          "  2024-05-01T12:00:00.000Z web-1 waits-for-req-dry waited for req-dry\n"
                          "  2024-05-01T11:59:00.000Z web-1 waits-for-req-oldest waited for "
                          "req-oldest\n"));
    const auto in_earnest = run(false, {"explain", "web-1"});
    EXPECT_EQ(in_earnest.out, told.out);
    EXPECT_EQ(in_earnest.err, "");
}

TEST_F(TwoJournals, ADeletionForWhoWaitedIsNoneOfItself) {
    deletes(0);
    plans(600);
    const auto told = run(true, {"explain", "web-1"});
    EXPECT_THAT(told.out, HasSubstr("waited for the room of request req-dry\n"));
    EXPECT_THAT(told.out, HasSubstr("waits-for-req-real waited for req-real\n"));
    EXPECT_EQ(told.err, "");
}

TEST_F(TwoJournals, AnOtherOneOfAnotherVersionIsAWarning) {
    plans(0);
    deletes(600);
    give_another_version(real());
    EXPECT_THAT(
        run(true, {"explain", "v-1"}).err,
        AllOf(HasSubstr("the journal of real deletions was not read: "), HasSubstr("version 10")));
}

TEST_F(TwoJournals, ADryRunOfLongAgoIsNotToldAgainAndAgain) {
    plans(0);
    deletes(600);
    EXPECT_EQ(run(false, {"history"}).err, "");
    EXPECT_EQ(run(false, {"history", "show", "v-1"}).err, "");
}

TEST_F(TwoJournals, OneCanBeAskedForByItsPath) {
    deletes(0);
    plans(600);
    const auto told = run(true, {"explain", "v-1", "--journal", planned()});
    EXPECT_THAT(told.out, HasSubstr("was chosen, and nothing was sent"));
    EXPECT_EQ(told.err, "");
    const auto list = run(true, {"history", "--journal", real()});
    EXPECT_THAT(list.out, HasSubstr("req-real"));
    EXPECT_EQ(list.err, "");
    EXPECT_THAT(run(true, {"history", "victims", "--journal", real(), "--limit", "5"}).out,
                HasSubstr("v-1"));
    EXPECT_EQ(run(true, {"--api", "unix:/nowhere", "history", "--journal", real()}).exit_code, 2);
    EXPECT_EQ(run(true, {"explain", "v-1", "--journal", "/nowhere.db"}).exit_code, 1);
}

TEST_F(TwoJournals, BeforeADryRunWroteAnythingTheOtherOneIsTaken) {
    deletes(0);
    const auto told = run(true, {"explain", "v-1"});
    EXPECT_THAT(told.out, HasSubstr("was deleted at"));
    EXPECT_THAT(told.err, HasSubstr("taken instead: the journal of real deletions"));
}

TEST_F(TwoJournals, WhatCantBeReadIsSaid) {
    plans(0);
    directory_.write("journal.db", "no database");
    const auto told = run(true, {"explain", "v-1"});
    EXPECT_EQ(told.exit_code, 0) << told.err;
    EXPECT_THAT(told.err, HasSubstr("the journal of real deletions was not read: "));
}

TEST_F(TwoJournals, ADryRunTellsWhomItWouldDelete) {
    plans(0);
    EXPECT_THAT(run(true, {"history"}).out, HasSubstr(" (1) "));
    const json line = answer(true, {"history"}).at("requests").at(0);
    EXPECT_EQ(line.at("victims"), 0);
    EXPECT_EQ(line.at("planned_victims"), 1);
    EXPECT_THAT(answer(true, {"history", "victims", "--server", "v-1"}).at("victims"), SizeIs(0));
    const json planned =
        answer(true, {"history", "victims", "--planned", "--since", "2024-05-01"}).at("victims");
    ASSERT_THAT(planned, SizeIs(1));
    EXPECT_EQ(planned.at(0).at("server"), "v-1");
    EXPECT_EQ(planned.at(0).at("at"), "2024-05-01T12:00:04.000Z") << "when it ended";
}

TEST_F(TwoJournals, WhoWaitedIsFoundByItsName) {
    deletes(0);
    EXPECT_THAT(answer(false, {"history", "--server", "web-1"}).at("requests"), SizeIs(1));
    const auto shown = run(false, {"history", "show", "web-1"});
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_THAT(shown.out, HasSubstr("requesting servers: web-1 (waits-for-req-real)"));
    for (const char* const asked : {"web-1", "waits-for-req-real"}) {
        const auto told = run(false, {"explain", asked});
        EXPECT_EQ(told.exit_code, 0) << told.err;
        EXPECT_THAT(told.out, HasSubstr("Server web-1 (waits-for-req-real): waited for the room of "
                                        "request req-real\nServer batch v-1: was deleted"));
        EXPECT_THAT(told.out, Not(HasSubstr("the servers that waited")));
    }
}

}  // namespace
}  // namespace reaper::test::two_journals_test
