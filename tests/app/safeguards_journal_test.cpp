// After a restart the safeguards know what the journal knows.
#include "reaper/controllers/safeguards_journal.hpp"

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_journal.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::test::journalled_brakes_test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Optional;

const TimePoint noon{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20} + 12h};

class SafeguardsOfTheJournal : public ::testing::Test {
protected:
    JournaledSafeguards read() {
        boost::asio::io_context io{1};
        auto known = run_task(io, read_safeguards(journal_, settings_, noon));
        EXPECT_TRUE(known) << known.error().what;
        return std::move(*known);
    }

    /// A request whose one victim was sent then, and what became of it.
    RequestRecord& record(const std::string& id, TimePoint at) {
        RequestRecord& made = journal_.records[RequestId{id}];
        made.request.id = RequestId{id};
        made.received_at = at;
        Victim victim;
        victim.server = ServerId{"victim-of-" + id};
        victim.name = "web-1";
        victim.project = ProjectId{"cheap"};
        victim.host = "h1";
        victim.workload = "nightly";
        Plan plan;
        plan.hosts.emplace_back().victims.push_back(victim);
        made.plans.push_back({1, at, plan});
        made.steps.push_back({victim.server, Step::delete_sent, "", at});
        made.outcome = Outcome{OutcomeKind::freed, "", at, {}};
        return made;
    }

    void wasted(const std::string& id, TimePoint at) {
        record(id, at).freed_room =
            FreedRoomResult{FreedRoomResultKind::wasted, "", {HostId{"h1"}}, at};
    }

    FakeJournal journal_;
    SafeguardSettings settings_;
};

TEST_F(SafeguardsOfTheJournal, KnowVictimsWithTheirWorkloadsAsFarBackAsTheyCount) {
    record("req-1", noon - 1h);
    record("req-0", noon - 25h);
    const auto known = read();
    EXPECT_FALSE(known.opens);
    ASSERT_EQ(known.safeguards.history().size(), 1U);
    known.safeguards.history().each_since(noon - 2h, [](const PastVictim& victim) {
        EXPECT_EQ(victim.request, RequestId{"req-1"});
        EXPECT_EQ(victim.project, ProjectId{"cheap"});
        EXPECT_EQ(victim.host, "h1");
        EXPECT_EQ(victim.workload, "nightly");
    });
}

TEST_F(SafeguardsOfTheJournal, KnowDoubtedHosts) {
    wasted("req-1", noon - 10min);
    EXPECT_EQ(read().safeguards.cooldowns().reasons().count(HostId{"h1"}), 1U);
    journal_.records.clear();
    wasted("req-1", noon - 31min);
    EXPECT_TRUE(read().safeguards.cooldowns().empty());
}

TEST_F(SafeguardsOfTheJournal, OpenTheBreakerThatTheEndOfTheReaperKeptShut) {
    for (int i = 0; i < 5; ++i) wasted("req-" + std::to_string(i), noon - 5h + i * 1h);
    const auto known = read();
    EXPECT_THAT(known.opens, Optional(HasSubstr("5 culls in a row went unused, the last for "
                                                "req-4")));
    EXPECT_TRUE(known.safeguards.breaker().open());
}

TEST_F(SafeguardsOfTheJournal, CountFailuresAnewAfterAResumption) {
    for (int i = 0; i < 5; ++i) wasted("req-" + std::to_string(i), noon - 5h + i * 1h);
    journal_.noted_marks = {{"breaker-opened", "", noon - 50min}, {"paused", "", noon - 49min}};
    EXPECT_FALSE(read().opens);
    journal_.noted_marks = {{"resumed", "", noon - 150min}};
    const auto known = read();
    EXPECT_FALSE(known.opens);
    EXPECT_EQ(known.safeguards.breaker().wasted(), 2);
    EXPECT_EQ(known.safeguards.cooldowns().reasons().size(), 0U);
}

TEST_F(SafeguardsOfTheJournal, CountDeletionsThatFailedInARow) {
    for (int i = 0; i < 6; ++i) {
        RequestRecord& each = record("req-" + std::to_string(i), noon - 6h + i * 1h);
        each.steps.push_back({each.steps.front().server, i == 0 ? Step::gone : Step::failed, "",
                              noon - 6h + i * 1h});
    }
    EXPECT_THAT(read().opens, Optional(HasSubstr("5 deletions in a row failed")));
    settings_.breaker.failed = 6;
    EXPECT_FALSE(read().opens);
}

}  // namespace
}  // namespace reaper::test::journalled_brakes_test
