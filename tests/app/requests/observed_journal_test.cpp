// What observers hear of a journal's writes, and in which order.
#include "reaper/requests/observed_journal.hpp"

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "fakes/fake_journal.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::observed_journal_test {
namespace {

using ::testing::ElementsAre;

class Hearing final : public JournalObserver {
public:
    Hearing(std::string name, std::vector<std::string>& heard)
        : name_(std::move(name)), heard_(heard) {}

    void answered() override { ++answers; }
    void wrote(std::chrono::duration<double>, const std::optional<std::string>& trouble) override {
        heard_.push_back(name_ + (trouble ? " failed" : " wrote"));
    }
    void read_back(const RequestRecord& record) override {
        heard_.push_back(name_ + " read " + record.request.id.str());
    }
    void admitted(const Request& request, TimePoint) override {
        heard_.push_back(name_ + " admitted " + request.id.str());
    }
    void already_admitted(const Request& request) override {
        heard_.push_back(name_ + " knows " + request.id.str());
    }
    void ended(const RequestId& id, const Outcome&) override {
        heard_.push_back(name_ + " ended " + id.str());
    }

    int answers = 0;

private:
    std::string name_;
    std::vector<std::string>& heard_;
};

class ObservedJournalTest : public ::testing::Test {
protected:
    static Request request(const std::string& id) {
        Request made;
        made.id = RequestId{id};
        return made;
    }
    template <class T>
    Result<T> wait(ResultTask<T> task) {
        return run_task(io, std::move(task));
    }

    boost::asio::io_context io{1};
    std::vector<std::string> heard;
    Hearing first{"a", heard}, second{"b", heard};
    test::FakeJournal inner;
    std::unique_ptr<Journal> journal = observed_journal(inner, {&first, &second});
};

TEST_F(ObservedJournalTest, EachHearsOfAWriteOnceItIsThere) {
    inner.fails = [&](const std::string& what) {
        heard.push_back(what);
        return false;
    };
    EXPECT_TRUE(wait(journal->admit(request("req-1"), {})));
    EXPECT_TRUE(wait(journal->finish(RequestId{"req-1"}, {})));
    EXPECT_THAT(heard, ElementsAre("admit req-1", "a wrote", "b wrote", "a admitted req-1",
                                   "b admitted req-1", "finish req-1", "a wrote", "b wrote",
                                   "a ended req-1", "b ended req-1"));
}

TEST_F(ObservedJournalTest, OfAWriteThatFailedNothingElseIsHeard) {
    inner.fails = [](const std::string&) { return true; };
    EXPECT_FALSE(wait(journal->admit(request("req-1"), {})));
    EXPECT_FALSE(wait(journal->finish(RequestId{"req-1"}, {})));
    EXPECT_THAT(heard, ElementsAre("a failed", "b failed", "a failed", "b failed"));
}

TEST_F(ObservedJournalTest, EachCallThatSucceedsIsAnAnswer) {
    EXPECT_TRUE(wait(journal->admit(request("req-1"), {})));
    EXPECT_TRUE(wait(journal->record(RequestId{"req-1"})));
    EXPECT_TRUE(wait(journal->unfinished()));
    EXPECT_EQ(first.answers, 3);
    inner.cut_off = true;
    EXPECT_FALSE(wait(journal->record(RequestId{"req-1"})));
    EXPECT_FALSE(wait(journal->finish(RequestId{"req-1"}, {})));
    EXPECT_EQ(first.answers, 3);
}

TEST_F(ObservedJournalTest, AKnownRequestIsNotAdmittedTwice) {
    EXPECT_TRUE(wait(journal->admit(request("req-1"), {})));
    heard.clear();
    EXPECT_TRUE(wait(journal->admit(request("req-1"), {})));
    EXPECT_THAT(heard, ElementsAre("a wrote", "b wrote", "a knows req-1", "b knows req-1"));
}

TEST_F(ObservedJournalTest, WhatAnEarlierProcessLeftIsReadBack) {
    inner.records[RequestId{"req-1"}].request = request("req-1");
    EXPECT_TRUE(wait(journal->unfinished()));
    EXPECT_THAT(heard, ElementsAre("a read req-1", "b read req-1"));
}

}  // namespace
}  // namespace reaper::observed_journal_test
