// Writes that wait for the disk at the same time: one transaction, synced once.
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clients/journal/worker.hpp"
#include "tests/clients/journal/engines.hpp"
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
            return begun;
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
    Result<void> begun;
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

TEST_F(JournalGroupTest, ClientsWaitForAllOthersAndTakeNoPlaceOfTheirs) {
    auto first = hand_in("first", Grouping::alone);
    std::vector<std::future<Result<int>>> searches;
    for (int i = 0; i < 100; ++i) searches.push_back(hand_in("search", Grouping::patient));
    auto a = hand_in("a", Grouping::writes);
    auto b = hand_in("b", Grouping::writes);
    run();
    ASSERT_EQ(steps.size(), 105U);
    steps.resize(6);
    EXPECT_THAT(steps, ElementsAre("first", "begin", "a", "b", "end", "search"));
    for (auto& search : searches) EXPECT_EQ(search.get().value(), 7);
    EXPECT_TRUE(a.get());
    EXPECT_TRUE(b.get());
}

/// It would wait for the same server once more.
TEST_F(JournalGroupTest, AJobWhoseGroupCannotBeginIsNotRun) {
    begun = Error{Errc::storage, "no connection"};
    auto first = hand_in("first", Grouping::alone);
    auto a = hand_in("a", Grouping::writes);
    auto b = hand_in("b", Grouping::writes);
    run();
    EXPECT_THAT(steps, ElementsAre("first", "begin", "b"));
    EXPECT_EQ(a.get().error().what, "no connection");
    EXPECT_TRUE(b.get()) << "it waits alone";
}

class JournalTogetherTest : public OnEveryEngine {
protected:
    /// All of them wait before the first can be written.
    void run() {
        home_->hold_writes();
        loop.poll();
        home_->release_writes();
        loop.run();
    }
    template <class T>
    std::future<Result<T>> begin(ResultTask<T> task) {
        return boost::asio::co_spawn(loop, std::move(task), boost::asio::use_future);
    }

    boost::asio::io_context loop;
};
REAPER_ON_EVERY_ENGINE(JournalTogetherTest);

TEST_P(JournalTogetherTest, ManyThatEndAtOnceAreSyncedOnce) {
    constexpr int many = 200;
    const int before = home_->transactions();
    std::vector<std::future<Result<void>>> written;
    for (int i = 0; i < many; ++i)
        written.push_back(
            begin(journal_->admit_ended(request("req-" + std::to_string(i)), Outcome{}, noon())));
    run();
    for (auto& each : written) EXPECT_TRUE(each.get());
    EXPECT_EQ(wait(journal_->list(1'000)).value().size(), static_cast<std::size_t>(many));
    // The first pruning is one, the first write may not know yet that others wait, and a lease that
    // is renewed meanwhile counts as well.
    EXPECT_LE(home_->transactions() - before, many / 10);
}

TEST_P(JournalTogetherTest, OneThatFailsSpoilsNoOther) {
    auto a = begin(journal_->admit(request("req-a"), noon()));
    auto unknown = begin(journal_->finish(RequestId{"req-none"}, Outcome{}));
    auto b = begin(journal_->admit(request("req-b"), noon()));
    auto read = begin(journal_->record(RequestId{"req-b"}));
    auto c = begin(journal_->finish(RequestId{"req-a"}, Outcome{}));
    run();
    EXPECT_TRUE(a.get());
    EXPECT_FALSE(unknown.get());
    EXPECT_TRUE(b.get());
    EXPECT_TRUE(read.get().value().has_value());
    EXPECT_TRUE(c.get());
    const auto reader = home_->open_for_reading().value();
    EXPECT_EQ(wait(reader->list(10)).value().size(), 2U);
}

}  // namespace
}  // namespace reaper::journal::test::journal_group_test
