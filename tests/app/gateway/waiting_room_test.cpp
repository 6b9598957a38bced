// The waiting room of the gateway: one project, or one host that hangs, takes no places from the
// others, and stops no other request.
#include "reaper/gateway/waiting_room.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <list>

namespace reaper::waiting_room_test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

constexpr Duration now = 1h;

WaitingCall call(const std::string& project, const std::vector<std::string>& hosts = {}) {
    WaitingCall made{ProjectId{project}, "", {}};
    for (const auto& host : hosts) made.hosts.emplace(HostId{host}, host);
    return made;
}

class WaitingRoomTest : public ::testing::Test {
protected:
    /// Takes as many places as it gets.
    int fill(const WaitingCall& wanted, int most) {
        int taken = 0;
        for (; !room.why_full(wanted, most); ++taken) places.emplace_back(room, wanted);
        return taken;
    }
    /// The last one's pause.
    std::optional<std::string> late(const std::vector<WaitingCall>& calls, Duration at = now) {
        std::optional<std::string> began;
        for (const auto& each : calls) began = room.late(each, at);
        return began;
    }
    bool waits(const WaitingCall& wanted, Duration at = now) const {
        return !room.why_paused(wanted, at);
    }

    WaitingRoom room;
    std::list<WaitingRoom::Place> places;
};

// ---- places ----

TEST_F(WaitingRoomTest, OneProjectHoldsHalfOfThePlaces) {
    struct Case {
        int most, first, second;
    };
    for (const Case& each :
         {Case{0, 0, 0}, Case{1, 1, 0}, Case{2, 1, 1}, Case{3, 2, 1}, Case{16, 8, 4}}) {
        EXPECT_EQ(fill(call("one"), each.most), each.first) << each.most;
        EXPECT_EQ(fill(call("two"), each.most), each.second) << each.most;
        places.clear();
        EXPECT_EQ(room.held(), 0);
    }
}

TEST_F(WaitingRoomTest, EighteenBootsOntoAHungHostLeavePlacesForTheOthers) {
    for (int i = 0; i < 18; ++i) {
        const auto boot = call("tenant-" + std::to_string(i), {"hung"});
        if (!room.why_full(boot, 16)) places.emplace_back(room, boot);
    }
    EXPECT_EQ(room.held(), 8);
    EXPECT_THAT(room.why_full(call("next", {"hung"}), 16),
                Optional(AllOf(HasSubstr("onto host hung"), HasSubstr("8 places left"))));
    EXPECT_EQ(room.why_full(call("next", {"healthy"}), 16), std::nullopt);
    EXPECT_NE(room.why_full(call("next", {"healthy", "hung"}), 16), std::nullopt);
}

TEST_F(WaitingRoomTest, OfManyProjectsEachHasAPlace) {
    for (int i = 0; i < 16; ++i) {
        const auto wanted = call("p" + std::to_string(i));
        EXPECT_EQ(room.why_full(wanted, 16), std::nullopt) << i;
        places.emplace_back(room, wanted);
    }
    EXPECT_THAT(room.why_full(call("one more"), 16), Optional(HasSubstr("16 calls wait already")));
}

TEST_F(WaitingRoomTest, APlaceFollowsThePlanOfItsCall) {
    fill(call("one"), 16);
    for (auto& place : places) place.waits_for({{HostId{"hung"}, "hung"}});
    EXPECT_NE(room.why_full(call("two", {"hung"}), 16), std::nullopt);
    for (auto& place : places) place.waits_for({{HostId{"other"}, "other"}});
    EXPECT_EQ(room.why_full(call("two", {"hung"}), 16), std::nullopt);
    EXPECT_NE(room.why_full(call("two", {"other"}), 16), std::nullopt);
}

TEST_F(WaitingRoomTest, UnknownRequestersHaveNoLimitPerProject) {
    EXPECT_EQ(fill(WaitingCall{}, 16), 16);
}

TEST_F(WaitingRoomTest, ItSaysWhoseTheyAre) {
    WaitingCall named = call("8d3f");
    named.project_name = "web";
    fill(named, 16);
    EXPECT_THAT(room.why_full(named, 16), Optional(HasSubstr("8 of the 8 calls that wait already "
                                                             "are of project web (8d3f)")));
}

// ---- late calls ----

TEST_F(WaitingRoomTest, ThreeLateCallsOntoAHostPauseThatHostAlone) {
    EXPECT_EQ(late({call("a", {"hung"}), call("b", {"hung"})}), std::nullopt);
    EXPECT_TRUE(waits(call("c", {"hung"})));
    EXPECT_THAT(late({call("c", {"hung"})}), Optional(HasSubstr("onto host hung")));
    EXPECT_FALSE(waits(call("d", {"hung"})));
    EXPECT_FALSE(waits(call("d", {"fine", "hung"})));
    EXPECT_TRUE(waits(call("a", {"fine"})));
    EXPECT_TRUE(waits(WaitingCall{}));
    EXPECT_THAT(room.pauses(now), ElementsAre(HasSubstr("host hung")));
    EXPECT_FALSE(waits(call("d", {"hung"}), now + 29s));
    EXPECT_TRUE(waits(call("d", {"hung"}), now + 30s));
    EXPECT_THAT(room.pauses(now + 30s), IsEmpty());
}

