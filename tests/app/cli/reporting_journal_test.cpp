#include "reaper/daemon/reporting_journal.hpp"

#include <gtest/gtest.h>

#include "fakes/fake_journal.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli::reporting_journal_test {
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

TEST(ReportingJournal, TellsEachPlanWithItsRequestAndWritesItToo) {
    test::FakeJournal inner;
    std::vector<std::string> told;
    ReportingJournal journal(inner, [&](const Request& request, const PlanEntry& plan) {
        told.push_back(request.id.str() + " x" + std::to_string(request.slots) + " round " +
                       std::to_string(plan.round));
    });
    boost::asio::io_context io{1};
    EXPECT_TRUE(run_task(io, tell_a_story(journal)));
    EXPECT_EQ(told, std::vector<std::string>{"req-1 x2 round 1"});
    EXPECT_EQ(inner.written.size(), 3U);
}

}  // namespace
}  // namespace reaper::cli::reporting_journal_test
