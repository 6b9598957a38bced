// Who is the active reaper is asked, whatever the configuration says by now of a dry run: a daemon
// keeps what it was started with. And how a daemon elsewhere is paused, and tells its status.
#include "reaper/cli/daemon/active_reaper.hpp"

#include <gmock/gmock.h>

#include "app/cli/program.hpp"
#include "app/cli/remote_daemon.hpp"
#include "reaper/cli/channel/remote_switch.hpp"
#include "reaper/cli/daemon/run_command.hpp"
#include "reaper/model/time.hpp"
#include "reaper/report/json.hpp"
#include "reaper/runtime/machine.hpp"

namespace reaper::cli::active_reaper_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* dry_run_warning =
    "reaper: warning: the daemon here is a dry run: it deletes no servers anyway\n";

/// The small server of the test is this machine's daemon; there is no broker.
class ActiveReaperOfADryRun : public RemoteDaemon {
protected:
    test::ProgramResult run(std::vector<std::string> words) {
        const std::string path =
            directory_.write("reaper.yaml",
                             "dry_run: true\nbroker:\n"
                             "  urls: [\"amqp://reaper:swordfish@127.0.0.1:1/\"]\n"
                             "  connect_timeout: 1s\n"
                             "metrics: {listen: \"" +
                                 url().substr(std::string{"http://"}.size()) +
                                 "\"}\n"
                                 "journal: {path: " +
                                 directory_.file("journal.db") + "}\n" +
                                 "pause_file: " + directory_.file("paused") + "\n");
        words.insert(words.begin(), {"--config", path});
        return test::run_program(words);
    }
    void daemon_says(bool dry_run) {
        json notes = json::array();
        if (dry_run) notes.push_back({{"name", "dry-run"}, {"detail", "it deletes nothing"}});
        for (const char* const probe : {"/healthz", "/readyz"})
            answers(probe, {{"status", "ok"}, {"checks", json::array()}, {"notes", notes}});
        serve();
    }

    test::TemporaryDirectory directory_;
};

TEST_F(ActiveReaperOfADryRun, IsAskedForWhenPausing) {
    daemon_says(true);
    const auto paused = run({"pause", "--json"});
    EXPECT_EQ(paused.exit_code, 0) << paused.err;
    const std::string unknown =
        json::parse(paused.out).at("active").at("unknown").get<std::string>();
    EXPECT_THAT(unknown, HasSubstr("127.0.0.1"));
}

TEST_F(ActiveReaperOfADryRun, IsAskedForUnlessTheDaemonSaysThatItIsOne) {
    daemon_says(false);
    const auto status = run({"status"});
    EXPECT_THAT(status.out, HasSubstr("daemon: ready\n"));
    EXPECT_THAT(status.out, HasSubstr("active reaper: not known: "));
}

TEST_F(ActiveReaperOfADryRun, IsNotNeededWhenTheDaemonSaysThatItIsOne) {
    daemon_says(true);
    const auto status = run({"status"});
    EXPECT_THAT(status.out, HasSubstr("daemon: ready, in a dry run\n"));
    EXPECT_THAT(status.out, HasSubstr("active reaper: none is needed: "));
    EXPECT_THAT(status.out, Not(HasSubstr("not known")));
}

TEST_F(ActiveReaperOfADryRun, IsPausedWithAWarning) {
    daemon_says(true);
    const auto paused = run({"pause"});
    EXPECT_EQ(paused.exit_code, 0);
    EXPECT_THAT(paused.out, HasSubstr("paused: the reaper of this machine"));
    EXPECT_THAT(paused.err, HasSubstr(dry_run_warning));
    EXPECT_EQ(run({"status"}).exit_code, 4);
}

TEST_F(ActiveReaperOfADryRun, IsPausedWithoutAWarningIfTheDaemonIsNone) {
    daemon_says(false);
    const auto paused = run({"pause"});
    EXPECT_EQ(paused.exit_code, 0);
    EXPECT_THAT(paused.err, Not(HasSubstr("dry run")));
    EXPECT_THAT(paused.err, HasSubstr("which reaper is active is not known: "));
}

