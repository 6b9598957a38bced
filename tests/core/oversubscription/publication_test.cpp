#include "reaper/oversubscription/publication.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/oversubscription_builder.hpp"
#include "core/seeded.hpp"

namespace reaper::publication_test {
namespace {

using namespace reaper::testing;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// One host in time.
class PublishedHost {
public:
    explicit PublishedHost(Amount total = 0) { state_ = PublishedState::found(total); }

    PublicationRules rules;
    Amount used = 0;
    double cores = 16;  // steps of 4
    double coverage = 1;
    bool too_busy = false;

    Published see(Duration after, Amount rise_to, Amount fall_to) {
        Estimate estimate;
        estimate.known = true;
        estimate.rise_to = rise_to;
        estimate.fall_to = fall_to;
        estimate.measured_at = noon + after;
        estimate.coverage = coverage;
        estimate.why = "so it was measured";
        return give(after, estimate);
    }
    Published see(Duration after, Amount room) { return see(after, room, room); }
    Published see_nothing(Duration after) {
        Estimate estimate;
        estimate.why = "no answer";
        return give(after, estimate);
    }
    Published give(Duration after, const Estimate& estimate) {
        Published published =
            next_published(state_, estimate, {used, cores, too_busy}, noon + after, rules);
        state_ = published.state;
        return published;
    }
    /// Sees the same every 15 s; the last.
    Published keep_seeing(Duration from, Duration to, Amount room) {
        Published last;
        for (Duration after = from; after <= to; after += 15s) last = see(after, room);
        return last;
    }
    /// Up to `room` and back to 0, within a few minutes.
    Published go_up_and_down(Duration from) {
        EXPECT_EQ(keep_seeing(from, from + 2min, 4).total, 4) << from.count();
        return see(from + 2min + 15s, 0);
    }

private:
    PublishedState state_;
};

TEST(Publication, RisesWhenTheEstimateAllowedItForAWhile) {
    PublishedHost host;
    EXPECT_EQ(host.see(0s, 3).total, 0);
    EXPECT_EQ(host.see(1min, 3).total, 0);
    const auto before = host.see(2min - 1ms, 3);
    EXPECT_EQ(before.total, 0);
    EXPECT_EQ(before.why, "waits before it rises: so it was measured");
    EXPECT_EQ(host.see(2min, 3).total, 3);
}

TEST(Publication, RisesStepByStep) {
    PublishedHost host;
    host.keep_seeing(0s, 2min - 15s, 10);
    EXPECT_EQ(host.see(2min, 10).total, 4);
    EXPECT_EQ(host.see(2min + 14s, 10).total, 4);
    EXPECT_EQ(host.see(2min + 15s, 10).total, 8);
    EXPECT_EQ(host.see(2min + 30s, 10).total, 10);
}

TEST(Publication, AStepIsAtLeastOne) {
    for (const double cores : {0.0, 1.0, 7.9, -3.0, 1e300}) {
        PublishedHost host;
        host.cores = cores;
        EXPECT_EQ(host.keep_seeing(0s, 2min, 10).total, 1) << cores;
    }
}

TEST(Publication, RisesToTheLeastThatWasAllowedMeanwhile) {
    PublishedHost host;
    host.see(0s, 4);
    host.see(1min, 2);
    EXPECT_EQ(host.see(2min, 4).total, 2);
    EXPECT_EQ(host.see(2min + 15s, 4).total, 2);  // the wait for more begins
    EXPECT_EQ(host.see(4min + 15s, 4).total, 4);
}

TEST(Publication, AnEstimateThatDipsRestartsTheWait) {
    PublishedHost host;
    host.see(0s, 4);
    host.see(1min, 0);
    host.see(2min, 4);
    EXPECT_EQ(host.see(3min, 4).total, 0);
    EXPECT_EQ(host.see(4min, 4).total, 4);
}

TEST(Publication, FallsAtOnce) {
    PublishedHost host{10};
    host.used = 8;
    const auto published = host.see(0s, 3);
    EXPECT_EQ(published.total, 3);
    EXPECT_EQ(published.excess, 5);
    EXPECT_EQ(published.why, "falls at once: so it was measured");
}

TEST(Publication, AFallRestartsTheWait) {
    PublishedHost host{4};
    host.keep_seeing(0s, 1min, 6);
    host.see(75s, 2);
    EXPECT_EQ(host.keep_seeing(90s, 3min + 15s, 6).total, 2);
    EXPECT_EQ(host.see(3min + 30s, 6).total, 6);
}

TEST(Publication, IsClosedWhileTheHostIsTooBusy) {
    PublishedHost host{8};
    host.used = 6;
    host.too_busy = true;
    auto published = host.see(0s, 8);
    EXPECT_TRUE(published.closed);
    EXPECT_EQ(published.total, 1);
    EXPECT_EQ(published.excess, 0) << "no server is evicted for it";
    EXPECT_EQ(published.why, "nothing new while the host is too busy: so it was measured");
    EXPECT_EQ(host.see(1min, 4).excess, 2) << "but for the estimate";
    EXPECT_TRUE(host.see_nothing(2min).closed);
    host.used = 0;
    EXPECT_EQ(host.keep_seeing(3min, 20min, 8).total, 0);
    host.too_busy = false;
    EXPECT_EQ(host.see(21min, 8).total, 0) << "it waits before it rises";
    EXPECT_EQ(host.keep_seeing(22min, 24min, 8).total, 8);
}

TEST(Publication, ToBecomeTooBusyAfterARiseIsAFlap) {
    PublishedHost host;
    bool left_alone = false;
    Duration at = 0s;
    for (int i = 0; i < host.rules.flaps; ++i) {
        EXPECT_FALSE(left_alone);
        host.too_busy = false;
        EXPECT_EQ(host.keep_seeing(at, at + 2min, 4).total, 4);
        host.too_busy = true;
        left_alone = host.keep_seeing(at + 3min, at + 5min, 4).left_alone;
        at += 6min;
    }
    EXPECT_TRUE(left_alone);
    host.too_busy = false;
    EXPECT_EQ(host.keep_seeing(at, at + 20min, 4).total, 0);
}

TEST(Publication, BetweenBothEndsItStays) {
    PublishedHost host{10};
    host.used = 10;
    const auto published = host.see(0s, 3, 12);
    EXPECT_EQ(published.total, 10);
    EXPECT_EQ(published.excess, 0);
    EXPECT_EQ(host.see(10min, 3, 12).total, 10);
}

TEST(Publication, ASmallGainIsNoRise) {
    PublishedHost host{6};
    host.rules.hysteresis = 3;
    EXPECT_EQ(host.keep_seeing(0s, 10min, 8).total, 6);
    EXPECT_EQ(host.keep_seeing(11min, 13min, 9).total, 9);
}

TEST(Publication, WithoutEnoughReadingsItDoesNotRiseButFalls) {
    PublishedHost host{4};
    host.coverage = 0.9;
    const auto published = host.keep_seeing(0s, 30min, 8);
    EXPECT_EQ(published.total, 4);
    EXPECT_THAT(published.why, HasSubstr("not trusted yet"));
    EXPECT_EQ(host.see(31min, 2).total, 2);
    host.coverage = 0.95;
    EXPECT_EQ(host.keep_seeing(32min, 34min, 8).total, 6);
}

TEST(Publication, WhatIsNotKnownForShortChangesNothing) {
    PublishedHost host{4};
    host.used = 2;
    host.see(0s, 4);
    const auto published = host.see_nothing(1min);
    EXPECT_EQ(published.total, 4);
    EXPECT_EQ(published.why, "no answer");
}

TEST(Publication, WithoutAMeasurementForLongNoServerIsAdmittedOrEvicted) {
    PublishedHost host{4};
    host.used = 2;
    host.see(0s, 4);
    auto published = host.see_nothing(1min + 1ms);
    EXPECT_EQ(published.total, 2);
    EXPECT_EQ(published.excess, 0);
    EXPECT_FALSE(published.closed);
    EXPECT_EQ(published.why, "no answer; nothing new for 1min");
    host.used = 1;
    EXPECT_EQ(host.see_nothing(2min).total, 1);
    host.used = 0;
    EXPECT_EQ(host.see_nothing(3min).total, 0);
}

TEST(Publication, AMeasurementThatIsTooOldDoesNotCount) {
    PublishedHost host{4};
    host.used = 1;
    Estimate old;
    old.known = true;
    old.measured_at = noon;
    EXPECT_TRUE(host.give(1min, old).closed);  // still believed: it falls at once
    PublishedHost other{4};
    other.used = 1;
    const auto published = other.give(1min + 1ms, old);
    EXPECT_EQ(published.excess, 0);
    EXPECT_EQ(published.total, 4);  // it was first looked at now
    EXPECT_EQ(other.give(2min + 2ms, old).total, 1);
}

TEST(Publication, WhatRestsOnNoMeasurementIsNeverTooOld) {
    PublishedHost host;
    Estimate fixed;
    fixed.known = true;
    fixed.rise_to = fixed.fall_to = 4;
    host.give(0s, fixed);
    EXPECT_EQ(host.give(5h, fixed).total, 4);
}

TEST(Publication, AWaitGoesOnOverAShortHoleButNotOverALongOne) {
    PublishedHost host;
    host.see(0s, 4);
    host.see_nothing(30s);
    host.see(1min, 4);
    EXPECT_EQ(host.see(2min, 4).total, 4);
    PublishedHost other;
    other.see(0s, 4);
    other.see_nothing(61s);
    EXPECT_EQ(other.see(2min, 4).total, 0);
}

TEST(Publication, WithoutRoomItIsClosedWhileAServerHoldsSome) {
    PublishedHost host{5};
    host.used = 2;
    auto published = host.see(0s, 0);
    EXPECT_EQ(published.total, 1);
    EXPECT_TRUE(published.closed);
    EXPECT_EQ(published.excess, 2);
    published = host.see(15s, 0, 3);  // who leaves makes no room
    EXPECT_TRUE(published.closed);
    EXPECT_EQ(published.excess, 0);
    host.used = 0;
    published = host.see(30s, 0);
    EXPECT_EQ(published.total, 0);
    EXPECT_FALSE(published.closed);
}

TEST(Publication, AHostThatGoesUpAndDownIsLeftAlone) {
    PublishedHost host;
    EXPECT_FALSE(host.go_up_and_down(0min).left_alone);
    EXPECT_FALSE(host.go_up_and_down(10min).left_alone);
    EXPECT_TRUE(host.go_up_and_down(20min).left_alone);  // at 22:15
    const auto published = host.keep_seeing(23min, 52min, 4);
    EXPECT_EQ(published.total, 0);
    EXPECT_TRUE(published.left_alone);
    EXPECT_THAT(published.why, HasSubstr("left alone, as it went up and down"));
    EXPECT_EQ(host.keep_seeing(52min + 15s, 54min + 15s, 4).total, 4);
}

TEST(Publication, AHostThatGoesOnIsLeftAloneForLonger) {
    PublishedHost host;
    for (const auto start : {0min, 10min, 20min, 60min, 70min, 80min}) host.go_up_and_down(start);
    EXPECT_TRUE(host.see(82min + 15s + 59min, 4).left_alone);
    EXPECT_FALSE(host.see(82min + 15s + 60min, 4).left_alone);
}

TEST(Publication, AfterAQuietTimeTheNextOneIsShortAgain) {
    PublishedHost host;
    for (const auto start : {0min, 10min, 20min}) host.go_up_and_down(start);
    for (const auto start : {200min, 210min, 220min}) host.go_up_and_down(start);
    EXPECT_FALSE(host.see(222min + 15s + 30min, 4).left_alone);
}

TEST(Publication, FlapsFarApartAreForgotten) {
    PublishedHost host;
    for (const auto start : {0min, 40min, 80min, 120min, 160min})
        EXPECT_FALSE(host.go_up_and_down(start).left_alone);
}

TEST(Publication, ALongFallIsNoFlapping) {
    PublishedHost host{16};
    host.keep_seeing(0s, 2min, 20);
    for (int room = 19; room > 0; --room)
        EXPECT_FALSE(host.see(2min + (20 - room) * 15s, room).left_alone) << room;
}

TEST(Publication, WhereFlapsAreOffNoHostIsLeftAlone) {
    PublishedHost host;
    host.rules.flaps = 0;
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(host.go_up_and_down(i * 5min).left_alone);
}

TEST(Publication, WhoWasNotThereKnowsFromTheTimesForHowLongAHostIsLeftAlone) {
    PublicationRules rules;  // 30 minutes, doubled up to 8 hours; 1 hour is forgotten
    EXPECT_EQ(left_alone_since({}, rules).state(noon), CircuitState::closed);
    const Circuit once = left_alone_since({noon}, rules);
    EXPECT_EQ(once.state(noon + 29min), CircuitState::open);
    EXPECT_EQ(once.state(noon + 30min), CircuitState::half_open);
    const Circuit twice = left_alone_since({noon, noon + 45min}, rules);
    EXPECT_EQ(*twice.until(), noon + 45min + 60min);
    const Circuit apart = left_alone_since({noon, noon + 90min}, rules);
    EXPECT_EQ(*apart.until(), noon + 120min) << "the first one is forgotten";
}

TEST(Publication, ALeftAloneHostFalls) {
    PublishedHost host;
    host.go_up_and_down(0min);
    host.go_up_and_down(5min);
    host.keep_seeing(10min, 12min, 4);
    EXPECT_TRUE(host.see(12min + 15s, 3).left_alone);
    const auto published = host.see(12min + 30s, 1);
    EXPECT_TRUE(published.left_alone);
    EXPECT_EQ(published.total, 1);
}

TEST(Publication, TimesMoveWithTheWallClock) {
    PublishedState state = PublishedState::found(2);
    state.pending = PublishedState::Pending{4, noon};
    state.rose_at = noon;
    state.known_at = noon;
    state.flaps = {noon, noon + 1min};
    state.quiet.open(noon, {30min, 8h});
    state.shift(1h);
    EXPECT_EQ(state.pending->since, noon + 1h);
    EXPECT_EQ(state.rose_at, noon + 1h);
    EXPECT_EQ(state.known_at, noon + 1h);
    EXPECT_EQ(state.flaps, (std::vector<TimePoint>{noon + 1h, noon + 61min}));
    EXPECT_EQ(state.quiet.until(), noon + 90min);
}

}  // namespace
}  // namespace reaper::publication_test
