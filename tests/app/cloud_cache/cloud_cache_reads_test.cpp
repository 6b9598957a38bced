// The cloud cache at work: what a decision reads, and what it does about a cache that is wrong.
#include <algorithm>
#include <gtest/gtest.h>

#include "app/reaper_under_test.hpp"

namespace reaper::test::picture_test {
namespace {

const Resources small{{"VCPU", 2}, {"MEMORY_MB", 2048}, {"DISK_GB", 20}};

class PictureTest : public ReaperUnderTest {
protected:
    PictureTest() { with_events = true; }

    void full_host(const std::string& name) {
        cloud.add_host(name, small * 4);
        for (const char* n : {"a", "b", "c", "d"})
            cloud.add_server(name + n, name, "spot", small).record.flavor = flavor();
    }
    static Flavor flavor() {
        Flavor made;
        made.name = "small";
        made.vcpus = 2;
        made.memory_mb = 2048;
        made.root_gb = 20;
        return made;
    }
    void requester(const std::string& id = "requester-1") {
        cloud.add_requester(uuid_of(id), "regular", flavor());
    }
    /// Started, with the first cache made.
    void start_with_picture() {
        start();
        run_until([&] { return status_line().find("hosts,") != std::string::npos; });
        cloud.calls.clear();
    }
    const std::string& status_line() const { return status.line; }
    void ask(const std::string& request = "req-1") {
        NovaFailure one;
        one.request_id = request;
        messages->deliver(body_of(one));
    }
    CloudEvent gone(const std::string& id, const std::string& host) const {
        return ServerGone{ServerId{id}, host, clock.now()};
    }
    CloudEvent seen(const std::string& id) {
        ServerSeen event;
        event.record = cloud.server_at(id).record;
        event.at = clock.now();
        return event;
    }
    /// Calls that are not about one host, one server or the projects.
    std::size_t bulk_calls() const {
        std::size_t count = 0;
        for (const char* call :
             {"servers", "hypervisors", "services", "aggregates", "providers", "summaries"})
            for (const auto& each : cloud.calls)
                if (each == call || each.starts_with(std::string{call} + " ")) ++count;
        for (const auto& each : cloud.calls)
            if (each.starts_with("servers on")) --count;
        return count;
    }
};

TEST_F(PictureTest, ADecisionReadsOnlyTheHostsThatItRestsOn) {
    for (int i = 10; i < 40; ++i) full_host("host" + std::to_string(i));
    requester();
    start_with_picture();
    ask();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(bulk_calls(), 0U);
    EXPECT_LE(cloud.count("room "), 2U);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(PictureTest, NoListOfServersIsReadForADecision) {
    full_host("host1");
    requester();
    start_with_picture();
    ask();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("servers on"), 0U);
    EXPECT_EQ(cloud.count("soft-deleted"), 0U) << "events would have told of one";
    EXPECT_EQ(cloud.count("room rp-host1"), 1U);
}

TEST_F(PictureTest, VictimsThatEventsToldTooLittleOfAreReadBeforeTheNextPlan) {
    full_host("host1");
    requester();
    start_with_picture();
    for (const char* id : {"host1a", "host1b", "host1c"})
        cloud.server_at(id).record.server.task_state = "migrating";  // no event tells it
    ask();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_LE(cloud.count("servers on host1"), 1U);
    EXPECT_FALSE(cloud.exists("host1d"));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(PictureTest, ProtectionsOfWhichNoEventToldAreTheReasonOfTheRefusal) {
    settings.policy.safeguards.protect.owners = true;
    settings.policy.safeguards.protect.tags = {"keep"};
    full_host("host1");
    requester();
    start_with_picture();
    for (const char* id : {"host1a", "host1b", "host1c", "host1d"})
        cloud.server_at(id).record.server.tags = Shared<std::set<std::string>>{{"keep"}};
    ask();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::not_enough);
    EXPECT_EQ(outcome_of("req-1").safeguard, "protected");
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(PictureTest, NoRequestIsRefusedForServersThatNoListShowed) {
    full_host("host1");
    for (const char* id : {"host1a", "host1b", "host1c", "host1d"})
        cloud.server_at(id).record.server.task_state = "migrating";
    requester();
    start_with_picture();
    cloud.server_at("host1b").record.server.task_state = {};
    ask();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_FALSE(cloud.exists("host1b"));
}

TEST_F(PictureTest, WhereServersAreSoftDeletedTheUnfinishedOnesAreAskedForEachTime) {
    full_host("host1");
    cloud.add_server("softly", "host1", "spot", Resources{});
    cloud.soft_delete_by("softly", "its-user");
    requester();
    start_with_picture();
    ask();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("soft-deleted"), 1U);
}

TEST_F(PictureTest, TheEventOfADeletionEndsTheWaitForIt) {
    full_host("host1");
    cloud.deletion_takes = Duration{2'500};  // between two looks at Placement
    requester();
    start_with_picture();
    ask();
    run_until([&] { return cloud.living("host1").size() == 3; });
    const TimePoint went = clock.now();
    for (const char* id : {"host1a", "host1b", "host1c", "host1d"})
        if (!cloud.exists(id)) events->tell(gone(id, "host1"));
    const Outcome& outcome = outcome_of("req-1");
    EXPECT_EQ(outcome.kind, OutcomeKind::freed);
    EXPECT_LE(outcome.at - went, Duration{100});
}

TEST_F(PictureTest, AnEventAloneFreesNoRoom) {
    full_host("host1");
    cloud.deletion_takes = Duration{2'500};
    requester();
    start_with_picture();
    ask();
    run_until([&] { return cloud.count("DELETE") == 1; });
    const TimePoint sent = clock.now();
    const auto step = std::find_if(cloud.calls.begin(), cloud.calls.end(),
                                   [](const auto& call) { return call.starts_with("DELETE"); });
    events->tell(gone(step->substr(7), "host1"));  // long before Placement shows the room
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_GE(clock.now() - sent, Duration{2'400});
}

TEST_F(PictureTest, TheFirstPictureIsMadeOfBulkCalls) {
    for (int i = 10; i < 40; ++i) {
        cloud.add_host("host" + std::to_string(i), small * 4);
        cloud.add_server("s" + std::to_string(i), "host" + std::to_string(i), "spot", small);
    }
    start();
    run_until([&] { return cloud.count("summaries") > 0; });
    run_until([&] { return status_line().find("30 hosts, 30 servers") != std::string::npos; });
    EXPECT_EQ(cloud.count("summaries"), 1U);
    EXPECT_EQ(cloud.count("servers on") + cloud.count("provider ") > 30, false);
}

TEST_F(PictureTest, AVictimThatThePictureStillHasIsNotDeletedTwice) {
    full_host("host1");
    requester();
    start_with_picture();
    cloud.remove("host1a");  // no event told
    ask();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::already_there);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(PictureTest, NoServerIsDeletedForRoomThatAUserFreesWhileTheHostIsRead) {
    with_events = false;  // so the list of servers is read
    full_host("host1");
    requester();
    start_with_picture();
    // Placement was asked before, and told of it still.
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("servers on")) cloud.remove("host1a");
        return {};
    };
    ask();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::already_there);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_EQ(cloud.living("host1").size(), 3U);
}

TEST_F(PictureTest, NoServerIsDeletedForRoomOfAServerThatNovaCallsDeleted) {
    full_host("host1");
    requester();
    start_with_picture();
    cloud.server_at("host1a").record.server.status = "DELETED";
    events->tell(seen("host1a"));
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (call == "allocations host1a") cloud.remove("host1a");  // it is being waited for
        return {};
    };
    ask();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::already_there);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_FALSE(cloud.exists("host1a"));
}

TEST_F(PictureTest, RoomThatWasTakenWithoutAnEventIsSeenBeforeTheDecision) {
    full_host("host1");
    cloud.remove("host1a");
    requester();
    start_with_picture();
    cloud.add_server("new", "host1", "regular", small);
    ask();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_TRUE(cloud.exists("new"));
}

TEST_F(PictureTest, AHostThatWasDisabledWithoutAnEventIsNotChosen) {
    full_host("host1");
    full_host("host2");
    requester();
    start_with_picture();
    cloud.services["host1"].enabled = false;
    ask();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.living("host1").size(), 4U);
    EXPECT_EQ(cloud.living("host2").size(), 3U);
}