class PauseElsewhere : public RemoteDaemon {
protected:
    void is(bool dry_run, const json& notices = json::array()) {
        answers("/v1/status", {{"machine", "ctl-1"},
                               {"pause", nullptr},
                               {"paused", nullptr},
                               {"circuit", {{"state", "closed"}, {"reason", ""}}},
                               {"left_alone", json::array()},
                               {"notices", notices},
                               {"dry_run", dry_run},
                               {"ready", true},
                               {"line", "ready"},
                               {"no_help", nullptr},
                               {"now", "2024-05-01T12:00:00Z"}});
        active_is_elsewhere(nullptr);
    }
    void active_is_elsewhere(const json& name) {
        const json active{{"machine", "ctl-2"},
                          {"journal", "/j"},
                          {"here", false},
                          {"serves", true},
                          {"name", name}};
        answers("/v1/reapers", {{"reapers", json::array({active})}, {"unknown", nullptr}});
    }
    void refuses(int status, const char* why) {
        for (const char* const path : {"/v1/pause", "/v1/resume"})
            answers(path, {{"error", {{"code", status}, {"message", why}}}}, status);
    }
    ExitCode resume() { return captured(false, resume_remotely); }
    ExitCode pause(bool as_json = false) {
        return captured(as_json, [](const GlobalOptions& global, const Terminal& terminal) {
            return pause_remotely(global, PauseCommand{}, terminal);
        });
    }
    ExitCode protect() {
        return captured(false, [](const GlobalOptions& global, const Terminal& terminal) {
            ProtectCommand command;
            command.server = "db";
            return carry_out(global, command, terminal);
        });
    }
    ExitCode status(bool as_json = false) {
        return captured(as_json, [](const GlobalOptions& global, const Terminal& terminal) {
            return show_status_remotely(global, terminal);
        });
    }
};

TEST_F(PauseElsewhere, ADryRunNeedsNone) {
    is(true);
    refuses(409, "a dry run deletes no servers: there is nothing to pause");
    serve();
    EXPECT_EQ(pause(), ExitCode::ok);
    EXPECT_EQ(out_, "nothing is paused on ctl-1\n");
    EXPECT_EQ(err_,
              "reaper: warning: the daemon there is a dry run: it deletes no servers anyway\n"
              "reaper: warning: the active reaper is on ctl-2: it goes on deleting; pause it "
              "there\n");
    EXPECT_EQ(pause(true), ExitCode::ok);
    const json told = json::parse(out_);
    EXPECT_EQ(told.at("paused"), json(nullptr));
    EXPECT_EQ(told.at("active").at("machine"), "ctl-2");
    EXPECT_EQ(asked().at(0), "/v1/pause") << "nothing goes before it";
}

TEST_F(PauseElsewhere, ADryRunNeedsNoResumeEither) {
    is(true);
    refuses(409, "a dry run deletes no servers: there is nothing to resume");
    serve();
    EXPECT_EQ(resume(), ExitCode::ok);
    EXPECT_EQ(out_, "nothing was paused on ctl-1\n");
    EXPECT_EQ(err_,
              "reaper: warning: the daemon there is a dry run: it deletes no servers anyway\n");
}

TEST_F(PauseElsewhere, AnotherRefusalIsReported) {
    is(false);
    refuses(409, "not now");
    serve();
    EXPECT_EQ(pause(), ExitCode::failed);
    EXPECT_EQ(err_, "reaper: not now\n");
    EXPECT_EQ(out_, "");
    refuses(403, "not for you");
    EXPECT_EQ(pause(), ExitCode::refused);
    EXPECT_EQ(err_, "reaper: not for you\n");
}

TEST_F(PauseElsewhere, NamesTheActiveOneThatGoesOn) {
    is(false);
    answers("/v1/pause", {{"paused", "by alice"}, {"was_paused", false}, {"pause", nullptr}});
    serve();
    EXPECT_EQ(pause(), ExitCode::ok);
    EXPECT_THAT(out_, HasSubstr("paused: the reaper of ctl-1 "));
    EXPECT_THAT(err_, HasSubstr("the active reaper is on ctl-2"));
}

TEST_F(PauseElsewhere, WarnsWhereTheActiveOneIsNotKnown) {
    is(false);
    answers("/v1/pause", {{"paused", "by alice"}, {"was_paused", false}, {"pause", nullptr}});
    answers("/v1/protect", {{"protection", {{"server", "s-1"}, {"name", "db"}}}});
    answers("/v1/reapers", {{"reapers", json::array()}, {"unknown", "the broker is down"}});
    serve();
    EXPECT_EQ(pause(), ExitCode::ok);
    const char* const warning =
        "warning: which reaper is active is not known: the broker is down; ";
    EXPECT_THAT(err_, HasSubstr(warning));
    EXPECT_EQ(protect(), ExitCode::ok);
    EXPECT_THAT(err_, HasSubstr(warning));
}

TEST_F(PauseElsewhere, HoldsForTheActiveOneOfTheSameJournal) {
    is(false);
    answers("/v1/pause", {{"paused", "by alice"}, {"was_paused", false}, {"pause", nullptr}});
    answers("/v1/protect", {{"protection", {{"server", "s-1"}, {"name", "db"}}}});
    serve();
    EXPECT_EQ(protect(), ExitCode::ok);
    EXPECT_THAT(err_, HasSubstr("the active reaper is on ctl-2"));
    active_is_elsewhere("ctl-2");
    EXPECT_EQ(pause(), ExitCode::ok);
    EXPECT_EQ(err_, "");
    EXPECT_EQ(protect(), ExitCode::ok);
    EXPECT_EQ(err_, "");
}

