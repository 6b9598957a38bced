// The requester comes first: no server is deleted for one that no longer waits. Afterwards we check
// whether the deletion helped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/full_house.hpp"

namespace reaper::test::requester_first_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class RequesterFirstTest : public FullHouse {
protected:
    const FreedRoomResult& freed_room_of(const std::string& request) {
        run_until([&] { return record(request).freed_room.has_value(); });
        return *record(request).freed_room;
    }
    /// The result for room of which a smaller server of this project took a part before the
    /// requester came back.
    const FreedRoomResult& room_that_goes_to(const std::string& project) {
        full_host();
        requester();
        start();
        messages->deliver(body_of(failure()));
        outcome_of("req-1");
        cloud.add_server("first", "host1", project, Resources{{"VCPU", 1}, {"MEMORY_MB", 1024}})
            .record.server.created = clock.now();
        const FreedRoomResult& after = freed_room_of("req-1");
        EXPECT_THAT(after.reason, ::testing::HasSubstr("first"));
        EXPECT_TRUE(after.untaken.empty()) << "it says nothing against the host";
        return after;
    }
};

TEST_F(RequesterFirstTest, ARequesterThatIsDeletedWhileThePlanIsMadeCostsNoServer) {
    full_host();
    requester();
    start();
    before("server host1", [&] { cloud.remove(uuid_of("requester-1")); });
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_THAT(outcome_of("req-1").reason, ::testing::HasSubstr("is gone"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    run_until([&] { return all_acknowledged(1); });
}

TEST_F(RequesterFirstTest, ARequesterThatBootedElsewhereMeanwhileCostsNoServer) {
    full_host();
    requester();
    cloud.add_host("host2", small);
    cloud.add_server("tenant", "host2", "regular", small);
    start();
    before("server host1", [&] {
        cloud.remove("tenant");
        boots(uuid_of("requester-1"), "host2");
    });
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_THAT(outcome_of("req-1").reason, ::testing::HasSubstr("runs on host2 already"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(RequesterFirstTest, OfSeveralRequestersOnlyTheOnesThatWaitGetASlot) {
    full_host();
    for (const char* id : {"r1", "r2", "r3"}) requester(id);
    start();
    before("server host1", [&] {
        cloud.remove(uuid_of("r2"));
        cloud.remove(uuid_of("r3"));
    });
    for (const char* id : {"r1", "r2", "r3"}) {
        NovaFailure one = failure();
        one.server = id;
        one.spec_server = "r1";
        one.num_instances = 3;
        messages->deliver(body_of(one));
    }
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(RequesterFirstTest, NoServerIsDeletedUntilItIsKnownWhetherTheRequesterWaits) {
    full_host();
    requester();
    start();
    int refused = 0;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (cloud.count("server host1") == 0 ||
            !call.starts_with("server " + uuid_of("requester-1")) || ++refused > 2)
            return std::nullopt;
        EXPECT_EQ(cloud.count("DELETE"), 0U);
        return Error{Errc::server_error, "nova: 503"};
    };
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_GT(refused, 2);
}

TEST_F(RequesterFirstTest, ANewerRequestOfTheSameServerTakesThePlaceOfTheOlder) {
    full_host();
    requester();
    start();
    before("projects", [&] {
        NovaFailure newer = failure();
        newer.request_id = "req-2";
        newer.timestamp = "2026-11-20 00:00:05.000000";
        messages->deliver(body_of(newer));
    });
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::superseded);
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(RequesterFirstTest, ADeletionWaitsForTheAnswerWhetherTheRequesterWaits) {
    full_host("host1");
    full_host("host2");
    requester("r1", "regular", 4);
    requester("r2", "regular", 4);
    settings.cull.max_parallel_deletions = 2;
    start();
    // The looks of the first request keep both turns for long; then both of the second one's come
    // at once, and Nova is slow to answer whether its requester still waits.
    for (const char* n : {"a", "b", "c", "d"})
        for (const char* host : {"host1", "host2"})
            cloud.slow[ServerId{std::string{host} + n}] = seconds{4};
    before("DELETE", [&] {
        cloud.remove(uuid_of("r2"));
        cloud.slow = {{ServerId{uuid_of("r2")}, seconds{1}}};
    });
    for (const char* n : {"1", "2"}) {
        NovaFailure one = failure(4);
        one.request_id = std::string{"req-"} + n;
        one.server = one.spec_server = std::string{"r"} + n;
        messages->deliver(body_of(one));
    }
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::refused);
    EXPECT_EQ(cloud.count("DELETE"), 2U) << "a server was deleted before the answer came";
}

// ---- afterwards ----

TEST_F(RequesterFirstTest, TheSecondTryThatBootsOnTheFreedHostHasTakenTheRoom) {
    full_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    outcome_of("req-1");
    boots("second-try", "host1");
    const FreedRoomResult& after = freed_room_of("req-1");
    EXPECT_EQ(after.kind, FreedRoomResultKind::taken);
    EXPECT_THAT(after.reason, ::testing::HasSubstr("second-try"));
    EXPECT_TRUE(after.untaken.empty());
}

TEST_F(RequesterFirstTest, RoomThatWasNotTakenIsWasted) {
    full_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    const TimePoint freed_at = outcome_of("req-1").at;
    const FreedRoomResult& after = freed_room_of("req-1");
    EXPECT_EQ(after.kind, FreedRoomResultKind::wasted);
    EXPECT_EQ(after.untaken, std::vector<HostId>{HostId{"rp-host1"}});
    EXPECT_GE(after.at - freed_at, settings.cull.watch);
}

TEST_F(RequesterFirstTest, TheUseOfRoomCountsFromWhenItIsWritten) {
    full_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    const TimePoint well_again = outcome_of("req-1").at + settings.cull.watch + seconds{60};
    journal.fails = [&](const std::string& what) {
        return what.starts_with("freed-room") && clock.now() < well_again;
    };
    EXPECT_GE(freed_room_of("req-1").at, well_again);
}

TEST_F(RequesterFirstTest, RoomThatRevocableServersTookFirstIsNotWasted) {
    const FreedRoomResult& after = room_that_goes_to("spot");
    EXPECT_EQ(after.kind, FreedRoomResultKind::taken_by_revocable);
}

TEST_F(RequesterFirstTest, RoomThatOtherRequestsTookFirstIsNotWasted) {
    const FreedRoomResult& after = room_that_goes_to("another");
    EXPECT_EQ(after.kind, FreedRoomResultKind::taken_by_regular);
}

TEST_F(RequesterFirstTest, LessThanHalfOfTheSlotsIsNotTaken) {
    full_host();
    for (const char* id : {"r1", "r2", "r3"}) requester(id);
    start();
    for (const char* id : {"r1", "r2", "r3"}) {
        NovaFailure one = failure();
        one.server = id;
        one.spec_server = "r1";
        one.num_instances = 3;
        messages->deliver(body_of(one));
    }
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    boots("second-try", "host1");
    const FreedRoomResult& after = freed_room_of("req-1");
    EXPECT_EQ(after.kind, FreedRoomResultKind::wasted);
    EXPECT_THAT(after.reason, ::testing::HasSubstr("1 of 3 slots taken, by name-of-second-try ("));
}

TEST_F(RequesterFirstTest, ALikeServerThatCameJustBeforeThePlanDidNotTakeTheRoom) {
    full_host();
    cloud.remove("host1a");
    boots("neighbour", "host1");
    requester();
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(freed_room_of("req-1").kind, FreedRoomResultKind::wasted);
}

TEST_F(RequesterFirstTest, ARequesterThatRunsOnAnotherHostWasHelpedElsewhere) {
    full_host();
    requester();
    cloud.add_host("host2", small);
    cloud.add_server("tenant", "host2", "regular", small);
    start();
    messages->deliver(body_of(failure()));
    outcome_of("req-1");
    cloud.remove("tenant");
    boots(uuid_of("requester-1"), "host2");
    EXPECT_EQ(freed_room_of("req-1").kind, FreedRoomResultKind::elsewhere);
}

TEST_F(RequesterFirstTest, ASecondTryThatNovaRefusesShowsAtOnceThatTheRoomIsNoUse) {
    full_host("host1");
    full_host("host2");
    requester("r1");
    requester("r2");
    start();
    messages->deliver(body_of(another("req-1", "r1")));
    const TimePoint freed_at = outcome_of("req-1").at;
    clock.advance(seconds{5});
    NovaFailure again = another("req-2", "r2");
    again.timestamp = "2026-11-20 00:00:30.000000";
    clock.advance(seconds{30});
    messages->deliver(body_of(again));
    outcome_of("req-2");
    const FreedRoomResult& after = freed_room_of("req-1");
    EXPECT_EQ(after.kind, FreedRoomResultKind::wasted);
    EXPECT_THAT(after.reason, ::testing::HasSubstr("Nova refused req-2"));
    EXPECT_LT(after.at - freed_at, settings.cull.watch / 2);
}

TEST_F(RequesterFirstTest, TheAftermathIsWatchedOverARestart) {
    full_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    outcome_of("req-1");
    run_until([&] { return all_acknowledged(1); });
    crash();
    clock.advance(minutes{1});
    start();
    boots("second-try", "host1");
    EXPECT_EQ(freed_room_of("req-1").kind, FreedRoomResultKind::taken);
}

TEST_F(RequesterFirstTest, RoomOfAVictimThatWentByItselfIsWatchedOverARestart) {
    full_host();
    requester();
    start();
    before("server host1a", [&] { cloud.remove("host1a"); });
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    run_until([&] { return all_acknowledged(1); });
    crash();
    start();
    EXPECT_EQ(freed_room_of("req-1").kind, FreedRoomResultKind::wasted);
}

TEST_F(RequesterFirstTest, TheRoomOfACullWhoseRequesterWentAwayServesTheNextLikeRequest) {
    full_host();
    requester("r1");
    requester("r2");
    start();
    messages->deliver(body_of(another("req-1", "r1")));
    run_until([&] { return cloud.count("DELETE") == 1; });
    cloud.remove(uuid_of("r1"));
    messages->deliver(body_of(another("req-2", "r2")));
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::already_there);
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_EQ(freed_room_of("req-1").kind, FreedRoomResultKind::handed_over);
    EXPECT_TRUE(small.fits_in(cloud.free_on("host1")));
}

TEST_F(RequesterFirstTest, OfManyLikeCullsTheRoomOfWhoLeftServesTheNextLikeRequest) {
    // Few of them are asked about, and none that was seen to wait just now: an event tells who
    // left.
    with_events = true;
    full_host("host1");
    full_host("host2");
    constexpr int culls = 7;
    start();
    for (int i = 1; i <= culls + 1; ++i) requester("r" + std::to_string(i));
    for (int i = 1; i <= culls; ++i) {
        const std::string number = std::to_string(i);
        messages->deliver(body_of(another("req-" + number, "r" + number)));
    }
    run_until([&] { return cloud.count("DELETE") == culls; });
    cloud.remove(uuid_of("r4"));
    events->tell(ServerGone{ServerId{uuid_of("r4")}, "", clock.now()});
    messages->deliver(body_of(another("req-8", "r8")));
    EXPECT_EQ(outcome_of("req-8").kind, OutcomeKind::already_there);
    EXPECT_EQ(cloud.count("DELETE"), std::size_t{culls});
    EXPECT_EQ(freed_room_of("req-4").kind, FreedRoomResultKind::handed_over);
}

TEST_F(RequesterFirstTest, AServerThatAsksAgainTakesOverTheRoomThatIsOnItsWay) {
    full_host();
    requester("r1");
    start();
    messages->deliver(body_of(another("req-1", "r1")));
    run_until([&] { return cloud.count("DELETE") == 1; });
    NovaFailure again = another("req-2", "r1");
    again.timestamp = "2026-11-20 00:00:09.000000";
    messages->deliver(body_of(again));
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::already_there);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_THAT(freed_room_of("req-1").reason, ::testing::HasSubstr("asks again"));
}

TEST_F(RequesterFirstTest, AServerThatAsksForLessHoldsNothingOfWhatWasFreedBefore) {
    full_host();
    requester("r1", "regular", 4);
    start();
    NovaFailure first = failure(4);
    first.server = first.spec_server = "r1";
    messages->deliver(body_of(first));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 2U);
    clock.advance(seconds{9});
    requester("r1");
    NovaFailure again = another("req-2", "r1");
    again.timestamp = "2026-11-20 00:00:09.000000";
    messages->deliver(body_of(again));
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::already_there);
    EXPECT_EQ(cloud.count("DELETE"), 2U) << "its own room was counted as another's";
    const FreedRoomResult& after = freed_room_of("req-1");
    EXPECT_EQ(after.kind, FreedRoomResultKind::handed_over);
    EXPECT_THAT(after.reason,
                ::testing::HasSubstr("its server asks again; its room went to req-2"));
}

