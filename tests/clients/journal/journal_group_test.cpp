// Writes that wait for the disk at the same time: one transaction, synced once.
#include <fstream>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>

#include "clients/journal/database.hpp"
#include "clients/journal/worker.hpp"
#include "tests/clients/journal/stories.hpp"

namespace reaper::journal::test::journal_group_test {
namespace {

using testing::Each;
using testing::ElementsAre;

/// Jobs that wait behind one that holds the thread until `go`.
class JournalGroupTest : public testing::Test {
protected:
    Group recorded() {
        Group group;
        group.begin = [this] {
            steps.emplace_back("begin");
            return true;
        };
        group.end = [this] {
            steps.emplace_back("end");
            return ended;
        };
        group.still_open = [this] { return still_open; };
        return group;
    }
    std::future<Result<int>> hand_in(const std::string& name, Grouping grouping) {
        std::function<Result<int>()> job = [this, name]() -> Result<int> {
            if (name == "first") gate.wait();
            steps.push_back(name);
            return 7;
        };
        Error full{Errc::storage, "full"};
        auto task = worker->run<int>(std::move(job), std::move(full), grouping);
        return boost::asio::co_spawn(loop, std::move(task), boost::asio::use_future);
    }
    /// All of them wait before the first one is done.
    void run() {
        loop.poll();
        go.set_value();
        loop.run();
    }

    std::vector<std::string> steps;  ///< written on the worker's thread, read when it is idle
    Result<void> ended;
    bool still_open = true;
    std::promise<void> go;
    std::shared_future<void> gate = go.get_future().share();
    boost::asio::io_context loop;
    std::unique_ptr<Worker> worker = std::make_unique<Worker>(100, recorded());
};

TEST_F(JournalGroupTest, WritesThatWaitAreOne) {
    auto first = hand_in("first", Grouping::alone);
    std::vector<std::future<Result<int>>> others;
    for (const char* name : {"a", "b", "c"}) others.push_back(hand_in(name, Grouping::writes));
    run();
    EXPECT_THAT(steps, ElementsAre("first", "begin", "a", "b", "c", "end"));
    for (auto& other : others) EXPECT_EQ(other.get().value(), 7);
}

TEST_F(JournalGroupTest, OneAloneIsNoGroup) {
    auto first = hand_in("first", Grouping::alone);
    auto second = hand_in("a", Grouping::writes);
    run();
    EXPECT_THAT(steps, ElementsAre("first", "a"));
}

TEST_F(JournalGroupTest, AReadOfAGroupWaitsForItsEndAndAnyOtherJobComesAfterIt) {
    auto first = hand_in("first", Grouping::alone);
    auto read = hand_in("alone", Grouping::reads);
    auto a = hand_in("a", Grouping::writes);
    auto joins = hand_in("joins", Grouping::reads);
    auto other = hand_in("other", Grouping::alone);
    auto b = hand_in("b", Grouping::writes);
    ended = Error{Errc::storage, "disk full"};
    run();
    EXPECT_THAT(steps, ElementsAre("first", "alone", "begin", "a", "joins", "end", "other", "b"));
    EXPECT_TRUE(read.get());
    EXPECT_EQ(a.get().error().what, "disk full");
    EXPECT_EQ(joins.get().error().what, "disk full") << "what it saw is not there";
    EXPECT_TRUE(other.get());
    EXPECT_TRUE(b.get());
}

TEST_F(JournalGroupTest, OneThatWasUndoneTakesNoMoreJobs) {
    still_open = false;
    auto first = hand_in("first", Grouping::alone);
    auto a = hand_in("a", Grouping::writes);
    auto b = hand_in("b", Grouping::writes);
    auto c = hand_in("c", Grouping::writes);
    run();
    EXPECT_THAT(steps, ElementsAre("first", "begin", "a", "end", "begin", "b", "end", "c"));
}

/// Transactions in the write-ahead log: a frame that ends one tells the size of the file.
/// https://www.sqlite.org/fileformat2.html#the_write_ahead_log
int transactions_in(const std::string& path) {
    std::ifstream file{path + "-wal", std::ios::binary};
    const std::string log{std::istreambuf_iterator<char>{file}, {}};
    const auto number = [&log](std::size_t at) {
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < 4; ++i)
            value = value << 8U | static_cast<unsigned char>(log.at(at + i));
        return value;
    };
    if (log.size() < 32) return 0;
    int found = 0;
    const std::size_t page = number(8);
    for (std::size_t at = 32; at + 24 + page <= log.size(); at += 24 + page)
        if (number(at + 4) != 0) ++found;
    return found;
}

class JournalTogetherTest : public testing::Test {
protected:
    /// All of them wait before the first can be written.
    void run() {
        Database other{folder.path(), SQLITE_OPEN_READWRITE};
        other.execute("BEGIN IMMEDIATE");
        loop.poll();
        other.execute("COMMIT");
        loop.run();
    }
    template <class T>
    std::future<Result<T>> begin(ResultTask<T> task) {
        return boost::asio::co_spawn(loop, std::move(task), boost::asio::use_future);
    }

    Folder folder;
    boost::asio::io_context loop;
    std::unique_ptr<Journal> journal = open_journal(folder.path()).value();
};

TEST_F(JournalTogetherTest, ManyThatEndAtOnceAreSyncedOnce) {
    constexpr int many = 200;
    const int before = transactions_in(folder.path());
    std::vector<std::future<Result<void>>> written;
    for (int i = 0; i < many; ++i)
        written.push_back(
            begin(journal->admit_ended(request("req-" + std::to_string(i)), Outcome{}, noon())));
    run();
    for (auto& each : written) EXPECT_TRUE(each.get());
    EXPECT_EQ(wait(journal->list(1'000)).value().size(), static_cast<std::size_t>(many));
    // The first pruning is one, and the first write may not know yet that others wait.
    EXPECT_LE(transactions_in(folder.path()) - before, 3);
}

TEST_F(JournalTogetherTest, OneThatFailsSpoilsNoOther) {
    auto a = begin(journal->admit(request("req-a"), noon()));
    auto unknown = begin(journal->finish(RequestId{"req-none"}, Outcome{}));
    auto b = begin(journal->admit(request("req-b"), noon()));
    auto read = begin(journal->record(RequestId{"req-b"}));
    auto c = begin(journal->finish(RequestId{"req-a"}, Outcome{}));
    run();
    EXPECT_TRUE(a.get());
    EXPECT_FALSE(unknown.get());
    EXPECT_TRUE(b.get());
    EXPECT_TRUE(read.get().value().has_value());
    EXPECT_TRUE(c.get());
    const auto reader = open_journal_for_reading(folder.path()).value();
    EXPECT_EQ(wait(reader->list(10)).value().size(), 2U);
}

}  // namespace
}  // namespace reaper::journal::test::journal_group_test
