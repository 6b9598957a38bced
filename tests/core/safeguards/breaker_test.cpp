// The circuit breaker of the cloud: counts in a row, of several projects, and tries again by
// itself.
#include "reaper/safeguards/breaker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"

namespace reaper::breaker_test {
namespace {

using namespace std::chrono_literals;
using reaper::testing::at;
using ::testing::AllOf;
using ::testing::HasSubstr;

RequestId request(int i) {
    return RequestId{"req-" + std::to_string(i)};
}

class BreakerTest : public ::testing::Test {
protected:
    BreakerTest() {
        settings.wasted = 3;
        settings.projects = 1;
        settings.failed = 0;
        settings.retry = {10min, 40min};
    }
    void begin() { breaker = Breaker{settings}; }
    /// The result of a cull of `project` at a minute; why it opened, "closed", or nothing.
    std::string note(int minute, CullWorth worth, const std::string& project = "p") {
        return text(breaker.note_freed_room(request(minute), ProjectId{project}, worth, 1,
                                            at(minute * 60)));
    }
    std::string deletion(int minute, bool succeeded, const std::optional<ProjectId>& hung = {}) {
        return text(breaker.note_deletion(succeeded, request(minute), hung, at(minute * 60)));
    }
    CircuitState state(int minute) const { return breaker.state(at(minute * 60)); }
    static std::string text(const std::optional<Breaker::Change>& change) {
        return !change ? "" : change->opened ? change->reason : "closed";
    }