/// A server that asks again and again is judged in the end.
TEST_F(RequesterFirstTest, TheHeirOfFreedRoomIsJudgedInItsPlace) {
    full_host("host1");
    full_host("host2");
    requester("r1");
    start();
    messages->deliver(body_of(another("req-1", "r1")));
    run_until([&] { return cloud.count("DELETE") == 1; });
    NovaFailure again = another("req-2", "r1");
    again.timestamp = "2026-11-20 00:00:09.000000";
    messages->deliver(body_of(again));
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::already_there);
    EXPECT_EQ(freed_room_of("req-1").kind, FreedRoomResultKind::handed_over);
    clock.advance(seconds{40});
    again = another("req-3", "r1");
    again.timestamp = "2026-11-20 00:00:40.000000";
    messages->deliver(body_of(again));
    const FreedRoomResult& after = freed_room_of("req-2");
    EXPECT_EQ(after.kind, FreedRoomResultKind::wasted);
    EXPECT_THAT(after.reason, ::testing::HasSubstr("Nova refused req-3"));
}

TEST_F(RequesterFirstTest, ARequesterThatAsksForMoreThanTheRoomHasWastedIt) {
    full_host();
    requester("r1");
    start();
    messages->deliver(body_of(another("req-1", "r1")));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    clock.advance(seconds{9});
    requester("r1", "regular", 4);
    NovaFailure larger = failure(4);
    larger.request_id = "req-2";
    larger.server = larger.spec_server = "r1";
    larger.timestamp = "2026-11-20 00:00:09.000000";
    messages->deliver(body_of(larger));
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::freed);
    const FreedRoomResult& after = freed_room_of("req-1");
    EXPECT_EQ(after.kind, FreedRoomResultKind::wasted);
    EXPECT_THAT(after.reason, ::testing::HasSubstr("asks again, as req-2, for something else"));
}

}  // namespace
}  // namespace reaper::test::requester_first_test
