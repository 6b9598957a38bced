// Who was deleted lately: windows, repeats, clocks that are set back; and what one workload is.
#include "reaper/safeguards/victim_history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "core/cloud_builder.hpp"
#include "core/seeded.hpp"
#include "reaper/safeguards/cooldowns.hpp"

namespace reaper::victim_history_test {
namespace {

using namespace reaper::testing;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

PastVictim victim(const std::string& id, long when, const std::string& request = "req-1",
                  const std::string& name = "web-1", const std::string& project = "p") {
    return {at(when), RequestId{request}, ServerId{id}, name, ProjectId{project}, "h", ""};
}

std::vector<std::string> ids_since(const VictimHistory& history, long since) {
    std::vector<std::string> ids;
    history.each_since(at(since),
                       [&](const PastVictim& each) { ids.push_back(each.server.str()); });
    return ids;
}

TEST(VictimHistory, TellsThoseSinceAMomentOldestFirst) {
    VictimHistory history;
    history.note(victim("b", 20));
    history.note(victim("a", 10));
    history.note(victim("c", 30));
    EXPECT_THAT(ids_since(history, 10), ::testing::ElementsAre("b", "c"));
    EXPECT_THAT(ids_since(history, 9), ::testing::ElementsAre("a", "b", "c"));
}

TEST(VictimHistory, CountsAServerOnceHoweverOftenItIsNoted) {
    VictimHistory history;
    history.note(victim("a", 10));
    history.note(victim("a", 11));
    EXPECT_EQ(history.size(), 1U);
    EXPECT_EQ(history.of_request(RequestId{"req-1"}), 1);
}

PastVictim launched(PastVictim one, long when) {
    one.launched = at(when);
    return one;
}

TEST(VictimHistory, CountsAServerAgainThatCameBackAndWentForAnotherRequest) {
    VictimHistory history;
    history.note(launched(victim("a", 50, "req-2"), 40));
    history.note(launched(victim("a", 10, "req-1"), 0));
    EXPECT_EQ(history.size(), 2U) << "in either order, as a journal may tell";
    EXPECT_EQ(history.evictions_since(at(0), 1).begin()->second, 2) << "its workload was hit twice";
    EXPECT_TRUE(history.contains(ServerId{"a"}, at(40)));
    EXPECT_FALSE(history.contains(ServerId{"a"}, at(60))) << "it came back again";
    history.forget(ServerId{"a"}, RequestId{"req-2"});
    EXPECT_THAT(ids_since(history, 9), ::testing::ElementsAre("a")) << "the other one happened";
    EXPECT_EQ(history.of_request(RequestId{"req-1"}), 1);
    EXPECT_EQ(history.of_request(RequestId{"req-2"}), 0);
    history.note(launched(victim("a", 60, "req-3"), 40));
    history.prune(at(5), std::chrono::hours{1});
    EXPECT_EQ(history.size(), 2U) << "both lie in the future, as after a clock was set back";
    history.shift(std::chrono::seconds{10});
    history.forget(ServerId{"a"}, RequestId{"req-1"});
    history.forget(ServerId{"a"}, RequestId{"req-3"});
    EXPECT_TRUE(history.empty());
}

/// As when a second request forces what the first one deleted softly.
TEST(VictimHistory, OneDeathForTwoRequestsCountsOnce) {
    for (const bool known : {true, false}) {
        VictimHistory history;
        history.note(launched(victim("a", 10, "req-1"), 0));
        history.note(known ? launched(victim("a", 50, "req-2"), 0) : victim("a", 50, "req-2"));
        EXPECT_EQ(history.size(), 1U);
        EXPECT_EQ(history.of_request(RequestId{"req-1"}), 1);
        history.forget(ServerId{"a"}, RequestId{"req-2"});
        EXPECT_EQ(history.size(), 1U);
        history.note(launched(victim("a", 90, "req-1"), 80));
        EXPECT_EQ(history.size(), 1U) << "of one request it is the same, whatever the clocks say";
    }
}

TEST(VictimHistory, ForgetsADeletionThatNeverHappened) {
    VictimHistory history;
    history.note(victim("a", 10));
    history.forget(ServerId{"a"}, RequestId{"req-1"});
    history.forget(ServerId{"unknown"}, RequestId{"req-1"});
    EXPECT_TRUE(history.empty());
    EXPECT_EQ(history.of_request(RequestId{"req-1"}), 0);
    history.note(victim("a", 12));
    EXPECT_EQ(history.size(), 1U);
}

TEST(VictimHistory, IncrementalCountsEqualARecount) {
    holds("evictions by workload", [] {
        VictimHistory kept;
        long now = 0;
        int serial = 0;
        int least = 1;
        for (int i = 0; i < 60; ++i) {
            now += upto(3);
            const std::string some = "s" + std::to_string(upto(serial));
            switch (upto(6)) {
                case 0:
                    kept.forget(ServerId{some}, RequestId{"req-" + std::to_string(upto(3))});
                    break;
                case 1: kept.prune(at(now), std::chrono::seconds{5 + upto(20)}); break;
                case 2: kept.shift(std::chrono::seconds{upto(10) - 5}); break;
                case 3: least = 1 + upto(2); break;
                default:
                    // Some come back, and go again.
                    kept.note(launched(victim(upto(3) == 0 ? some : "s" + std::to_string(serial++),
                                              now + upto(4) - 2, "req-" + std::to_string(upto(3)),
                                              "w" + std::to_string(upto(2))),
                                       now - upto(6)));
            }
            const long since = now - upto(25);
            std::map<Workload, std::set<RequestId>> requests;
            kept.each_since(at(since), [&](const PastVictim& each) {
                requests[workload_of(each.project, each.name, "")].insert(each.request);
            });
            std::map<Workload, int> expected;
            for (const auto& [workload, by] : requests)
                if (static_cast<int>(by.size()) >= least)
                    expected.emplace(workload, static_cast<int>(by.size()));
            RC_ASSERT(kept.evictions_since(at(since), least) == expected);
        }
    });
}

TEST(VictimHistory, DropsWhatIsTooOld) {
    VictimHistory history;
    history.note(victim("a", 0));
    history.note(victim("b", 60));
    history.prune(at(100), 50s);
    EXPECT_THAT(ids_since(history, -1000), ::testing::ElementsAre("b"));
}

TEST(VictimHistory, ATimeInTheFutureCountsAsNow) {
    VictimHistory history;
    history.note(victim("future", 1'000'000));
    history.prune(at(100), 50s);
    EXPECT_THAT(ids_since(history, 99), ::testing::ElementsAre("future"));
    history.prune(at(151), 50s);
    EXPECT_TRUE(history.empty()) << "it is not kept until its own time is over";
}

TEST(VictimHistory, MovesWithTheClock) {
    VictimHistory history;
    history.note(victim("a", 10));
    history.note(victim("b", 20));
    history.shift(1h);
    EXPECT_THAT(ids_since(history, 3'610), ::testing::ElementsAre("b"));
    history.forget(ServerId{"b"}, RequestId{"req-1"});
    EXPECT_THAT(ids_since(history, 0), ::testing::ElementsAre("a"));
}

TEST(VictimHistory, ItsMemoryIsBounded) {
    VictimHistory history;
    const auto more = static_cast<long>(VictimHistory::max_kept) + 10;
    for (long i = 0; i < more; ++i) history.note(victim(std::to_string(i), i));
    EXPECT_EQ(history.size(), VictimHistory::max_kept);
    EXPECT_FALSE(history.contains(ServerId{"0"}, std::nullopt)) << "the oldest go";
    EXPECT_TRUE(history.contains(ServerId{std::to_string(more - 1)}, std::nullopt));
}

TEST(VictimHistory, AWorkloadIsEvictedOnceByARequestHoweverManyOfItsServersGo) {
    VictimHistory history;
    history.note(victim("a", 1, "req-1", "web-1"));
    history.note(victim("b", 2, "req-1", "web-2"));
    history.note(victim("c", 3, "req-2", "web-3"));
    history.note(victim("d", 4, "req-3", "db-1"));
    history.note(victim("e", 5, "req-4", "web-4", "other"));
    const auto often = history.evictions_since(at(0), 2);
    ASSERT_EQ(often.size(), 1U);
    EXPECT_EQ(often.begin()->first, (Workload{ProjectId{"p"}, "web"}));
    EXPECT_EQ(often.begin()->second, 2);
    EXPECT_TRUE(history.evictions_since(at(2), 2).empty());
}

TEST(Workload, IsTheNameWithoutWhatNumbersIt) {
    const struct {
        const char* name;
        const char* workload;
    } rows[] = {{"web", "web"},
                {"web-1", "web"},
                {"web12", "web"},
                {"web-7f3a2b1c", "web"},
                {"web-api-0001-7f3a", "web-api"},
                {"web-9c000000-0000-4000-8000-000000000001", "web"},
                {"web.3", "web"},
                {"web_", "web"},
                {"job-cafe", "job-cafe"},
                {"job-12-worker", "job-12-worker"},
                {"12345", "12345"},
                {"7f3a0001", "7f3a0001"},
                {"9c000000-0000-4000-8000-000000000001", "9c000000-0000-4000-8000-000000000001"},
                {"---", "---"},
                {"", ""}};
    for (const auto& [name, workload] : rows)
        EXPECT_EQ(workload_of(ProjectId{"p"}, name, "").name, workload) << name;
}

TEST(Workload, TheMetadataThatNamesItComesFirst) {
    Server server = revocable("s", HostId{"h"}, {{"VCPU", 1}});
    server.name = "web-1";
    server.metadata.insert_or_assign("job", "nightly");
    EXPECT_EQ(workload_of(server, "job").name, "nightly");
    EXPECT_EQ(workload_of(server, "other").name, "web");
    EXPECT_EQ(workload_of(server, "").name, "web");
    EXPECT_EQ(workload_given(server, ""), "");
}

TEST(HostCooldowns, LastForAWhileAndSayWhy) {
    HostCooldowns cooldowns;
    cooldowns.note(HostId{"h"}, RequestId{"req-1"}, at(0));
    cooldowns.note(HostId{"h"}, RequestId{"req-2"}, at(60));
    cooldowns.note(HostId{"h"}, RequestId{"req-0"}, at(-60));
    cooldowns.prune(at(100), 60s);
    ASSERT_EQ(cooldowns.reasons().size(), 1U);
    EXPECT_THAT(cooldowns.reasons().at(HostId{"h"}), HasSubstr("for req-2 was not taken by 20"));
    cooldowns.prune(at(120), 60s);
    EXPECT_TRUE(cooldowns.empty());
}

TEST(HostCooldowns, EndWithTheirTimeAndOutliveNoClockSetBack) {
    HostCooldowns cooldowns;
    cooldowns.note(HostId{"h"}, RequestId{"req-1"}, at(1'000'000));
    cooldowns.prune(at(0), 60s);
    EXPECT_FALSE(cooldowns.empty());
    cooldowns.prune(at(60), 60s);
    EXPECT_TRUE(cooldowns.empty());
}

}  // namespace
}  // namespace reaper::victim_history_test
