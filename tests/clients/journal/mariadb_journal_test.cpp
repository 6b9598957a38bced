// What MariaDB adds to the contract: tables, the lease, lost connections, users and TLS.
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <thread>

#include "clients/journal/dialect.hpp"
#include "clients/journal/mariadb_lease.hpp"
#include "clients/journal/mariadb_reapers.hpp"
#include "clients/journal/mariadb_schema.hpp"
#include "clients/journal/mariadb_switch.hpp"
#include "clients/journal/sqlite_database.hpp"
#include "fakes/fake_switch.hpp"
#include "tests/clients/journal/stories.hpp"
#include "tests/support/mariadb_server.hpp"

namespace reaper::journal::test::mariadb_journal_test {
namespace {

using reaper::test::FakeSwitch;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(MariadbSql, HasAQuestionMarkForEachUseOfAParameter) {
    const MariadbSql sql = for_mariadb("SELECT '?1' WHERE a = ?2 AND \"?3\" = ?10 OR a = ?2");
    EXPECT_EQ(sql.text, "SELECT '?1' WHERE a = ? AND \"?3\" = ? OR a = ?");
    EXPECT_THAT(sql.parameters, ElementsAre(2, 10, 2));
    EXPECT_EQ(for_mariadb("a CROSS JOIN b").text, "a STRAIGHT_JOIN b");
    EXPECT_THAT(for_mariadb("FROM " VICTIMS_OF_PLAN).text, Not(HasSubstr("json_each")));
}

TEST(MariadbUrl, NamesHostsAndNoPassword) {
    MariadbAddress address;
    address.hosts = {{"db1"}, {"db2", 3307}, {"::1"}};
    address.user = "reaper";
    address.database = "journal";
    address.password_file = "/secret";
    EXPECT_EQ(address.url(), "mysql://reaper@db1,db2:3307,[::1]/journal");
}

class MariadbJournal : public testing::Test {
protected:
    void SetUp() override {
        if (!mariadb_installed()) GTEST_SKIP() << no_mariadb;
        address = MariadbServer::shared().new_database();
    }
    void migrate() { ASSERT_TRUE(migrate_mariadb_journal(address, false)); }
    void execute(const std::string& sql) { MariadbServer::shared().execute(sql, address.database); }
    std::string why_not() {
        const auto opened = open_mariadb_journal(address, "second");
        return opened ? "" : opened.error().what;
    }

