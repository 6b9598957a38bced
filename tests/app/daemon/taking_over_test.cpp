// A reaper that goes on with what a former process, or another reaper, began.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/full_house.hpp"
#include "reaper/ports/reapers.hpp"

namespace reaper::test::taking_over_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class TakingOverTest : public FullHouse {
protected:
    /// Its deletion is journalled, and never reaches Nova: the power went between the two.
    void die_right_before_the_deletion() {
        bool now = false;
        cloud.on_call = [&now](const std::string& call) -> std::optional<Error> {
            if (!call.starts_with("DELETE")) return std::nullopt;
            now = true;
            return Error{Errc::unreachable, "the power went"};
        };
        messages->deliver(body_of(failure()));
        run_until([&] { return now; });
        crash();
        cloud.on_call = {};
        cloud.calls.clear();
    }
};

TEST_F(TakingOverTest, ADeletionThatNovaNeverHeardOfIsNotSentForARequesterThatWentAway) {
    full_host();
    requester();
    start();
    die_right_before_the_deletion();
    cloud.remove(uuid_of("requester-1"));
    start();
    messages->deliver(body_of(failure()), true);
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_EQ(cloud.living("host1").size(), 4U);
}

TEST_F(TakingOverTest, ADeletionThatNovaNeverHeardOfIsNotSentWhenTheRoomIsThereByNow) {
    full_host();
    requester();
    start();
    die_right_before_the_deletion();
    cloud.add_host("host2", small * 2);
    start();
    messages->deliver(body_of(failure()), true);
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::already_there);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

/// It counts, and is waited for, whatever the rules say of the server by now.
TEST_F(TakingOverTest, ADeletionThatNovaAcceptedIsFinished) {
    cloud.soft_delete = true;
    full_host();
    ask();
    std::string victim;
    run_until([&] {
        for (const auto& [id, each] : journal.records)
            for (const auto& step : each.steps)
                if (step.step == Step::delete_accepted) victim = step.server.str();
        return !victim.empty();
    });
    crash();
    settings.policy.safeguards.protect.projects = {"spot"};
    start();
    messages->deliver(body_of(failure()), true);
    run_until([&] { return cloud.count("server " + victim) > 4; });
    EXPECT_FALSE(journal.has_step(victim, Step::skipped));
    settings.policy.safeguards.protect.projects = {};
    service().reload(live_settings());
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(victims_of(record("req-1")).size(), 1U);
}

TEST_F(TakingOverTest, ADeletionThatNovaNeverHeardOfIsSentIfItIsStillNeeded) {
    full_host();
    requester();
    start();
    die_right_before_the_deletion();
    start();
    messages->deliver(body_of(failure()), true);
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.living("host1").size(), 3U);
}

TEST_F(TakingOverTest, ARequestThatAnotherReaperServedIsNotServedAgain) {
    full_host();
    requester();
    start();
    // The other one's victim is gone, and the second try took its room; no acknowledgement came.
    clock.advance(seconds{10});
    cloud.remove("host1a");
    boots("second-try", "host1");
    messages->deliver(body_of(failure()), true);
    const Outcome outcome = outcome_of("req-1");
    EXPECT_EQ(outcome.kind, OutcomeKind::refused);
    EXPECT_THAT(outcome.reason, testing::HasSubstr("another reaper served it"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(TakingOverTest, WhoTookTheLastRoomRightBeforeTheRefusalIsNoSecondTry) {
    full_host();
    requester();
    start();
    cloud.remove("host1a");
    boots("the-one-before", "host1");
    messages->deliver(body_of(failure()), true);
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
}

TEST_F(TakingOverTest, AFirstDeliveryIsServedWhateverBootedSince) {
    full_host();
    requester();
    start();
    clock.advance(seconds{10});
    cloud.remove("host1a");
    boots("another", "host1");
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
}

/// Another may have its lease by then, and serves only with the messages.
TEST_F(TakingOverTest, WhoCannotReachTheSharedJournalLeavesTheMessagesAndEnds) {
    shared_journal = true;
    cloud.deletion_takes = minutes{2};
    full_host();
    ask();
    run_until([&] { return cloud.count("DELETE") > 0; });
    journal.cut_off = true;
    pass(seconds{15});
    EXPECT_FALSE(messages->stopped);
    run_until([&] { return messages->stopped || ended; });
    EXPECT_FALSE(ended) << "what is in flight goes on";
    run_until([&] { return ended.has_value(); });
    ASSERT_FALSE(*ended);
    EXPECT_THAT(ended->error().what, testing::HasSubstr("another reaper may have it"));
}

TEST_F(TakingOverTest, CallsOfTheJournalThatWaitForOneAnotherAreNotWaitedFor) {
    for (const bool answers : {false, true}) {
        shared_journal = true;
        full_host(answers ? "host2" : "host1");
        start();
        journal.cut_off = !answers;
        Duration free_at{};
        journal.queue = [&, takes = answers ? seconds{3} : seconds{30}] {
            free_at = std::max(free_at, clock.steady()) + takes;
            return clock.sleep(free_at - clock.steady());
        };
        for (int i = 0; i < 10; ++i) {
            const std::string name = std::to_string(i);
            requester("waiting-" + name);
            messages->deliver(body_of(another("req-" + name, "waiting-" + name)));
        }
        pass(seconds{25});
        EXPECT_EQ(messages->stopped, !answers);
        crash();
        journal.queue = {};
        journal.cut_off = false;
    }
}

TEST_F(TakingOverTest, AJournalThatNoOtherWaitsForIsWaitedFor) {
    for (const bool shared : {false, true}) {
        shared_journal = shared;
        others_stand_by = !shared;
        full_host(shared ? "host2" : "host1");
        start();
        journal.cut_off = true;
        pass(minutes{5});
        EXPECT_FALSE(messages->stopped);
        journal.cut_off = false;
        run_until([&] { return status.ready; });
        crash();
    }
}

TEST_F(TakingOverTest, TellsTheOthersHowItIs) {
    std::optional<ReaperState> told;
    tell_others = [&told](ReaperState state) { told = state; };
    with_events = true;
    cloud.deletion_takes = minutes{2};
    full_host();
    begin(true);
    run_until([&] { return told && told->cache_age; });
    EXPECT_EQ(told->broker, std::nullopt) << "it stands by";
    crash();
    ask();
    run_until([&] { return told->in_flight == 1; });
    EXPECT_EQ(told->broker, true);
    crash();
}

TEST(ReaperList, WhoEndedDoesNotStandBy) {
    ReaperList list;
    JournalReaper here, other;
    here.here = true;
    here.silent = seconds{61};
    other.silent = seconds{62};
    list.all = {here};
    EXPECT_FALSE(list.another_stands_by());
    list.all = {here, other};
    EXPECT_TRUE(list.another_stands_by());
    list.all[1].silent = seconds{90};
    EXPECT_FALSE(list.another_stands_by());
}

TEST_F(TakingOverTest, TheUseOfFreedRoomIsReportedAfterALongAbsenceToo) {
    full_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    crash();
    clock.advance(settings.cull.watch + minutes{90});
    start();
    run_until([&] { return record("req-1").freed_room.has_value(); });
    EXPECT_EQ(record("req-1").freed_room->kind, FreedRoomResultKind::wasted);
}

}  // namespace
}  // namespace reaper::test::taking_over_test