TEST_F(PictureTest, AHostThatIsBackIsSeenBeforeARequestIsRefused) {
    full_host("host1");
    cloud.services["host1"].up = false;
    requester();
    start_with_picture();
    cloud.services["host1"].up = true;
    ask();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
}

TEST_F(PictureTest, AProjectThatWasTaggedSinceIsRevocable) {
    full_host("host1");
    cloud.tagged.clear();
    requester();
    start_with_picture();
    cloud.tagged = {ProjectId{"spot"}};
    ask();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
}

TEST_F(PictureTest, AProjectThatIsTaggedNoLongerLosesNoServer) {
    full_host("host1");
    requester();
    start_with_picture();
    cloud.tagged.clear();
    ask();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::not_enough);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(PictureTest, NoRequestIsRefusedForServersWithoutAnEvent) {
    for (int i = 10; i < 50; ++i) cloud.add_host("host" + std::to_string(i), Resources{});
    cloud.add_host("host1", small * 4);
    for (const char* id : {"r1", "r2", "r3", "r4"})
        cloud.add_server(id, "host1", "regular", small).record.flavor = flavor();
    start_with_picture();
    run_until([&] { return cloud.count("services") >= 2; });  // half a minute passed
    cloud.clear_servers();
    full_host("host1");
    requester();
    ask();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
}