    MariadbAddress address;
};

TEST_F(MariadbJournal, WithoutTablesSaysHowToMakeThem) {
    const auto opened = open_mariadb_journal(address, "first");
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Errc::not_found);
    EXPECT_THAT(opened.error().what, AllOf(HasSubstr("run: reaper journal migrate"),
                                           HasSubstr("journal mysql://root@")));
    const auto planned = migrate_mariadb_journal(address, true).value();
    EXPECT_GT(planned.size(), 10U);
    EXPECT_THAT(why_not(), HasSubstr("no tables yet")) << "a dry run makes none";
    migrate();
    EXPECT_TRUE(migrate_mariadb_journal(address, false).value().empty()) << "nothing is missing";
    EXPECT_EQ(why_not(), "");
}

TEST_F(MariadbJournal, InterruptedWhileItsTablesWereMadeGoesOn) {
    const auto planned = migrate_mariadb_journal(address, true).value();
    for (std::size_t i = 0; i < 4; ++i)
        execute("SET sql_mode = 'ANSI_QUOTES'"), execute(planned[i]);
    EXPECT_THAT(why_not(), HasSubstr("no tables yet"));
    migrate();
    EXPECT_EQ(why_not(), "");
}

TEST_F(MariadbJournal, OfAnEarlierBuildGetsTheTableThatItLacks) {
    migrate();
    execute("DROP TABLE reapers");
    EXPECT_THAT(why_not(), HasSubstr("has no table reapers; run: reaper journal migrate"));
    EXPECT_EQ(migrate_mariadb_journal(address, true).value().size(), 1U);
    migrate();
    EXPECT_EQ(why_not(), "");
    execute("DELETE FROM lease");
    EXPECT_THAT(why_not(), HasSubstr("has no row of the lease; run: reaper journal migrate"));
    migrate();
    EXPECT_EQ(why_not(), "");
}

TEST_F(MariadbJournal, OfAnotherVersionOrProgramIsRefused) {
    migrate();
    for (const char* const version : {"2", "99", "-1"}) {
        execute(std::string{"UPDATE reaper_schema SET version = "} + version);
        EXPECT_THAT(why_not(), HasSubstr(std::string{"its schema has version "} + version));
        EXPECT_FALSE(migrate_mariadb_journal(address, false));
        EXPECT_FALSE(open_mariadb_journal_for_reading(address));
    }
    execute("DROP TABLE reaper_schema");
    EXPECT_THAT(why_not(), HasSubstr("tables of another program"));
    EXPECT_FALSE(migrate_mariadb_journal(address, false));
}

/// `table.column`, but for what only MariaDB has.
std::set<std::string> columns_of(Database& database, const char* sql) {
    std::set<std::string> found;
    for (auto look = database.statement(sql); look.step();)
        found.insert(look.text(0) + "." + look.text(1));
    return found;
}

TEST_F(MariadbJournal, HasTheTablesAndColumnsOfTheFile) {
    migrate();
    const Folder folder;
    ASSERT_TRUE(open_journal(folder.path()));
    SqliteDatabase file{folder.path(), SQLITE_OPEN_READONLY};
    MariadbDatabase server{address, MariadbDatabase::Use::reading};
    EXPECT_EQ(columns_of(server,
                         "SELECT table_name, column_name FROM information_schema.columns "
                         "WHERE table_schema = DATABASE() AND column_name <> 'not_ended' "
                         "AND table_name NOT IN ('lease', 'resumed') "
                         "AND table_name NOT LIKE 'reaper%'"),
              columns_of(file,
                         "SELECT t.name, c.name FROM sqlite_schema AS t, "
                         "pragma_table_info(t.name) AS c WHERE t.type = 'table'"));
}

TEST_F(MariadbJournal, GoesOnWhenItsConnectionWasCut) {
    migrate();
    auto journal = open_mariadb_journal(address, "first").value();
    for (const char* const id : {"req-1", "req-2"}) {
        MariadbDatabase other{address, MariadbDatabase::Use::reading};
        const std::string mine = other.ask("SELECT CONNECTION_ID()");
        for (auto look = other.statement(
                 "SELECT id FROM information_schema.processlist WHERE db = DATABASE()");
             look.step();)
            if (look.text(0) != mine) execute("KILL CONNECTION " + look.text(0));
        const auto admitted = wait(journal->admit(request(id), noon()));
        ASSERT_TRUE(admitted) << admitted.error().what;
        EXPECT_TRUE(admitted->first);
    }
    EXPECT_EQ(wait(journal->list(10)).value().size(), 2U);
}

TEST_F(MariadbJournal, ConnectsAgainWhereAHostHasNoRoomOrWasCutOff) {
    migrate();
    for (const std::string code : {"1021", "1026", "1030", "1114", "1180"}) {
        auto journal = open_mariadb_journal(address, "first").value();
        // Connections until now fail, as on a host that is left.
        MariadbDatabase newest{address, MariadbDatabase::Use::reading};
        execute(
            "CREATE OR REPLACE TRIGGER full BEFORE INSERT ON request FOR EACH ROW "
            "IF CONNECTION_ID() < " +
            newest.ask("SELECT CONNECTION_ID()") +
            " THEN SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = " + code + "; END IF");
        const auto admitted = wait(journal->admit(request("req-" + code), noon()));
        EXPECT_TRUE(admitted) << admitted.error().what;
    }
}

TEST_F(MariadbJournal, KeepsThePauseThatIsInForce) {
    migrate();
    const auto pause = make_shared_switch(address, std::make_unique<FakeSwitch>(), SwitchUse::once);
    EXPECT_FALSE(pause->paused());
    ASSERT_TRUE(pause->pause("alice", "upgrade"));
    ASSERT_TRUE(pause->pause("bob", "later"));
    EXPECT_THAT(pause->paused().value(),
                AllOf(HasSubstr("paused by alice since"), HasSubstr(": upgrade")));
    ASSERT_TRUE(pause->resume());
    EXPECT_FALSE(pause->paused());
}

TEST_F(MariadbJournal, PausesAndResumesOverALostConnectionAndADeadlock) {
    migrate();
    const auto pause = make_shared_switch(address, std::make_unique<FakeSwitch>(), SwitchUse::once);
    ASSERT_TRUE(pause->pause("alice", "upgrade"));
    MariadbDatabase other{address, MariadbDatabase::Use::reading};
    const std::string mine = other.ask("SELECT CONNECTION_ID()");
    for (auto look =
             other.statement("SELECT id FROM information_schema.processlist WHERE db = DATABASE()");
         look.step();)
        if (look.text(0) != mine) execute("KILL CONNECTION " + look.text(0));
    const auto resumed = pause->resume();
    EXPECT_TRUE(resumed) << resumed.error().what;
    EXPECT_FALSE(pause->paused());
    // Undone twice, as by a writer of another node.
    execute(
        "CREATE TRIGGER undone BEFORE UPDATE ON lease FOR EACH ROW BEGIN "
        "SET @tries = coalesce(@tries, 0) + 1; IF @tries < 3 THEN "
        "SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213; END IF; END");
    const auto paused = pause->pause("alice", "upgrade");
    EXPECT_TRUE(paused) << paused.error().what;
    EXPECT_TRUE(pause->paused());
}

TEST_F(MariadbJournal, AStatementIsGivenUpAtItsEnd) {
    using std::chrono::steady_clock;
    migrate();
    MariadbDatabase database{address, MariadbDatabase::Use::reading};
    const std::string longest = database.ask("SELECT @@SESSION.max_statement_time");
    database.give_up_at(steady_clock::now() + std::chrono::hours{1});
    EXPECT_EQ(database.ask("SELECT @@SESSION.max_statement_time"), longest) << "the shorter one";
    for (const int after : {100, -1}) {
        database.give_up_at(steady_clock::now() + std::chrono::milliseconds{after});
        try {
            database.ask("SELECT SLEEP(3600)");
            ADD_FAILURE() << after;
        } catch (const DatabaseFailure& failure) {
            EXPECT_TRUE(failure.given_up) << failure.message;
            EXPECT_FALSE(failure.again);
        }
        database.give_up_at({});
        EXPECT_EQ(database.ask("SELECT @@SESSION.max_statement_time"), longest);
    }
}

TEST_F(MariadbJournal, FrozenWriterKeepsNoRowLocked) {
    migrate();
    const std::string change = "UPDATE lease SET writes = writes + 1";
    MariadbDatabase frozen{address, MariadbDatabase::Use::writing};
    const int seconds = std::stoi(frozen.ask("SELECT @@SESSION.idle_transaction_timeout"));
    EXPECT_GT(seconds, 0);
    EXPECT_LT(std::chrono::seconds{seconds}, lease_lasts) << "or the next one waits for its row";
    frozen.execute("SET SESSION idle_transaction_timeout = 1");  // the same, sooner
    Transaction begun{frozen};
    frozen.execute(change);
    MariadbDatabase next{address, MariadbDatabase::Use::writing};
    Transaction waits{next};
    next.execute(change);
    waits.commit();
    EXPECT_THROW(begun.commit(), DatabaseFailure);
}

TEST_F(MariadbJournal, WaitsForTheRowOfTheLeaseLongerThanAStatementMayTake) {
    migrate();
    const auto journal = open_mariadb_journal(address, "first").value();
    wait(journal->admit(request("req-1"), noon())).value();  // and nothing is to be tidied up
    MariadbDatabase other{address, MariadbDatabase::Use::writing};
    EXPECT_LT(other.ask_number("SELECT @@SESSION.innodb_lock_wait_timeout"),
              std::stod(other.ask("SELECT @@SESSION.max_statement_time")))
        << "which of two that end together is first differs";
    Transaction holds{other};
    other.execute("UPDATE lease SET writes = writes + 1");
    std::thread server{[&] {
        for (int i = 0; i < 2; ++i) other.ask("SELECT SLEEP(3.5)");
        holds.commit();
    }};
    const auto admitted = wait(journal->admit(request("req-2"), noon()));
    server.join();
    EXPECT_TRUE(admitted) << admitted.error().what;
}

TEST_F(MariadbJournal, DeadlockUndoesTheWholeGroup) {
    migrate();
    execute("INSERT INTO event (kind, reason, at) VALUES ('a', '', 1), ('b', '', 1), ('c', '', 1)");
    MariadbDatabase ours{address, MariadbDatabase::Use::writing};
    MariadbDatabase theirs{address, MariadbDatabase::Use::writing};
    std::thread other;
    {
        Transaction group{ours};
        ours.execute("UPDATE event SET at = 2 WHERE seq = 1");
        other = std::thread{[&] {
            Transaction heavier{theirs};
            theirs.execute("UPDATE event SET at = 3 WHERE seq > 1");
            theirs.execute("UPDATE event SET at = 3 WHERE seq = 1");
            heavier.commit();
        }};
        MariadbDatabase look{address, MariadbDatabase::Use::reading};
        while (look.ask_number("SELECT count(*) FROM information_schema.innodb_trx "
                               "WHERE trx_state = 'LOCK WAIT'") == 0)
            look.ask("SELECT SLEEP(0.2)");  // InnoDB tells what was within 0.1 s of the last look
        const auto last_job = [&] {
            Transaction job{ours};
            ours.execute("UPDATE event SET at = 2 WHERE seq = 2");
            job.commit();
        };
        EXPECT_THROW(last_job(), DatabaseFailure);
        EXPECT_FALSE(ours.in_transaction());
        EXPECT_THROW(group.commit(), DatabaseFailure) << "the first job is not there";
    }
    other.join();
    Transaction next{ours};
    EXPECT_EQ(ours.ask("SELECT group_concat(at) FROM event"), "3,3,3");
    next.commit();
}

TEST_F(MariadbJournal, CountsWhatAnotherReaperDeleted) {
    migrate();
    const auto limit = std::make_shared<DeletionLimit>();
    limit->most = 1;
    JournalOptions options;
    options.limit = limit;
    const auto may = [&](const std::string& server) {
        auto journal = open_mariadb_journal(address, "the one for " + server, options).value();
        wait(journal->admit(request("req of " + server), noon())).value();
        const StepEntry sent{ServerId{server}, Step::delete_sent, "", noon(1)};
        return wait(journal->add_step(RequestId{"req of " + server}, sent)).has_value();
    };
    EXPECT_TRUE(may("a"));
    EXPECT_FALSE(may("b"));
    limit->most = 2;
    EXPECT_TRUE(may("b"));
}

TEST_F(MariadbJournal, ReadsNoMoreThanItForgetsOfALargeOne) {
    migrate();
    execute(
        "INSERT INTO request (id, request, received_at, outcome, finished_at) "
        "SELECT concat('r', seq), '{}', 1, 'freed', " +
        std::to_string(noon().time_since_epoch().count()) + " FROM seq_1_to_20000");
    JournalOptions options;
    options.newest_kept = 0;
    options.max_bytes = 1;
    auto journal = open_mariadb_journal(address, "first", options).value();
    MariadbDatabase look{address, MariadbDatabase::Use::reading};
    const auto rows_read = [&] {
        return look.ask_number(
            "SELECT sum(variable_value) FROM information_schema.global_status "
            "WHERE variable_name LIKE 'HANDLER_READ%'");
    };
    wait(journal->admit(request("req-1"), noon())).value();  // and removes what is too old
    const auto before = rows_read();
    wait(journal->admit(request("req-2"), noon())).value();
    EXPECT_LT(rows_read() - before, 5'000);
    EXPECT_EQ(look.ask_number("SELECT count(*) FROM request WHERE id LIKE 'r%' AND seq <= 200"), 0);
}

TEST_F(MariadbJournal, HasOneSwitchForAllItsReapers) {
    migrate();
    const auto here =
        make_shared_switch(address, std::make_unique<FakeSwitch>(), SwitchUse::watched);
    auto file = std::make_unique<FakeSwitch>();
    FakeSwitch& of_there = *file;
    const auto there = make_shared_switch(address, std::move(file), SwitchUse::once);
    ASSERT_TRUE(here->pause("alice", ""));
    EXPECT_TRUE(here->paused()) << "at once";
    EXPECT_TRUE(there->paused());
    ASSERT_TRUE(there->resume());
    EXPECT_FALSE(there->paused());
    while (here->paused()) std::this_thread::yield();
    ASSERT_TRUE(of_there.pause("bob", "this machine alone"));
    EXPECT_THAT(there->paused().value(), HasSubstr("this machine alone"));
    EXPECT_FALSE(here->paused());
    ASSERT_TRUE(there->resume());
    EXPECT_FALSE(there->paused());
    const auto before = there->resumed_at();
    ASSERT_TRUE(there->resume());
    EXPECT_GT(there->resumed_at(), before) << "also without a pause, as it closes breakers";
    while (here->resumed_at() != there->resumed_at()) std::this_thread::yield();
}

TEST_F(MariadbJournal, SwitchIsReadAgainWhereItsConnectionWasCut) {
    migrate();
    const auto here = make_shared_switch(address, std::make_unique<FakeSwitch>(), SwitchUse::once);
    EXPECT_FALSE(here->paused());
    MariadbDatabase other{address, MariadbDatabase::Use::reading};
    execute("KILL CONNECTION " +
            other.ask("SELECT id FROM information_schema.processlist WHERE db = DATABASE() "
                      "AND id <> CONNECTION_ID()"));
    EXPECT_FALSE(here->paused());
}

TEST_F(MariadbJournal, IsPausedWhereItsSwitchCantBeRead) {
    const auto none = make_shared_switch(address, std::make_unique<FakeSwitch>(), SwitchUse::once);
    EXPECT_THAT(none->paused().value(), HasSubstr("can't be read"));
    EXPECT_THAT(none->note().value().trouble, HasSubstr("run: reaper journal migrate"));
    EXPECT_FALSE(none->pause("alice", ""));
    migrate();
    EXPECT_FALSE(none->paused());
}

TEST(MariadbJournalServer, IsAnErrorWhileItIsDownAndGoesOnAfterwards) {
    if (!mariadb_installed()) GTEST_SKIP() << no_mariadb;
    MariadbServer::Options durable;
    durable.more = {"--innodb-flush-log-at-trx-commit=1"};
    MariadbServer server{durable};
    const MariadbAddress address = server.new_database();
    ASSERT_TRUE(migrate_mariadb_journal(address, false));
    JournalOptions options;
    options.retry_for = std::chrono::milliseconds{1};
    auto journal = open_mariadb_journal(address, "first", options).value();
    wait(journal->admit(request("req-1"), noon())).value();
    server.kill();
    const auto failed = wait(journal->admit(request("req-2"), noon()));
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, Errc::storage);
    EXPECT_FALSE(wait(journal->holds()));
    server.start();
    EXPECT_TRUE(wait(journal->admit(request("req-2"), noon())).value().first);
    EXPECT_EQ(wait(journal->list(10)).value().size(), 2U);
}

/// With users, passwords and TLS, on a port.
class MariadbJournalUsers : public testing::Test {
protected:
    static void SetUpTestSuite() {
        if (!mariadb_installed()) return;
        folder = std::make_unique<Folder>();
        for (const char* const name : {"server", "other"}) {
            const std::string make =
                "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
                "-subj /CN=" +
                std::string{name} + " -addext subjectAltName=IP:127.0.0.1 -keyout " +
                folder->path(std::string{name} + ".key") + " -out " +
                folder->path(std::string{name} + ".pem") + " 2>/dev/null";
            ASSERT_EQ(std::system(make.c_str()), 0);
        }
        MariadbServer::Options options;
        options.users = true;
        options.more = {"--ssl-cert=" + folder->path("server.pem"),
                        "--ssl-key=" + folder->path("server.key")};
        server = std::make_unique<MariadbServer>(options);
        server->execute("CREATE DATABASE journal");
        server->execute("CREATE USER reaper@'127.0.0.1' IDENTIFIED BY 'se cret'");
        server->execute(
            "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, REFERENCES, INDEX, ALTER "
            "ON journal.* TO reaper@'127.0.0.1'");
        std::ofstream{folder->path("password")} << "se cret\n";
        std::ofstream{folder->path("wrong")} << "sesame\n";
    }
    static void TearDownTestSuite() {
        server.reset();
        folder.reset();
    }
    void SetUp() override {
        if (!mariadb_installed()) GTEST_SKIP() << no_mariadb;
        address.hosts = {{"127.0.0.1", server->port()}};
        address.user = "reaper";
        address.database = "journal";
        address.password_file = folder->path("password");
        address.ca_file = folder->path("server.pem");
        address.timeout = std::chrono::seconds{60};
    }
    std::string why_not() {
        const auto tried = migrate_mariadb_journal(address, true);
        return tried ? "" : tried.error().what;
    }