TEST_F(PauseElsewhere, ItsStatusListsWhatIsUnderWay) {
    const json notice{{"server", "s-1"},
                      {"name", "web"},
                      {"host", "h1"},
                      {"request", "req-1"},
                      {"until", "2024-05-01T12:02:00.000Z"}};
    is(true, json::array({notice}));
    JournalTotals totals;
    totals.under_way = 3;
    answers("/v1/totals?since=24h", {{"since", "2024-04-30T12:00:00Z"},
                                     {"totals", report::to_json(totals)},
                                     {"holds", json::array()}});
    RequestSummary line;
    line.request.id = RequestId{"req-1"};
    line.request.project = ProjectId{"77cb"};
    line.request.project_name = "we\x1b[2Jb";
    line.received_at = *parse_time("2024-05-01T11:59:00Z");
    line.victims = 2;
    answers("/v1/requests?limit=10&outcome=none",
            {{"version", 2}, {"requests", json::array({report::to_json(line)})}});
    serve();
    EXPECT_EQ(status(), ExitCode::ok) << err_;
    EXPECT_THAT(out_, HasSubstr("\nUnder notice\n  web (s-1) on h1: ends at "
                                "2024-05-01T12:02:00.000Z, for request req-1\n"));
    EXPECT_THAT(out_, AllOf(HasSubstr("\nUnder way\n"),
                            HasSubstr("2024-05-01T11:59:00.000Z  req-1    we\\x1b[2Jb"),
                            HasSubstr("  and 2 more: reaper history --outcome none\n")));
    EXPECT_THAT(out_, HasSubstr("active reaper: none is needed: "));
    EXPECT_EQ(status(true), ExitCode::ok);
    EXPECT_EQ(json::parse(out_).at("notices"), json::array({notice}));
    const json told = json::parse(out_).at("under_way");
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told.at(0).at("request").at("id"), "req-1");
    EXPECT_EQ(told.at(0).at("victims"), 2);
}

TEST(ActiveReaper, OfASharedJournalIsListedWithThoseThatStandBy) {
    JournalReaper active, standby;
    active.note = {"a", "ctl-1", "1", "", "x", "cull=1 limits=2"};
    active.state = ReaperState{std::nullopt, 3, false};
    active.active = true;
    standby.note = {"b", "ctl-2", "1", "", "y", "cull=3 limits=4"};
    standby.state = ReaperState{Duration{7'000}, 0, std::nullopt};
    Activity activity;
    activity.reapers = ReaperList{{active, standby}, true, "a", ""};
    const std::string text = to_text(activity);
    EXPECT_THAT(text, HasSubstr(", has not read the cloud yet, requests in flight: 3, "
                                "RabbitMQ does not deliver\nstandby: b "));
    EXPECT_THAT(text, HasSubstr(", cache of 7s; its configuration differs: cull, limits"));

    activity.active = ActiveReaper{"ctl-1", "mysql://j"};
    activity.reapers->all[1].state.reset();
    const json told = to_json(activity)["reapers"];
    EXPECT_EQ(told[0]["in_flight"], 3);
    EXPECT_EQ(told[1]["in_flight"], json{}) << "it has not told yet";
}

TEST(SectionDigests, NameWhatSeveralReapersHaveInAnotherWay) {
    const config::Settings one;
    config::Settings other;
    other.admin.owners = !one.admin.owners;  // of a machine
    other.cull.poll_interval *= 2;
    EXPECT_THAT(digests_of_sections(one), HasSubstr("cull="));
    EXPECT_THAT(differing_sections(digests_of_sections(one), digests_of_sections(other)),
                testing::ElementsAre("cull"));
}

/// A reload does not make it one, and the pause file is the same.
TEST(ActiveReaperIsHere, AlsoIfTheConfigurationAskedForADryRunSince) {
    config::LocalSettings settings;
    settings.dry_run = true;
    settings.journal.path = "/j/dry-run.db";
    settings.other_journal.path = "/j/journal.db";
    EXPECT_TRUE(is_here({machine_name(), "/j/journal.db"}, settings));
    EXPECT_TRUE(is_here({machine_name(), "/j/dry-run.db"}, settings));
    EXPECT_FALSE(is_here({machine_name(), "/other/journal.db"}, settings));
    EXPECT_FALSE(is_here({"not-" + machine_name(), "/j/journal.db"}, settings));
    settings.dry_run = false;
    std::swap(settings.journal, settings.other_journal);
    EXPECT_TRUE(is_here({machine_name(), "/j/journal.db"}, settings));
    EXPECT_FALSE(is_here({machine_name(), "/j/dry-run.db"}, settings));
}

}  // namespace
}  // namespace reaper::cli::active_reaper_test
