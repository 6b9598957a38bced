// Damaged journals: neither trusted nor fatal.
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <sstream>

#include "clients/journal/sqlite_database.hpp"
#include "tests/clients/journal/stories.hpp"

namespace reaper::journal::test::journal_damage_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string bytes_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream{path, std::ios::binary}.rdbuf();
    return text.str();
}

void put(const std::string& path, const std::string& bytes) {
    std::ofstream{path, std::ios::binary | std::ios::trunc} << bytes;
}

/// Names of the set-aside files in a folder, sorted.
std::vector<std::string> aside(const Folder& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator{fs::path{folder.path()}.parent_path()})
        if (entry.path().filename().string().find(".damaged-") != std::string::npos)
            names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

void write_stories(Journal& journal, int count) {
    for (int i = 0; i < count; ++i) {
        const RequestId id{"req-" + std::to_string(i)};
        wait(journal.admit(request(id.str()), noon(i))).value();
        const PlanEntry entry{1, noon(i), plan(id.str())};
        wait(journal.add_plan(id, entry)).value();
    }
}

/// As after a reaper that left in order: all in the one file.
void write_closed(const Folder& folder, int count = 60) {
    auto journal = open_journal(folder.path()).value();
    write_stories(*journal, count);
}

/// As after kill -9: most of it is in the write-ahead log. `copy` gets the files.
void write_killed(const Folder& copy, int count = 10) {
    const Folder original;
    auto journal = open_journal(original.path()).value();
    write_stories(*journal, count);
    for (const char* const end : {"", "-wal"})
        fs::copy_file(original.path() + end, copy.path() + end);
}

std::size_t stories_in(JournalReader& journal) {
    return wait(journal.list(10'000)).value().size();
}

/// It was set aside, and an empty one works in its place.
void expect_replaced(const Folder& folder, const std::string& why) {
    auto opened = open_journal(folder.path());
    ASSERT_TRUE(opened) << opened.error().what;
    EXPECT_EQ(stories_in(**opened), 0U);
    ASSERT_FALSE(aside(folder).empty());
    EXPECT_THAT(aside(folder).front(), StartsWith("journal.db.damaged-20"));
    const auto events = wait((*opened)->events(10)).value();
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].kind, "journal-damaged");
    EXPECT_THAT(events[0].reason, AllOf(HasSubstr(why), HasSubstr(folder.path()),
                                        HasSubstr(" set aside as " + folder.path() + ".damaged-20"),
                                        HasSubstr("not resumed"), HasSubstr("come again")));
    EXPECT_TRUE(wait((*opened)->admit(request("new"), noon())).value().first);
}

void expect_kept(const Folder& folder, std::size_t records) {
    auto opened = open_journal(folder.path());
    ASSERT_TRUE(opened) << opened.error().what;
    EXPECT_EQ(stories_in(**opened), records);
    EXPECT_TRUE(aside(folder).empty());
}

TEST(DamagedJournal, CutOffIsSetAside) {
    const Folder folder;
    write_closed(folder);
    const std::string before = bytes_of(folder.path());
    fs::resize_file(folder.path(), before.size() / 2 + 100);
    expect_replaced(folder, "malformed");
    const std::string kept =
        bytes_of(fs::path{folder.path()}.parent_path() / aside(folder).front());
    EXPECT_EQ(kept, before.substr(0, before.size() / 2 + 100)) << "as it was found";
}

TEST(DamagedJournal, WithoutItsHeadIsSetAside) {
    const Folder folder;
    write_closed(folder);
    put(folder.path(), std::string(100, '\0') + bytes_of(folder.path()).substr(100));
    expect_replaced(folder, "not a database");
}

TEST(DamagedJournal, WithoutItsFirstPageIsSetAside) {
    const Folder folder;
    write_closed(folder);
    put(folder.path(), std::string(4'096, 'x') + bytes_of(folder.path()).substr(4'096));
    expect_replaced(folder, "not a database");
}