    static inline std::unique_ptr<Folder> folder;
    static inline std::unique_ptr<MariadbServer> server;
    MariadbAddress address;
};

TEST_F(MariadbJournalUsers, NeedTheirPassword) {
    EXPECT_EQ(why_not(), "");
    address.password_file = folder->path("wrong");
    EXPECT_THAT(why_not(), AllOf(HasSubstr("Access denied"), HasSubstr("check the user"),
                                 Not(HasSubstr("sesame"))));
    address.password_file = folder->path("none");
    EXPECT_THAT(why_not(), AllOf(HasSubstr("can't read the password"), HasSubstr("none")));
}

TEST_F(MariadbJournalUsers, TrustNoCertificateOfAnother) {
    address.ca_file = folder->path("other.pem");
    EXPECT_THAT(why_not(), AllOf(HasSubstr("error 2026"), HasSubstr("journal.ca_file")));
    address.ca_file.clear();
    EXPECT_THAT(why_not(), HasSubstr("error 2026")) << "the system knows no such authority";
}

TEST_F(MariadbJournalUsers, TrustNoCertificateOfAnotherName) {
    address.hosts[0].name = "localhost";
    EXPECT_THAT(why_not(), HasSubstr("error 2026"));
}

TEST_F(MariadbJournalUsers, GoToTheNextServerWhenOneDoesNotAnswer) {
    address.hosts.insert(address.hosts.begin(), MariadbHost{"127.0.0.1", 1});
    ASSERT_TRUE(migrate_mariadb_journal(address, false));
    auto journal = open_mariadb_journal(address, "first").value();
    EXPECT_TRUE(wait(journal->admit(request("req-1"), noon())).value().first);
    address.hosts.pop_back();
    EXPECT_THAT(why_not(), AllOf(HasSubstr("127.0.0.1:1"), HasSubstr("can be reached")));
}

TEST_F(MariadbJournalUsers, NeedNoMoreThanTheRightsThatTheManualGrants) {
    std::ifstream file("deploy/docs/several-reapers.md");
    const std::string manual{std::istreambuf_iterator<char>(file), {}};
    const std::string rights = "GRANT SELECT, INSERT, UPDATE, DELETE ON reaper.* TO reaper";
    ASSERT_THAT(manual, HasSubstr("\n" + rights + "@'%';\n"));
    const std::string to_migrate = "CREATE, SELECT and INSERT";
    EXPECT_THAT(manual, HasSubstr("who may create them (" + to_migrate + ")"));
    server->execute("CREATE DATABASE reaper");
    for (const std::string user : {"daemon", "maker"})
        server->execute("CREATE USER " + user + "@'127.0.0.1' IDENTIFIED BY 'se cret' REQUIRE SSL");
    server->execute("GRANT SELECT, INSERT, UPDATE, DELETE ON reaper.* TO daemon@'127.0.0.1'");
    server->execute("GRANT CREATE, SELECT, INSERT ON reaper.* TO maker@'127.0.0.1'");
    address.database = "reaper";
    address.user = "daemon";
    EXPECT_EQ(why_not(), "") << "a dry run makes nothing";
    const auto refused = migrate_mariadb_journal(address, false);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("CREATE command denied"));
    MariadbAddress maker = address;
    maker.user = "maker";
    const auto made = migrate_mariadb_journal(maker, false);
    ASSERT_TRUE(made) << made.error().what;

