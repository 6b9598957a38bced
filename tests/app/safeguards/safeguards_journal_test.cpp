// After a restart the safeguards know what the journal knows.
#include "reaper/controllers/safeguards/safeguards_journal.hpp"

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_journal.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::test::journalled_safeguards_test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const TimePoint noon{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20} + 12h};

class SafeguardsOfTheJournal : public ::testing::Test {
protected:
    JournaledSafeguards read() {
        boost::asio::io_context io{1};
        auto known = run_task(io, read_safeguards(journal_, settings_, noon));
        EXPECT_TRUE(known) << known.error().what;
        return std::move(*known);
    }

    /// A request whose one victim was sent then, and the use of its room.
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

    void wasted(const std::string& id, TimePoint at, const std::string& project = "p") {
        RequestRecord& made = record(id, at);
        made.request.project = ProjectId{project};
        made.request.resources = Resources{{"VCPU", static_cast<Amount>(id.back())}};
        made.freed_room = FreedRoomResult{FreedRoomResultKind::wasted, "", {HostId{"h1"}}, at};
    }

    FakeJournal journal_;
    SafeguardSettings settings_;
};

TEST_F(SafeguardsOfTheJournal, KnowVictimsWithTheirWorkloadsAsFarBackAsTheyCount) {
    record("req-1", noon - 1h);
    record("req-0", noon - 49h);
    const auto known = read();
    EXPECT_EQ(known.safeguards.breaker().state(noon), CircuitState::closed);
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
    for (int i = 0; i < 5; ++i)
        wasted("req-" + std::to_string(i), noon - 50min + i * 10min, i == 0 ? "p" : "q");
    const auto known = read();
    EXPECT_EQ(known.safeguards.breaker().state(noon), CircuitState::open);
    EXPECT_THAT(known.safeguards.breaker().reason(),
                HasSubstr("the room of 5 slots in a row went unused, of 2 projects, the last for "
                          "req-4"));
    EXPECT_FALSE(known.opened_at);
    EXPECT_EQ(known.safeguards.breaker().state(noon + 20min), CircuitState::half_open);
}

TEST_F(SafeguardsOfTheJournal, CountTheSlotsThatAPlanFreedWhateverWasAskedFor) {
    wasted("req-1", noon - 10min);
    RequestRecord& made = journal_.records[RequestId{"req-1"}];
    made.request.slots = 4;
    Plan& plan = std::get<Plan>(made.plans[0].decision);
    plan.slots_requested = 3;
    EXPECT_EQ(read().safeguards.breaker().wasted(), 3);
    Victim spared;
    spared.server = ServerId{"spared"};
    plan.hosts[0].victims.push_back(spared);
    EXPECT_EQ(read().safeguards.breaker().wasted(), 1);
}

TEST_F(SafeguardsOfTheJournal, KnowWhatIsLeftAloneAndForHowLong) {
    for (int i = 0; i < 3; ++i)
        wasted("req-" + std::to_string(i), noon - 4h + i * 10min, "hostile");
    wasted("req-3", noon - 10min, "hostile");
    const auto known = read();
    Request next;
    next.id = RequestId{"next"};
    next.project = ProjectId{"hostile"};
    next.resources = Resources{{"VCPU", 7}};
    const auto held = known.safeguards.why_not_now(next, noon);
    ASSERT_TRUE(held);
    EXPECT_EQ(held->safeguard, "project-breaker");
    EXPECT_TRUE(known.safeguards.why_not_now(next, noon + 49min)) << "the second pause is longer";
    EXPECT_FALSE(known.safeguards.why_not_now(next, noon + 51min));
    next.project = ProjectId{"another"};
    EXPECT_FALSE(known.safeguards.why_not_now(next, noon));
}

