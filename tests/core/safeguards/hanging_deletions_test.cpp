// Hosts where deletions hang: when that is said of one, when no more, and what a plan makes of it.
#include "reaper/safeguards/hanging_deletions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"
#include "reaper/decision/decide.hpp"

namespace reaper::hanging_deletions_test {
namespace {

using namespace reaper::testing;
using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

const TimePoint start = at(100'000);
const Resources one{{"VCPU", 1}};

class HangingDeletionsTest : public ::testing::Test {
protected:
    void send(const std::string& host, const std::string& server, Duration after = 0s) {
        deletions.sent(HostId{host}, ServerId{server}, start + after);
    }
    void end(const std::string& server, Duration after) {
        deletions.ended(ServerId{server}, start + after);
    }
    /// This many deletions took this time.
    void usual(int count, Duration took) {
        for (int i = 0; i < count; ++i) {
            const std::string server = "usual-" + std::to_string(i);
            deletions.sent(HostId{"elsewhere"}, ServerId{server}, start - 1h + took);
            deletions.ended(ServerId{server}, start - 1h + 2 * took);
        }
    }
    auto hanging(Duration after) const { return deletions.reasons(start + after); }

    HangingDeletions deletions;
};

TEST_F(HangingDeletionsTest, ByWhatDeletionsTookLately) {
    struct Case {
        int known;
        Duration took, limit;
    };
    for (const Case& each : {Case{0, 0s, 30s}, Case{2, 1s, 30s}, Case{3, 1s, 10s},
                             Case{3, 2'500ms, 10s}, Case{3, 5s, 20s}, Case{3, 10s, 30s},
                             Case{3, 15s, 30s}, Case{3, 40s, 80s}, Case{40, 300s, 600s}}) {
        deletions = {};
        usual(each.known, each.took);
        EXPECT_EQ(deletions.limit(), each.limit) << each.known << " of " << each.took.count();
    }
}

TEST_F(HangingDeletionsTest, TheLatestCount) {
    usual(40, 300s);
    usual(40, 5s);
    EXPECT_EQ(deletions.limit(), 20s);
}

TEST_F(HangingDeletionsTest, OneThatTakesTooLongHangs) {
    send("h1", "a");
    EXPECT_THAT(hanging(30s), IsEmpty());
    EXPECT_THAT(hanging(30s + 1ms),
                ElementsAre(Pair(HostId{"h1"}, HasSubstr("a deletion there hangs: that of server "
                                                         "a went out at"))));
}

TEST_F(HangingDeletionsTest, ADeletionThatEndsThereEndsIt) {
    send("h1", "a");
    send("h1", "b", 20s);
    EXPECT_THAT(hanging(35s), ElementsAre(Key(HostId{"h1"})));
    end("b", 40s);
    EXPECT_THAT(hanging(41s), IsEmpty());
    EXPECT_THAT(hanging(70s), IsEmpty());
    EXPECT_THAT(hanging(71s), ElementsAre(Key(HostId{"h1"}))) << "the other one hangs again";
    end("a", 80s);
    EXPECT_THAT(hanging(10min), IsEmpty());
}

TEST_F(HangingDeletionsTest, WhatWasRefusedHangsNot) {
    send("h1", "a");
    deletions.dropped(ServerId{"a"});
    EXPECT_THAT(hanging(1min), IsEmpty());
}

TEST_F(HangingDeletionsTest, ARepetitionBeginsNothingAgain) {
    send("h1", "a");
    send("h1", "a", 25s);
    EXPECT_THAT(hanging(31s), ElementsAre(Key(HostId{"h1"})));
}

TEST_F(HangingDeletionsTest, WhoIsThereNoMoreIsGone) {
    send("h1", "a");
    send("h2", "b");
    Host there = host("h1", one * 2);
    put(there, revocable("a", there.id, one));
    const auto see = [&](Duration after) {
        deletions.see([&](const HostId& id) { return id == there.id ? &there : nullptr; },
                      start + after);
    };
    see(40s);
    EXPECT_THAT(hanging(40s), UnorderedElementsAre(Key(HostId{"h1"}), Key(HostId{"h2"})));
    there.servers.clear();
    see(50s);
    EXPECT_THAT(hanging(50s), ElementsAre(Key(HostId{"h2"}))) << "h2 is not reported";
}

TEST_F(HangingDeletionsTest, WhereTheyHangEverywhereItIsNoMatterOfHosts) {
    send("h1", "a");
    send("h2", "b", 1s);
    EXPECT_THAT(hanging(40s), UnorderedElementsAre(Key(HostId{"h1"}), Key(HostId{"h2"})));
    send("h3", "c", 2s);
    EXPECT_THAT(hanging(40s), IsEmpty());
    send("h4", "d", 30s);
    end("d", 45s);
    EXPECT_EQ(hanging(45s).size(), 3U) << "elsewhere they end";
}

TEST_F(HangingDeletionsTest, AfterAnHourItSaysNothing) {
    send("h1", "a");
    deletions.prune(start + 59min);
    EXPECT_THAT(hanging(59min), ElementsAre(Key(HostId{"h1"})));
    deletions.prune(start + 60min);
    EXPECT_THAT(hanging(60min), IsEmpty());
}

TEST_F(HangingDeletionsTest, ItsTimesMoveWithTheClock) {
    send("h1", "a");
    deletions.shift(1h);
    EXPECT_THAT(hanging(1h + 30s), IsEmpty());
    EXPECT_THAT(hanging(1h + 31s), ElementsAre(Key(HostId{"h1"})));
}

// ---- a plan ----

/// A full host of servers of one VCPU.
Host full(const std::string& name, int servers) {
    Host made = host(name, one * servers);
    for (int i = 0; i < servers; ++i)
        put(made, revocable(name + "-" + std::to_string(i), made.id, one));
    return made;
}

class HangingHostTest : public ::testing::Test {
protected:
    Decision decide(const Snapshot& snapshot) {
        PlanOptions options;
        options.now = start + 40s;
        return plan_under(safeguards, request(one), CloudIndex{snapshot}, Ledger{},
                          *make_strategy("strict"), "strict", options);
    }
    Safeguards safeguards{SafeguardSettings{}};
};

TEST_F(HangingHostTest, IsPassedOverWithItsReason) {
    const Snapshot cloud{start, {full("h1", 1), full("h2", 1)}, {}};
    safeguards.deletions().sent(cloud.hosts[0].id, ServerId{"h1-0"}, start);
    const Decision decision = decide(cloud);
    const auto& plan = std::get<Plan>(decision);
    ASSERT_EQ(plan.hosts.size(), 1U);
    EXPECT_EQ(plan.hosts[0].host, cloud.hosts[1].id);
    ASSERT_EQ(plan.rejected.size(), 1U);
    EXPECT_EQ(plan.rejected[0].code, RejectionCode::in_cooldown);
    EXPECT_THAT(plan.rejected[0].reason, HasSubstr("a deletion there hangs"));
}

TEST_F(HangingHostTest, GivesWayIfNothingElseIsEnough) {
    const Snapshot cloud{start, {full("h1", 2)}, {}};
    safeguards.deletions().sent(cloud.hosts[0].id, ServerId{"h1-0"}, start);
    const Decision decision = decide(cloud);
    ASSERT_TRUE(std::holds_alternative<Plan>(decision));
    EXPECT_THAT(std::get<Plan>(decision).note,
                AllOf(HasSubstr("a deletion there hangs"), HasSubstr("nothing else is enough")));
}

}  // namespace
}  // namespace reaper::hanging_deletions_test
