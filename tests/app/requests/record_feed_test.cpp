#include "reaper/requests/record_feed.hpp"

#include <gtest/gtest.h>

#include "fakes/fake_journal.hpp"
#include "reaper/requests/observed_journal.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::record_feed_test {
namespace {

Task<bool> tell_a_story(Journal& journal) {
    Request request;
    request.id = RequestId{"req-1"};
    request.slots = 2;
    const TimePoint now{};
    const auto admitted = co_await journal.admit(request, now);
    PlanEntry entry;
    entry.round = 1;
    entry.decision = NotEnough{2, 1, "too few", {}};
    const auto planned = co_await journal.add_plan(request.id, entry);
    Outcome outcome{OutcomeKind::dry_run, "reported", now};
    const auto finished = co_await journal.finish(request.id, outcome);
    co_return admitted&& planned&& finished;
}

std::string told_of(const Request& request, const RecordEvent& event) {
    const std::string who = request.id.str() + " x" + std::to_string(request.slots);
    if (const auto* plan = std::get_if<PlanEntry>(&event))
        return who + " round " + std::to_string(plan->round);
    if (const auto* outcome = std::get_if<Outcome>(&event))
        return who + " " + std::string{to_string(outcome->kind)};
    return who + " step";
}

TEST(RecordFeed, TellsWhatHappensToARequestAndWritesItToo) {
    test::FakeJournal inner;
    std::vector<std::string> told;
    RecordFeed feed;
    const auto journal = observed_journal(inner, {&feed});
    const auto subscription = feed.listen([&](const Request& request, const RecordEvent& event) {
        told.push_back(told_of(request, event));
    });
    boost::asio::io_context io{1};
    EXPECT_TRUE(run_task(io, tell_a_story(*journal)));
    EXPECT_EQ(told, (std::vector<std::string>{"req-1 x2 round 1", "req-1 x2 dry-run"}));
    EXPECT_EQ(inner.written.size(), 3U);
}

Task<bool> resume(Journal& journal) {
    const auto left = co_await journal.unfinished();
    const RequestId id{"req-1"};
    StepEntry step;
    step.server = ServerId{"a"};
    const auto stepped = co_await journal.add_step(id, step);
    co_return left && left->size() == 1 && stepped;
}

TEST(RecordFeed, WhatAPreviousProcessLeftIsFedTooOnceItContinues) {
    test::FakeJournal inner;
    Request request;
    request.id = RequestId{"req-1"};
    request.slots = 2;
    inner.records[request.id].request = request;
    RecordFeed feed;
    const auto journal = observed_journal(inner, {&feed});
    std::vector<std::string> told;
    const auto subscription = feed.listen(
        [&](const Request& of, const RecordEvent& event) { told.push_back(told_of(of, event)); });
    boost::asio::io_context io{1};
    EXPECT_TRUE(run_task(io, resume(*journal)));
    EXPECT_EQ(told, std::vector<std::string>{"req-1 x2 step"});
}

TEST(RecordFeed, AListenerThatLeftHearsNothing) {
    test::FakeJournal inner;
    RecordFeed feed;
    const auto journal = observed_journal(inner, {&feed});
    int first = 0;
    int second = 0;
    auto leaving = feed.listen([&](const Request&, const RecordEvent&) { ++second; });
    const auto staying = feed.listen([&](const Request&, const RecordEvent&) {
        ++first;
        leaving.reset();
    });
    boost::asio::io_context io{1};
    EXPECT_TRUE(run_task(io, tell_a_story(*journal)));
    EXPECT_EQ(first, 2);
    EXPECT_EQ(second, 1);
}

}  // namespace
}  // namespace reaper::record_feed_test