TEST_F(SafeguardsOfTheJournal, KnowOfWhichCullsNothingIsKnownYet) {
    settings_.project_breaker.unproven = 2;
    record("req-1", noon - 10min);
    record("req-2", noon - 5min).outcome.reset();
    record("req-3", noon - 5min).outcome->kind = OutcomeKind::refused;
    Request next;
    next.id = RequestId{"next"};
    EXPECT_TRUE(read().safeguards.why_not_now(next, noon));
    settings_.project_breaker.unproven = 3;
    EXPECT_FALSE(read().safeguards.why_not_now(next, noon));
}

TEST_F(SafeguardsOfTheJournal, KnowWhatResultsAreWorth) {
    EXPECT_EQ(worth_of(FreedRoomResultKind::taken), CullWorth::helped);
    EXPECT_EQ(worth_of(FreedRoomResultKind::short_lived), CullWorth::helped);
    EXPECT_EQ(worth_of(FreedRoomResultKind::elsewhere), CullWorth::needless);
    EXPECT_EQ(worth_of(FreedRoomResultKind::handed_over), CullWorth::needless);
    EXPECT_EQ(worth_of(FreedRoomResultKind::taken_by_regular), CullWorth::needless);
    EXPECT_EQ(worth_of(FreedRoomResultKind::taken_by_revocable), CullWorth::lost);
    EXPECT_EQ(worth_of(FreedRoomResultKind::wasted), CullWorth::wasted);
}

TEST_F(SafeguardsOfTheJournal, KnowWhoGaveRoomBackAtOnceAndWhoStays) {
    settings_.short_lived = {10min, 2, 2h, {30min, 2h}};
    const auto give_back = [&](const std::string& id, TimePoint at) {
        RequestRecord& made = record(id, at);
        made.request.project = ProjectId{"p"};
        made.freed_room = FreedRoomResult{FreedRoomResultKind::short_lived,
                                          "",
                                          {},
                                          at,
                                          {{ServerId{"taker-of-" + id}, at, Duration{1s}}}};
    };
    Request next;
    next.id = RequestId{"next"};
    next.project = ProjectId{"p"};
    const auto held = [&](TimePoint when) {
        const auto why = read().safeguards.why_not_now(next, when);
        return why ? std::string{why->safeguard} : "";
    };
    for (int i = 0; i < 3; ++i) give_back("req-" + std::to_string(i), noon - 20min + i * 1min);
    EXPECT_EQ(held(noon), "short-lived");
    EXPECT_EQ(held(noon + 11min), "short-lived");
    EXPECT_EQ(held(noon + 13min), "") << "its pause began with the third";
    journal_.noted_marks = {{"resumed", "", noon - 1min}};
    EXPECT_EQ(held(noon), "");
    journal_.noted_marks.clear();
    for (int i = 0; i < 3; ++i) {
        FreedRoomResult& result =
            *journal_.records[RequestId{"req-" + std::to_string(i)}].freed_room;
        result.kind = FreedRoomResultKind::taken;
        result.takers[0].lived.reset();
    }
    EXPECT_EQ(held(noon), "") << "they stayed";
}

TEST_F(SafeguardsOfTheJournal, KnowWhatEachProjectTookAndWhoWentForIt) {
    RequestRecord& taken = record("req-1", noon - 10min);
    taken.request.project = ProjectId{"p"};
    taken.request.slots = 4;
    taken.freed_room = FreedRoomResult{FreedRoomResultKind::taken, "", {}, noon - 10min, {}};
    for (int i = 0; i < 3; ++i)
        taken.freed_room->takers.push_back({ServerId{std::to_string(i)}, noon - 10min, {}});
    Request next;
    next.id = RequestId{"next"};
    next.project = ProjectId{"p"};
    next.slots = 6;
    settings_.project_breaker.unproven = 3;
    const auto known = read();
    EXPECT_FALSE(known.safeguards.why_not_now(next, noon)) << "twice the three that were taken";
    next.slots = 7;
    EXPECT_TRUE(known.safeguards.why_not_now(next, noon));
    known.safeguards.history().each_since(
        noon - 2h, [](const PastVictim& victim) { EXPECT_EQ(victim.requester, ProjectId{"p"}); });
}