    JournalOptions all_goes;
    all_goes.newest_kept = 0;
    auto first = open_mariadb_journal(address, "first", all_goes).value();
    const RequestId id{"req-1"};
    wait(first->admit(request(id.str()), noon())).value();
    EXPECT_TRUE(wait(first->add_plan(id, PlanEntry{1, noon(), plan(id.str())})));
    EXPECT_TRUE(
        wait(first->add_step(id, StepEntry{ServerId{"s-1"}, Step::delete_sent, "", noon()})));
    EXPECT_TRUE(wait(first->finish(id, Outcome{OutcomeKind::incomplete, "", noon(1)})));
    const auto pause = make_shared_switch(address, std::make_unique<FakeSwitch>(), SwitchUse::once);
    EXPECT_TRUE(pause->pause("alice", "upgrade"));
    EXPECT_TRUE(pause->resume());
    const auto listed = make_reapers(address, {"second", "machine", "1", "", ""});
    auto second = open_or_follow_mariadb_journal(address, "second", all_goes).value();
    first.reset();
    EXPECT_TRUE(wait(second.take_over()));
    const TimePoint later = noon() + default_journal_retention + std::chrono::days{1};
    EXPECT_TRUE(wait(second.journal->note_event({"started", "", later})));
    EXPECT_TRUE(wait(second.journal->list(10)).value().empty()) << "it may remove old requests";
    EXPECT_EQ(listed->list().all.size(), 1U);
}

}  // namespace
}  // namespace reaper::journal::test::mariadb_journal_test
