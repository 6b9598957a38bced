// The journal's file: opening, sharing, damage, full disks, kill -9.
#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clients/journal/schema.hpp"
#include "clients/journal/sqlite_database.hpp"
#include "clients/journal/store.hpp"
#include "clients/journal/worker.hpp"
#include "support/unprivileged_user.hpp"
#include "tests/clients/journal/stories.hpp"

namespace reaper::journal::test::journal_file_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

Error refusal(const std::string& path) {
    const auto opened = open_journal(path);
    EXPECT_FALSE(opened);
    return opened ? Error{} : opened.error();
}

void write(const std::string& path, const std::string& sql) {
    SqliteDatabase database{path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE};
    database.execute(sql);
}

TEST(JournalFile, HasOneWriter) {
    const Folder folder;
    auto first = open_journal(folder.path());
    ASSERT_TRUE(first);
    const Error error = refusal(folder.path());
    EXPECT_EQ(error.code, Errc::storage);
    EXPECT_THAT(error.what, AllOf(HasSubstr(folder.path()), HasSubstr("another reaper"),
                                  HasSubstr("process " + std::to_string(::getpid()))));
    std::filesystem::create_symlink(folder.path(), folder.path("other-name"));
    EXPECT_THAT(refusal(folder.path("other-name")).what, HasSubstr("another reaper"));
    first->reset();
    EXPECT_TRUE(open_journal(folder.path()));
}

TEST(JournalFile, HasOneWriterWhenItsLockFileIsGone) {
    const Folder folder;
    auto first = open_journal(folder.path()).value();
    std::filesystem::remove(folder.path() + "-lock");
    EXPECT_THAT(refusal(folder.path()).what, HasSubstr("another reaper"));
    EXPECT_TRUE(wait(first->admit(request("req-1"), noon())));
    first.reset();
    EXPECT_TRUE(open_journal(folder.path()));
}

/// A journal with a plan under way, whose next step is a deletion.
class JournalUnderWay : public testing::Test {
protected:
    void SetUp() override {
        wait(journal->admit(request("req-1"), noon())).value();
        wait(journal->add_plan(RequestId{"req-1"}, PlanEntry{0, noon(), plan("req-1")})).value();
    }
    Result<void> delete_one() {
        StepEntry step{ServerId{"victim-1"}, Step::delete_sent, "", noon(1)};
        return wait(journal->add_step(RequestId{"req-1"}, std::move(step)));
    }
    void expect_refusal(const Result<void>& answer, const std::string& file) {
        ASSERT_FALSE(answer);
        EXPECT_EQ(answer.error().code, Errc::storage);
        EXPECT_THAT(answer.error().what, AllOf(HasSubstr(file), HasSubstr("removed or replaced")));
    }

    Folder folder;
    std::unique_ptr<Journal> journal = open_journal(folder.path()).value();
};

TEST_F(JournalUnderWay, TakesNothingWhenItsFileIsGone) {
    std::filesystem::rename(folder.path(), folder.path("aside"));
    expect_refusal(delete_one(), folder.path());
    EXPECT_FALSE(wait(journal->admit(request("req-2"), noon())));
    EXPECT_FALSE(wait(journal->holds())) << "a look tells it too";
    std::filesystem::rename(folder.path("aside"), folder.path());
    EXPECT_TRUE(delete_one());
}

TEST_F(JournalUnderWay, TakesNothingWhenItsFileIsAnother) {
    std::filesystem::rename(folder.path(), folder.path("aside"));
    open_journal(folder.path("new.db")).value().reset();
    std::filesystem::rename(folder.path("new.db"), folder.path());
    expect_refusal(delete_one(), folder.path());
}

TEST_F(JournalUnderWay, TakesNothingWhenItsLogIsGone) {
    std::filesystem::remove(folder.path() + "-wal");
    expect_refusal(delete_one(), folder.path() + "-wal");
}

TEST_F(JournalUnderWay, TakesNoDeletionThatOthersCantRead) {
    EXPECT_TRUE(delete_one());
    write(folder.path(), "PRAGMA wal_checkpoint(TRUNCATE)");
    std::filesystem::resize_file(folder.path(), 0);  // the same file still, and empty
    EXPECT_FALSE(delete_one());
}