TEST_F(SafeguardsOfTheJournal, CountFailuresFromZeroAfterAResumption) {
    for (int i = 0; i < 5; ++i)
        wasted("req-" + std::to_string(i), noon - 50min + i * 10min, i % 2 == 0 ? "p" : "q");
    journal_.noted_marks = {{"breaker-opened", "", noon - 9min}, {"paused", "", noon - 8min}};
    EXPECT_EQ(read().safeguards.breaker().state(noon), CircuitState::open);
    EXPECT_EQ(read().opened_at, noon - 9min);
    journal_.noted_marks = {{"resumed", "", noon - 25min}};
    const auto known = read();
    EXPECT_FALSE(known.opened_at);
    EXPECT_EQ(known.safeguards.breaker().state(noon), CircuitState::closed);
    EXPECT_EQ(known.safeguards.breaker().wasted(), 2);
}

TEST_F(SafeguardsOfTheJournal, KnowMovesWhoseCullsWereWasted) {
    const auto moves_from = [&](const char* host, bool several) {
        Safeguards safeguards = read().safeguards;
        safeguards.see_several_cells(several);
        Request move;
        move.id = RequestId{"another"};
        move.operation = Operation::resize;
        move.from_host = host;
        return !safeguards.why_no_move(move).has_value();
    };
    wasted("req-1", noon - 10min);
    EXPECT_TRUE(moves_from("h1", true)) << "it was no move";
    journal_.records[RequestId{"req-1"}].request.operation = Operation::resize;
    journal_.records[RequestId{"req-1"}].request.from_host = "h1";
    EXPECT_FALSE(moves_from("h1", false));
    EXPECT_TRUE(moves_from("h2", false));
    EXPECT_FALSE(moves_from("h2", true));
    auto& kind = journal_.records[RequestId{"req-1"}].freed_room->kind;
    kind = FreedRoomResultKind::taken_by_regular;
    EXPECT_FALSE(moves_from("h1", false)) << "others may have taken what it could not";
    kind = FreedRoomResultKind::handed_over;
    EXPECT_TRUE(moves_from("h1", false));
    kind = FreedRoomResultKind::taken;
    EXPECT_TRUE(moves_from("h1", true));
}

TEST_F(SafeguardsOfTheJournal, CountDeletionsThatFailedInARow) {
    for (int i = 0; i < 6; ++i) {
        RequestRecord& each = record("req-" + std::to_string(i), noon - 6min + i * 1min);
        each.steps.push_back({each.steps.front().server, i == 0 ? Step::gone : Step::failed, "",
                              noon - 6min + i * 1min});
    }
    EXPECT_EQ(read().safeguards.breaker().failed(), 5);
    EXPECT_EQ(read().safeguards.breaker().state(noon), CircuitState::closed) << "one project's";
    std::get<Plan>(journal_.records[RequestId{"req-3"}].plans[0].decision)
        .hosts[0]
        .victims[0]
        .project = ProjectId{"another"};
    EXPECT_THAT(read().safeguards.breaker().reason(), HasSubstr("5 deletions in a row failed"));
    EXPECT_EQ(read().safeguards.breaker().state(noon), CircuitState::open);
    settings_.breaker.failed = 6;
    EXPECT_EQ(read().safeguards.breaker().state(noon), CircuitState::closed);
}

TEST_F(SafeguardsOfTheJournal, WhatEndedWithoutAWaitingRequestIsNotUnproven) {
    settings_.project_breaker.unproven = 1;
    Request another;
    another.id = RequestId{"req-2"};
    record("req-1", noon - 10min);
    EXPECT_TRUE(read().safeguards.why_not_now(another, noon));
    for (const RequestSource source :
         {RequestSource::oversubscription, RequestSource::reservation}) {
        record("req-1", noon - 10min).request.source = source;
        EXPECT_FALSE(read().safeguards.why_not_now(another, noon));
    }
}

}  // namespace
}  // namespace reaper::test::journalled_safeguards_test