TEST_F(PictureTest, AnUnknownServerComesFromItsEvent) {
    cloud.add_host("host1", small * 4);
    requester();
    start_with_picture();
    for (const char* id : {"s1", "s2", "s3", "s4"}) {
        cloud.add_server(id, "host1", "spot", small).record.flavor = flavor();
        events->tell(seen(id));
    }
    ask();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(bulk_calls(), 0U);
}

/// Its room is held for its resize.
TEST_F(PictureTest, WhatAMoveLeavesBehindIsSeenBeforeTheDecision) {
    cloud.add_host("host1", small * 2);
    cloud.add_host("host2", small);
    for (const auto& [id, host, project] :
         {std::tuple{"mover", "host1", "regular"}, std::tuple{"spot1", "host1", "spot"},
          std::tuple{"other", "host2", "regular"}})
        cloud.add_server(id, host, project, small).record.flavor = flavor();
    cloud.lock("spot1", "spot");
    requester();
    start_with_picture();
    cloud.on_call = [this](const std::string& call) -> std::optional<Error> {
        if (call == "actions spot1") {  // after its host was read
            clock.advance(Duration{5});
            ServerSeen moved;
            moved.record = cloud.server_at("mover").record;
            moved.record.server.host = "host2";
            moved.at = clock.now();
            events->tell(moved);
        }
        return std::nullopt;
    };
    ask();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_FALSE(cloud.exists("spot1"));
}

/// Its event is late.
TEST_F(PictureTest, ASecondTryThatNoEventReportedTookWhatWasPromised) {
    full_host("host1");
    requester();
    start_with_picture();
    ask();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    auto& again = cloud.add_server("again", "host1", "regular", small);
    again.record.server.created = clock.now();
    cloud.add_requester(uuid_of("requester-2"), "others", flavor());
    NovaFailure two;
    two.request_id = "req-2";
    two.server = two.spec_server = "requester-2";
    two.project = "others";
    messages->deliver(body_of(two));
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 2U);
}

TEST_F(PictureTest, WithoutEventsTheCloudIsReadForTheDecision) {
    full_host("host1");
    requester();
    start_with_picture();
    events->flow(false);
    cloud.add_host("host2", small * 4);
    ask();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::already_there);
    EXPECT_GT(bulk_calls(), 0U);
}

TEST_F(PictureTest, AfterAGapThePictureIsReadAgain) {
    full_host("host1");
    requester();
    start_with_picture();
    events->flow(false);
    cloud.add_host("host2", small * 4);
    events->flow(true);
    ask();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::already_there);
}

TEST_F(PictureTest, WhatHappenedToAHostIsReadAgainInTheBackground) {
    full_host("host1");
    full_host("host2");
    start_with_picture();
    run_until([&] { return cloud.count("provider ") >= 2; });  // both exact
    cloud.calls.clear();
    cloud.remove("host2a");
    events->tell(gone("host2a", "host2"));
    run_until([&] { return cloud.count("provider rp-host2") == 1; });
    EXPECT_EQ(cloud.count("provider rp-host1"), 0U);
}

TEST_F(PictureTest, ACloudThatDoesNotAnswerDelaysTheRequestAndNothingElse) {
    full_host("host1");
    requester();
    start_with_picture();
    int failures = 0;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("room ") || ++failures > 3) return std::nullopt;
        return Error{Errc::unreachable, "placement: 503"};
    };
    ask();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

}  // namespace
}  // namespace reaper::test::picture_test