TEST(JournalFile, IsReadWhileAReaperWrites) {
    const Folder folder;
    auto writer = open_journal(folder.path()).value();
    wait(writer->admit(request("req-1"), noon())).value();
    auto reader = open_journal_for_reading(folder.path()).value();
    EXPECT_EQ(wait(reader->list(10)).value().size(), 1U);
    wait(writer->admit(request("req-2"), noon())).value();
    EXPECT_EQ(wait(reader->list(10)).value().size(), 2U);
}

TEST(JournalFile, IsReadAfterTheReaperLeft) {
    const Folder folder;
    {
        auto writer = open_journal(folder.path()).value();
        wait(writer->admit(request("req-1"), noon())).value();
    }
    auto reader = open_journal_for_reading(folder.path()).value();
    EXPECT_EQ(wait(reader->list(10)).value().size(), 1U);
}

TEST(JournalFile, ReadersGetAnErrorWhenThereIsNoneYet) {
    const Folder folder;
    const auto none = open_journal_for_reading(folder.path());
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, Errc::not_found);
    EXPECT_THAT(none.error().what, HasSubstr("does not exist yet"));
    EXPECT_FALSE(std::filesystem::exists(folder.path()));
    std::ofstream{folder.path()}.close();
    EXPECT_EQ(open_journal_for_reading(folder.path()).error().code, Errc::not_found);
}

TEST(JournalFile, OfAnotherVersionIsRefusedAndLeftAlone) {
    // Those of the time before the first release had 2 to 10.
    for (const std::int64_t version : {-1, 2, 10, 99}) {
        const Folder folder;
        ASSERT_TRUE(open_journal(folder.path()));
        const std::string found = std::to_string(version);
        write(folder.path(), "PRAGMA user_version = " + found);
        const std::string line = "journal " + folder.path() + ": its schema has version " + found +
                                 ", this reaper knows version 11 only: use the reaper that ";
        EXPECT_THAT(refusal(folder.path()).what, StartsWith(line));
        EXPECT_EQ(refusal(folder.path()).code, Errc::storage);
        EXPECT_THAT(open_journal_for_reading(folder.path()).error().what, StartsWith(line));
        SqliteDatabase database{folder.path(), SQLITE_OPEN_READONLY};
        EXPECT_EQ(database.ask_number("PRAGMA user_version"), version);
    }
}

TEST(JournalFile, OfTheFirstVersionIsBroughtToOurs) {
    const Folder folder;
    ASSERT_TRUE(open_journal(folder.path()));
    write(folder.path(),
          "DROP INDEX step_sent; CREATE INDEX step_sent ON step (at) "
          "WHERE step IN ('delete-sent', 'force-delete-sent'); PRAGMA user_version = 1");
    EXPECT_TRUE(open_journal_for_reading(folder.path()));
    ASSERT_TRUE(open_journal(folder.path()));
    SqliteDatabase database{folder.path(), SQLITE_OPEN_READONLY};
    EXPECT_EQ(database.ask_number("PRAGMA user_version"), 11);
    EXPECT_TRUE(journal::has_our_tables(database));
}

TEST(JournalFile, OfAnOlderVersionMovedAwayMakesPlaceForAnother) {
    const Folder folder;
    write(folder.path(),
          "PRAGMA application_id = 1380270416; PRAGMA user_version = 3;"
          "CREATE TABLE request (seq INTEGER PRIMARY KEY)");
    EXPECT_THAT(refusal(folder.path()).what, HasSubstr("version 3"));
    std::filesystem::rename(folder.path(), folder.path("old.db"));
    EXPECT_TRUE(open_journal(folder.path()));
}

TEST(JournalFile, OfAnotherProgramIsRefusedAndLeftAlone) {
    const Folder folder;
    write(folder.path(), "CREATE TABLE recipes (name TEXT)");
    EXPECT_THAT(refusal(folder.path()).what, HasSubstr("another program"));
    SqliteDatabase database{folder.path(), SQLITE_OPEN_READONLY};
    EXPECT_EQ(database.ask_number("SELECT count(*) FROM sqlite_schema"), 1);
}