TEST_F(WaitingRoomTest, AHungHostSpeaksNotAgainstWhoWaitedForIt) {
    late({call("a", {"hung"}), call("a", {"hung"}), call("a", {"hung"}), call("a", {"hung"})});
    EXPECT_TRUE(waits(call("a", {"fine"})));
    EXPECT_EQ(late({call("a", {"fine"})}), std::nullopt) << "the first of its own";
    EXPECT_TRUE(waits(call("a", {"fine"})));
    EXPECT_EQ(room.why_all_paused(now), std::nullopt);
}

TEST_F(WaitingRoomTest, ThreeLateCallsOfAProjectPauseThatProjectAlone) {
    EXPECT_THAT(late({call("a", {"h1"}), call("a", {"h2"}), call("a", {"h3"})}),
                Optional(HasSubstr("of project a")));
    EXPECT_FALSE(waits(call("a", {"h4"})));
    EXPECT_TRUE(waits(call("b", {"h1"})));
    EXPECT_TRUE(waits(call("a"), now + 30s));
    EXPECT_EQ(room.why_all_paused(now), std::nullopt);
}

TEST_F(WaitingRoomTest, WhereOthersAreServedOnItsHostItIsTheProject) {
    for (int i = 0; i < 3; ++i) {
        room.late(call("a", {"h1"}), now);
        room.served(call("b", {"h1"}));
    }
    EXPECT_FALSE(waits(call("a", {"h2"})));
    EXPECT_TRUE(waits(call("b", {"h1"})));
}

TEST_F(WaitingRoomTest, OneThatIsServedEndsTheRow) {
    late({call("a", {"h1"}), call("a", {"h1"})});
    room.served(call("a", {"h1"}));
    EXPECT_EQ(late({call("a", {"h1"}), call("a", {"h1"})}), std::nullopt);
    EXPECT_NE(late({call("a", {"h1"})}), std::nullopt);
    room.served(call("b", {"h1"}));
    EXPECT_TRUE(waits(call("a", {"h1"}))) << "and the pause: the host works";
}

TEST_F(WaitingRoomTest, EverythingIsPausedIfLateCallsShareNothing) {
    EXPECT_EQ(late({call("a", {"h1"}), call("b", {"h2"})}), std::nullopt);
    EXPECT_THAT(late({call("c", {"h3"})}), Optional(HasSubstr("different projects and hosts")));
    EXPECT_FALSE(waits(call("d", {"h4"})));
    EXPECT_NE(room.why_all_paused(now + 29s), std::nullopt);
    EXPECT_EQ(room.why_all_paused(now + 30s), std::nullopt);
    EXPECT_THAT(room.pauses(now), ElementsAre(HasSubstr("different projects and hosts")));
}

TEST_F(WaitingRoomTest, NotIfTheyShareAProjectOrAHost) {
    late({call("a", {"h1"}), call("a", {"h2"}), call("b", {"h2"}), call("b", {"h1"})});
    EXPECT_EQ(room.why_all_paused(now), std::nullopt);
}

TEST_F(WaitingRoomTest, NorIfOneBetweenWasServed) {
    late({call("a", {"h1"}), call("b", {"h2"})});
    room.served(call("d", {"h4"}));
    late({call("c", {"h3"})});
    EXPECT_EQ(room.why_all_paused(now), std::nullopt);
}

TEST_F(WaitingRoomTest, LateCallsOfUnknownRequestersPauseAll) {
    late({WaitingCall{}, WaitingCall{}, WaitingCall{}});
    EXPECT_FALSE(waits(call("a", {"h1"})));
}

TEST_F(WaitingRoomTest, AfterThePauseTheFirstLateCallIsEnough) {
    late({call("a", {"hung"}), call("b", {"hung"}), call("c", {"hung"})});
    EXPECT_TRUE(waits(call("d", {"hung"}), now + 40s));
    EXPECT_NE(late({call("d", {"hung"})}, now + 60s), std::nullopt);
    EXPECT_FALSE(waits(call("e", {"hung"}), now + 89s));
}

TEST_F(WaitingRoomTest, LateCallsOfLongAgoAreForgotten) {
    late({call("a", {"h1"}), call("b", {"h1"})});
    EXPECT_EQ(late({call("c", {"h1"})}, now + 11min), std::nullopt);
    EXPECT_TRUE(waits(call("c", {"h1"}), now + 11min));
}

TEST_F(WaitingRoomTest, APlaceTellsForItsCall) {
    fill(call("a"), 16);
    for (auto& place : places) place.waits_for({{HostId{"hung"}, "compute-7"}});
    int begun = 0;
    for (auto& place : places) begun += place.late(now) ? 1 : 0;
    EXPECT_EQ(begun, 1) << "a pause is reported once";
    EXPECT_THAT(room.why_paused(call("b", {"hung"}), now), Optional(HasSubstr("host hung")));
    EXPECT_THAT(room.pauses(now), ElementsAre(HasSubstr("host compute-7")));
    places.front().served();
    EXPECT_TRUE(waits(call("b", {"hung"})));
}

}  // namespace
}  // namespace reaper::waiting_room_test