TEST(DamagedJournal, OfZerosIsSetAside) {
    const Folder folder;
    put(folder.path(), std::string(20'000, '\0'));
    expect_replaced(folder, "not a database");
}

TEST(DamagedJournal, WithAnOverwrittenPageIsSetAside) {
    const Folder folder;
    write_closed(folder);
    std::string bytes = bytes_of(folder.path());
    bytes.replace(8'192, 4'096, std::string(4'096, '\x5a'));
    put(folder.path(), bytes);
    expect_replaced(folder, "");
}

TEST(DamagedJournal, WithAnIndexThatMissesARequestIsSetAside) {
    const Folder folder;
    write_closed(folder, 5);
    SqliteDatabase{folder.path(), SQLITE_OPEN_READWRITE}.execute(
        "PRAGMA writable_schema = ON;"
        "DELETE FROM sqlite_schema WHERE name = 'step_of_victim';"
        "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema "
        "WHERE name = 'message_at') WHERE name = 'plan_of_request'");
    expect_replaced(folder, "");
}

TEST(DamagedJournal, WithATableThatWasNotMadeSoIsSetAside) {
    const Folder folder;
    write_closed(folder, 5);
    SqliteDatabase{folder.path(), SQLITE_OPEN_READWRITE}.execute(
        "ALTER TABLE step RENAME COLUMN detail TO detajl");
    expect_replaced(folder, "its tables are not the ones");
}

TEST(DamagedJournal, WithStepsOfNoRequestIsSetAside) {
    const Folder folder;
    write_closed(folder, 1);
    SqliteDatabase{folder.path(), SQLITE_OPEN_READWRITE}.execute(
        "INSERT INTO step (request, server, step, detail, at) VALUES (77, 's', 'gone', '', 0)");
    expect_replaced(folder, "belongs to no request");
}

TEST(DamagedJournal, WithFlippedBytesNeverKeepsTheReaperFromStarting) {
    const Folder original;
    write_closed(original, 40);
    const std::string good = bytes_of(original.path());
    int replaced = 0;
    for (unsigned seed = 1; seed <= 100; ++seed) {
        std::mt19937 rng{seed};
        std::string bytes = good;
        for (int flips = 0; flips < 4; ++flips)
            bytes[rng() % bytes.size()] = static_cast<char>(rng());
        const Folder folder;
        put(folder.path(), bytes);
        auto opened = open_journal(folder.path());
        // A byte of the head may make it the file of another program, or of a newer reaper.
        if (!opened && bytes.substr(0, 100) != good.substr(0, 100)) continue;
        ASSERT_TRUE(opened) << "seed " << seed << ": " << opened.error().what;
        EXPECT_TRUE(wait((*opened)->unfinished())) << "seed " << seed;
        EXPECT_TRUE(wait((*opened)->culls_since(TimePoint{}))) << "seed " << seed;
        EXPECT_TRUE(wait((*opened)->admit(request("new"), noon()))) << "seed " << seed;
        replaced += aside(folder).empty() ? 0 : 1;
    }
    EXPECT_GT(replaced, 0) << "this test damages nothing";
}

/// With one protected server, and then damaged by this.
void write_protected(const Folder& folder, const std::string& sql) {
    {
        auto journal = open_journal(folder.path()).value();
        ServerProtection protection;
        protection.server = ServerId{"kept"};
        wait(journal->note_protection(std::move(protection))).value();
    }
    SqliteDatabase{folder.path(), SQLITE_OPEN_READWRITE}.execute(sql);
}

/// Protected servers, and why the reaper is paused.
using Kept = std::pair<std::size_t, std::string>;
Kept reopened(const Folder& folder) {
    Kept kept;
    JournalOptions options;
    options.on_protections_lost = [&kept](const std::string& why) {
        kept.second = why;
        return Result<void>{};
    };
    auto journal = open_journal(folder.path(), options).value();
    kept.first = wait(journal->protections()).value().size();
    return kept;
}

const auto no_pause = testing::IsEmpty();

TEST(DamagedJournal, LeavesItsProtectionsToTheNext) {
    const Folder folder;
    write_protected(folder, "ALTER TABLE step RENAME COLUMN detail TO detajl");
    EXPECT_THAT(reopened(folder), testing::Pair(1U, no_pause));
    EXPECT_EQ(aside(folder).size(), 1U);
    EXPECT_THAT(reopened(folder), testing::Pair(1U, no_pause)) << "nothing is lost later";
}

TEST(DamagedJournal, WhoseProtectionsAreUnknownPausesTheReaper) {
    const Folder folder;
    write_protected(folder, "ALTER TABLE protection RENAME COLUMN server TO sever");
    EXPECT_THAT(reopened(folder), testing::Pair(0U, HasSubstr("damaged: servers that")));
    const Folder killed;
    write_killed(killed);
    put(killed.path() + "-wal", std::string(5'000, 'x'));
    EXPECT_THAT(reopened(killed), testing::Pair(0U, HasSubstr("damaged: servers that")));
}

TEST(DamagedJournal, ThatWasRemovedPausesTheReaper) {
    const Folder folder;
    put(folder.path() + "-lock", "4711\n");
    EXPECT_THAT(reopened(folder), testing::Pair(0U, no_pause)) << "killed before it had a journal";
    EXPECT_THAT(reopened(folder), testing::Pair(0U, no_pause)) << "the second";
    fs::remove(folder.path());
    JournalOptions refuses;
    refuses.on_protections_lost = [](const std::string&) {
        return Result<void>{Error{Errc::storage, "the disk is full"}};
    };
    EXPECT_EQ(open_journal(folder.path(), refuses).error().what, "the disk is full");
    EXPECT_THAT(reopened(folder), testing::Pair(0U, HasSubstr("removed: servers that")));
    EXPECT_THAT(reopened(folder), testing::Pair(0U, no_pause)) << "once";
}

/// As older builds wrote it: it says nothing of a journal.
void put_old_lock(const Folder& folder) {
    put(folder.path() + "-lock", "4711\n");
}

TEST(DamagedJournal, ThatAnOlderBuildLeftAndAnOperatorMovesAwayPausesTheReaper) {
    const Folder old;
    write_protected(old, "PRAGMA user_version = 9");
    put_old_lock(old);
    EXPECT_THAT(open_journal(old.path()).error().what, HasSubstr("move the file away"));
    fs::remove(old.path());
    EXPECT_THAT(reopened(old), testing::Pair(0U, HasSubstr("removed: servers that")));
    const Folder unknown;
    put(unknown.path(), std::string(5'000, 'x'));
    put_old_lock(unknown);
    EXPECT_THAT(open_journal(unknown.path()).error().what, HasSubstr("move it aside"));
    fs::remove(unknown.path());
    EXPECT_THAT(reopened(unknown), testing::Pair(0U, HasSubstr("removed: servers that")));
}

TEST(DamagedJournal, ThatWasSetAsideAndHasNoSuccessorYetPausesTheReaper) {
    const Folder folder;
    write_protected(folder, "ALTER TABLE protection RENAME COLUMN server TO sever");
    put_old_lock(folder);
    JournalOptions refuses;
    refuses.on_protections_lost = [](const std::string&) {
        return Result<void>{Error{Errc::storage, "the disk is full"}};
    };
    EXPECT_EQ(open_journal(folder.path(), refuses).error().what, "the disk is full");
    ASSERT_EQ(aside(folder).size(), 1U);
    EXPECT_THAT(reopened(folder), testing::Pair(0U, HasSubstr("removed: servers that")));
}

TEST(DamagedJournal, WhoseTablesWereNeverMadePausesNothing) {
    const Folder folder;
    SqliteDatabase{folder.path(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE}.execute(
        "PRAGMA journal_mode = WAL");
    ASSERT_GT(fs::file_size(folder.path()), 0U);
    put_old_lock(folder);
    EXPECT_THAT(reopened(folder), testing::Pair(0U, no_pause));
}

TEST(DamagedJournal, IsNoneThatAnOperatorAnalyzed) {
    const Folder folder;
    write_protected(folder, "ANALYZE; CREATE INDEX own ON step (detail)");
    EXPECT_THAT(reopened(folder), testing::Pair(1U, no_pause));
    EXPECT_TRUE(aside(folder).empty());
}

TEST(DamagedJournal, IsNeverOverwrittenByTheNext) {
    const Folder folder;
    for (int i = 0; i < 3; ++i) {
        write_closed(folder, 3);
        fs::resize_file(folder.path(), 5'000);
        ASSERT_TRUE(open_journal(folder.path()));
    }
    EXPECT_EQ(aside(folder).size(), 3U);
}

TEST(DamagedJournal, OfANewerReaperIsStillRefused) {
    const Folder folder;
    write_closed(folder, 1);
    SqliteDatabase{folder.path(), SQLITE_OPEN_READWRITE}.execute(
        "PRAGMA user_version = 99;"
        "INSERT INTO step (request, server, step, detail, at) VALUES (77, 's', 'gone', '', 0)");
    EXPECT_THAT(open_journal(folder.path()).error().what, HasSubstr("version 99"));
    EXPECT_TRUE(aside(folder).empty());
}

TEST(JournalLog, AfterAKillEverythingIsThere) {
    const Folder folder;
    write_killed(folder);
    expect_kept(folder, 10);
}

TEST(JournalLog, OfGarbageSetsTheJournalAside) {
    for (const std::size_t size : {40U, 5'000U, 100'000U}) {
        const Folder folder;
        write_killed(folder);
        put(folder.path() + "-wal", std::string(size, 'x'));
        expect_replaced(folder, "write-ahead log is invalid");
        EXPECT_THAT(aside(folder), testing::Contains(testing::EndsWith("-wal")));
    }
}

TEST(JournalLog, WithADamagedMiddleSetsTheJournalAside) {
    const Folder folder;
    write_killed(folder);
    std::string log = bytes_of(folder.path() + "-wal");
    log[log.size() / 2] ^= 1;
    put(folder.path() + "-wal", log);
    expect_replaced(folder, "entries of its write-ahead log can't be read");
}

TEST(JournalLog, WhoseEndWasNeverWrittenIsInOrder) {
    for (const std::size_t cut : {1U, 100U, 4'119U}) {
        const Folder folder;
        write_killed(folder);
        const auto size = fs::file_size(folder.path() + "-wal");
        fs::resize_file(folder.path() + "-wal", size - cut);
        expect_kept(folder, 10);  // the last plan is gone, its request is not
    }
}

TEST(JournalLog, WithGarbageBehindItsEndIsInOrder) {
    const Folder folder;
    write_killed(folder);
    std::ofstream{folder.path() + "-wal", std::ios::binary | std::ios::app}
        << std::string(9'000, 'x');
    expect_kept(folder, 10);
}

TEST(JournalLog, ThatWasBegunAgainIsInOrder) {
    const Folder original;
    const Folder folder;
    auto journal = open_journal(original.path()).value();
    write_stories(*journal, 10);
    // Everything is in the file, and the next entries overwrite the log's start.
    SqliteDatabase{original.path(), SQLITE_OPEN_READWRITE}.execute("PRAGMA wal_checkpoint(FULL)");
    for (const char* const id : {"later-1", "later-2"})
        wait(journal->admit(request(id), noon())).value();
    for (const char* const end : {"", "-wal"})
        fs::copy_file(original.path() + end, folder.path() + end);
    expect_kept(folder, 12);
}

TEST(JournalLog, OfZerosIsInOrder) {
    const Folder folder;
    write_closed(folder, 5);
    put(folder.path() + "-wal", std::string(8'192, '\0'));
    expect_kept(folder, 5);
}

TEST(JournalLog, WithoutItsJournalIsSetAside) {
    for (const bool gone : {true, false}) {
        const Folder folder;
        write_killed(folder);
        gone ? static_cast<void>(fs::remove(folder.path())) : fs::resize_file(folder.path(), 0);
        expect_replaced(folder, "the file itself does not");
    }
}

class UnreadableStory : public testing::Test {
protected:
    UnreadableStory() {
        auto journal = open_journal(folder_.path()).value();
        write_stories(*journal, 3);
        const StepEntry sent{ServerId{"victim-1"}, Step::delete_sent, "", noon(50)};
        wait(journal->add_step(RequestId{"req-2"}, sent)).value();
    }
    void damage(const std::string& sql) {
        SqliteDatabase{folder_.path(), SQLITE_OPEN_READWRITE}.execute(sql);
    }
    Folder folder_;
};

TEST_F(UnreadableStory, IsLeftOutAndTheOthersAreResumed) {
    damage("UPDATE plan SET decision = '{' WHERE request = 1");
    auto journal = open_journal(folder_.path()).value();
    EXPECT_EQ(wait(journal->unfinished()).value().size(), 2U);
    EXPECT_EQ(stories_in(*journal), 2U);
}

TEST_F(UnreadableStory, WithoutDeletionsIsServedAgainWhenItsMessageComesAgain) {
    damage("UPDATE request SET request = 'x' WHERE id = 'req-1'");
    auto journal = open_journal(folder_.path()).value();
    EXPECT_EQ(wait(journal->unfinished()).value().size(), 2U);
    EXPECT_TRUE(wait(journal->admit(request("req-1"), noon())).value().first);
}

TEST_F(UnreadableStory, WithDeletionsEndsHere) {
    damage(
        "UPDATE step SET step = 'banana' WHERE request = 99;"
        "UPDATE plan SET decision = '[]' WHERE request = 3");
    auto journal = open_journal(folder_.path()).value();
    EXPECT_EQ(wait(journal->unfinished()).value().size(), 2U);
    const Admission again = wait(journal->admit(request("req-2"), noon())).value();
    EXPECT_FALSE(again.first);
    ASSERT_TRUE(again.outcome);
    EXPECT_EQ(again.outcome->kind, OutcomeKind::incomplete);
    EXPECT_THAT(again.outcome->reason, HasSubstr("1 deletion was sent"));
    EXPECT_EQ(wait(journal->victims_since(noon())).value().size(), 1U) << "still counted";
}

TEST_F(UnreadableStory, OfTheListIsLeftOut) {
    damage("UPDATE request SET request = '' WHERE id = 'req-0'");
    auto reader = open_journal_for_reading(folder_.path()).value();
    EXPECT_EQ(stories_in(*reader), 2U);
    EXPECT_EQ(wait(reader->unfinished()).value().size(), 2U) << "a reader changes nothing";
    EXPECT_FALSE(wait(reader->record(RequestId{"req-0"})));
}

TEST_F(UnreadableStory, ThatIsFinishedStillTellsItsOutcome) {
    damage(
        "UPDATE request SET request = '', outcome = 'freed', outcome_reason = '', "
        "finished_at = 0 WHERE id = 'req-0'");
    auto journal = open_journal(folder_.path()).value();
    EXPECT_TRUE(wait(journal->culls_since(TimePoint{})).value().empty());
    EXPECT_EQ(wait(journal->admit(request("req-0"), noon())).value().outcome->kind,
              OutcomeKind::freed);
}

}  // namespace
}  // namespace reaper::journal::test::journal_damage_test