TEST(JournalFile, ThatIsNoDatabaseIsRefused) {
    const Folder folder;
    std::ofstream{folder.path()} << std::string(10'000, 'x');
    const Error error = refusal(folder.path());
    EXPECT_EQ(error.code, Errc::storage);
    EXPECT_THAT(error.what, AllOf(HasSubstr(folder.path()), HasSubstr("is not a journal")));
    EXPECT_THAT(refusal(folder.path()).what, HasSubstr("is not a journal")) << "the second time";
    EXPECT_EQ(std::filesystem::file_size(folder.path()), 10'000U) << "it is not ours to move";
}

TEST(JournalFile, NeedsItsDirectory) {
    const Folder folder;
    EXPECT_THAT(refusal(folder.path("no/journal.db")).what,
                AllOf(HasSubstr("No such file or directory"), HasSubstr("create it")));
    std::ofstream{folder.path("file")}.close();
    EXPECT_THAT(refusal(folder.path("file/journal.db")).what, HasSubstr("file"));
    EXPECT_THAT(refusal(folder.path("")).code, Errc::storage);
}

TEST(JournalFile, InADirectoryThatCantBeWrittenSaysSo) {
    const Folder folder;
    const std::string closed = folder.path("closed");
    std::filesystem::create_directory(closed);
    std::filesystem::permissions(
        closed, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    const reaper::test::UnprivilegedUser unprivileged{std::filesystem::path{closed}.parent_path(),
                                                      closed};
    EXPECT_THAT(refusal(folder.path("closed/journal.db")).what,
                AllOf(HasSubstr("Permission denied"), HasSubstr("reaper's user")));
}

TEST(JournalFile, AFullDiskIsAnErrorAndWhatWasWrittenStays) {
    const Folder folder;
    auto database =
        std::make_unique<SqliteDatabase>(folder.path(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    ASSERT_TRUE(make_tables(*database, folder.path()));
    // Stands for the disk: SQLite reports the same code.
    database->execute("PRAGMA journal_mode = WAL; PRAGMA max_page_count = 30");
    Store store{folder.path(), std::move(database), nullptr, JournalOptions{}};
    int written = 0;
    std::string message;
    try {
        for (; written < 1'000; ++written)
            store.admit(request("req-" + std::to_string(written)), noon()).value();
    } catch (const DatabaseFailure& failure) {
        message = storage_error(folder.path(), failure).what;
    }
    EXPECT_THAT(message, AllOf(HasSubstr(folder.path()), HasSubstr("disk is full")));
    EXPECT_GT(written, 0);
    EXPECT_EQ(store.unfinished().value().size(), static_cast<std::size_t>(written));
}

/// What a reaper does before it is killed; then waits for that.
[[noreturn]] void write_and_wait(const std::string& path, int ready) {
    auto journal = open_journal(path).value();
    wait(journal->admit(request("req-1"), noon())).value();
    const PlanEntry entry{1, noon(1), plan("req-1")};
    wait(journal->add_plan(RequestId{"req-1"}, entry)).value();
    wait(journal->add_step(RequestId{"req-1"},
                           StepEntry{ServerId{"victim-1"}, Step::delete_sent, "", noon(2)}))
        .value();
    [[maybe_unused]] const auto told = ::write(ready, "x", 1);
    while (true) ::pause();
}

TEST(JournalFile, KeepsEverythingThroughKillMinusNine) {
    const Folder folder;
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) write_and_wait(folder.path(), ready[1]);
    ::close(ready[1]);
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    EXPECT_THAT(refusal(folder.path()).what, HasSubstr("process " + std::to_string(child)));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);

    auto journal = open_journal(folder.path()).value();
    const auto records = wait(journal->unfinished()).value();
    ASSERT_EQ(records.size(), 1U);
    EXPECT_EQ(std::get<Plan>(records[0].plans.at(0).decision), plan("req-1"));
    EXPECT_EQ(records[0].steps.at(0).step, Step::delete_sent);
}

TEST(JournalWorker, RefusesWorkAboveItsBound) {
    boost::asio::io_context loop;
    Worker worker{2};
    std::promise<void> go;
    auto bridge = go.get_future().share();
    const Error full{Errc::storage, "full"};
    const auto call = [&] {
        std::function<Result<int>()> job = [bridge]() -> Result<int> {
            bridge.wait();
            return 7;
        };
        return boost::asio::co_spawn(loop, worker.run<int>(std::move(job), full),
                                     boost::asio::use_future);
    };
    auto first = call();
    auto second = call();
    auto third = call();
    while (third.wait_for(std::chrono::seconds{0}) != std::future_status::ready)
        ASSERT_GT(loop.run_one(), 0U);
    EXPECT_EQ(third.get().error().what, "full");
    go.set_value();
    loop.run();
    EXPECT_EQ(first.get().value(), 7);
    EXPECT_EQ(second.get().value(), 7);
}

}  // namespace
}  // namespace reaper::journal::test::journal_file_test