    BreakerSettings settings;
    Breaker breaker;
};

TEST_F(BreakerTest, OpensWhenTheRoomOfSoManySlotsInARowWentUnused) {
    begin();
    EXPECT_EQ(note(1, CullWorth::wasted), "");
    EXPECT_EQ(note(2, CullWorth::wasted), "");
    EXPECT_EQ(state(2), CircuitState::closed);
    EXPECT_THAT(
        note(3, CullWorth::wasted),
        AllOf(HasSubstr("the room of 3 slots in a row went unused, of 1 project, the last for "
                        "req-3"),
              HasSubstr("`reaper history`"), HasSubstr("`reaper resume`"),
              HasSubstr("one cull is tried at")));
    EXPECT_EQ(state(3), CircuitState::open);
    EXPECT_EQ(note(4, CullWorth::wasted), "") << "it opens once";
}

TEST_F(BreakerTest, OneProjectAloneDoesNotOpenIt) {
    settings.projects = 2;
    begin();
    for (int i = 0; i < 100; ++i) EXPECT_EQ(note(i, CullWorth::wasted, "hostile"), "");
    EXPECT_EQ(state(100), CircuitState::closed);
    EXPECT_THAT(note(101, CullWorth::wasted, "another"), HasSubstr("of 2 projects"));
}

TEST_F(BreakerTest, ACullThatHelpedResetsTheCountAndANeedlessOneDoesNotCount) {
    settings.wasted = 2;
    begin();
    note(1, CullWorth::wasted);
    note(2, CullWorth::helped);
    EXPECT_EQ(note(3, CullWorth::wasted), "");
    note(4, CullWorth::needless);
    EXPECT_NE(note(5, CullWorth::wasted), "");
}

TEST_F(BreakerTest, SaysWhatHoldingRoomWouldHavePrevented) {
    settings.wasted = 2;
    begin();
    note(1, CullWorth::lost);
    EXPECT_THAT(note(2, CullWorth::wasted),
                AllOf(HasSubstr("the room of 1 was taken by new revocable servers"),
                      HasSubstr("tagger `resource`")));
}

TEST_F(BreakerTest, IsHalfOpenAfterAWhileAndTheTryDecides) {
    settings.wasted = 1;
    begin();
    EXPECT_NE(note(0, CullWorth::wasted), "");
    EXPECT_EQ(state(9), CircuitState::open);
    EXPECT_EQ(state(10), CircuitState::half_open);
    EXPECT_EQ(note(11, CullWorth::needless), "");
    EXPECT_EQ(state(11), CircuitState::half_open);
    EXPECT_NE(note(12, CullWorth::wasted), "") << "twice as long";
    EXPECT_EQ(state(31), CircuitState::open);
    EXPECT_EQ(state(32), CircuitState::half_open);
    EXPECT_EQ(note(33, CullWorth::helped), "closed");
    EXPECT_EQ(state(33), CircuitState::closed);
    EXPECT_NE(note(40, CullWorth::wasted), "");
    EXPECT_EQ(state(50), CircuitState::half_open) << "as short as the first time";
}

TEST_F(BreakerTest, ThePausesGrowUpToALimit) {
    settings.wasted = 1;
    begin();
    int minute = 0;
    for (const int pause : {10, 20, 40, 40, 40}) {
        EXPECT_NE(note(minute, CullWorth::wasted), "");
        EXPECT_EQ(state(minute + pause - 1), CircuitState::open) << pause;
        EXPECT_EQ(state(minute + pause), CircuitState::half_open) << pause;
        minute += pause;
    }
}

TEST_F(BreakerTest, WhileItIsHalfOpenOneProjectAloneDoesNotOpenItAgain) {
    settings.projects = 2;
    settings.wasted = 2;
    begin();
    note(0, CullWorth::wasted, "a");
    EXPECT_NE(note(0, CullWorth::wasted, "b"), "");
    EXPECT_EQ(note(10, CullWorth::wasted, "a"), "");
    EXPECT_EQ(state(10), CircuitState::half_open);
    EXPECT_NE(note(11, CullWorth::wasted, "b"), "");
}

TEST_F(BreakerTest, WithoutARetryItWaitsForAnOperator) {
    settings.wasted = 1;
    settings.retry = {0min, 0min};
    begin();
    EXPECT_THAT(note(0, CullWorth::wasted), HasSubstr("then `reaper resume`"));
    EXPECT_EQ(state(1'000'000), CircuitState::open);
    EXPECT_EQ(breaker.until(), std::nullopt);
}

TEST_F(BreakerTest, OpensWhenDeletionsKeepFailing) {
    settings.wasted = 0;
    settings.failed = 2;
    begin();
    deletion(0, false);
    deletion(1, true);
    EXPECT_EQ(deletion(2, false), "");
    EXPECT_THAT(deletion(3, false),
                AllOf(HasSubstr("2 deletions in a row failed, the last for req-3"),
                      HasSubstr("`reaper resume`")));
    EXPECT_EQ(note(4, CullWorth::helped), "") << "that room was taken says nothing of deletions";
    EXPECT_EQ(state(4), CircuitState::open);
    EXPECT_NE(deletion(13, false), "") << "half open, one is enough";
    EXPECT_EQ(state(32), CircuitState::open);
    EXPECT_EQ(note(33, CullWorth::helped), "closed");
}

/// An owner can keep Nova busy with any number of servers.
TEST_F(BreakerTest, DeletionsOfOneProjectThatHangDoNotOpenItForAll) {
    settings.projects = settings.failed = 2;
    begin();
    for (int minute = 0; minute < 9; ++minute)
        EXPECT_EQ(deletion(minute, false, ProjectId{"a"}), "") << minute;
    deletion(9, false);
    EXPECT_EQ(deletion(10, false, ProjectId{"a"}), "") << "one that Nova refused is not enough";
    EXPECT_NE(deletion(11, false, ProjectId{"b"}), "");
    EXPECT_EQ(state(21), CircuitState::half_open);
    deletion(21, true);
    EXPECT_EQ(deletion(22, false, ProjectId{"a"}), "") << "other projects' deletions end again";
    EXPECT_NE(deletion(23, false, ProjectId{"b"}), "");
}

TEST_F(BreakerTest, DeletionsThatHangOpenItWhereOneProjectHasAllRevocableServers) {
    settings.projects = settings.failed = 2;
    begin();
    breaker.see_projects(1);
    breaker.reset();
    EXPECT_EQ(deletion(1, false, ProjectId{"a"}), "");
    EXPECT_NE(deletion(2, false, ProjectId{"a"}), "");
}

TEST_F(BreakerTest, CountsFromZeroAfterAReset) {
    settings.wasted = settings.failed = 2;
    begin();
    note(1, CullWorth::wasted);
    deletion(1, false);
    breaker.reset();
    EXPECT_EQ(note(2, CullWorth::wasted), "");
    EXPECT_EQ(deletion(2, false), "");
    EXPECT_NE(note(3, CullWorth::wasted), "");
    breaker.reset();
    EXPECT_EQ(state(3), CircuitState::closed);
}

TEST_F(BreakerTest, ZeroIsOff) {
    settings.wasted = settings.failed = 0;
    begin();
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(note(i, CullWorth::wasted), "");
        EXPECT_EQ(deletion(i, false), "");
    }
    EXPECT_EQ(state(100), CircuitState::closed);
}

TEST_F(BreakerTest, ItsPauseMovesWithTheClock) {
    settings.wasted = 1;
    begin();
    note(0, CullWorth::wasted);
    breaker.shift(1h);
    EXPECT_EQ(state(69), CircuitState::open);
    EXPECT_EQ(state(70), CircuitState::half_open);
}

}  // namespace
}  // namespace reaper::breaker_test
