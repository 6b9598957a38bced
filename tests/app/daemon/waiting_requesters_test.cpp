// A server for which the gateway freed room may be gone, elsewhere, or failed by then: the room is
// released within seconds, or kept for a server that is likely to come back.
#include <gmock/gmock.h>

#include "app/gateway_house.hpp"

namespace reaper::test::waiting_requesters_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class WaitingRequestersTest : public GatewayHouse {
protected:
    WaitingRequestersTest() {
        settings.cull.promise = minutes{1};
        settings.cull.watch = minutes{15};
        settings.gateway.listen = "127.0.0.1:8780";
        with_events = true;
    }
    /// A host full of revocable servers, with ids as Nova gives them.
    void full_of(const std::vector<std::string>& names, const std::string& host = "host1") {
        cloud.add_host(host, small * static_cast<Amount>(names.size()));
        for (const auto& name : names) cloud.add_server(uuid_of(name), host, "spot", small);
    }
    /// Room was freed for `new`, and waits to be claimed.
    void freed_for_new() {
        full_of({"a", "b"});
        booting("new");
        start();
        EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
        ASSERT_THAT(cloud.consumers, SizeIs(1));
    }
    void fails(const std::string& id) {
        Server& server = cloud.server_at(uuid_of(id)).record.server;
        server.status = "ERROR";
        server.task_state = "";
    }
    /// Nova tells of `new` that it found no host, in the message of req-1.
    void message_of_failure() {
        requester("new");
        NovaFailure one = failure();
        one.server = one.spec_server = "new";
        messages->deliver(body_of(one));
    }
    bool kept() const { return !cloud.consumers.empty(); }
    void tell_gone(const std::string& id) {
        ServerGone gone;
        gone.id = ServerId{uuid_of(id)};
        gone.at = clock.now();
        events->tell(gone);
    }
};

TEST_F(WaitingRequestersTest, WhereNovaIsSlowOneQuestionIsForAllVictims) {
    full_of({"a", "b", "c"});
    const ServerId server = booting("new", "regular", "", 6);
    for (const char* const name : {"a", "b", "c", "new"})
        cloud.slow[ServerId{uuid_of(name)}] = seconds{3};
    settings.gateway.deadline = minutes{1};
    std::optional<TimePoint> planned, last;
    int asked = 0;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        const auto known = journal.records.find(RequestId{"req-1"});
        if (known == journal.records.end() || known->second.plans.empty()) return std::nullopt;
        if (!planned) planned = clock.now();
        if (!last && call == "server " + server.str()) ++asked;
        if (call.starts_with("DELETE")) last = clock.now();
        return std::nullopt;
    };
    start();
    EXPECT_THAT(search_for("req-1",
                           "/allocation_candidates?resources=DISK_GB:60,"
                           "MEMORY_MB:6144,VCPU:6"),
                ElementsAre("rp-host1"));
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1", 6)), 204);
    ASSERT_TRUE(planned && last);
    EXPECT_EQ(cloud.count("DELETE"), 3U);
    EXPECT_LE(*last - *planned, seconds{7}) << "two looks";
    EXPECT_EQ(asked, 1);
}

// ---- after the cull ----

TEST_F(WaitingRequestersTest, WhenItsServerIsDeletedTheRoomIsReleasedWithinSeconds) {
    freed_for_new();
    cloud.remove(uuid_of("new"));
    pass(seconds{9});
    EXPECT_FALSE(kept());
    EXPECT_TRUE(small.fits_in(cloud.free_on("host1")));
}

TEST_F(WaitingRequestersTest, WithAnEventThatIsSooner) {
    freed_for_new();
    pass(seconds{20});
    cloud.remove(uuid_of("new"));
    tell_gone("new");
    pass(seconds{4});
    EXPECT_FALSE(kept());
}

TEST_F(WaitingRequestersTest, SoItIsWhenItRunsElsewhere) {
    freed_for_new();
    cloud.add_host("host2", small);
    boots(uuid_of("new"), "host2");
    pass(seconds{9});
    EXPECT_FALSE(kept());
}

TEST_F(WaitingRequestersTest, OrFailedElsewhere) {
    freed_for_new();
    cloud.add_host("host2", small);
    fails("new");
    cloud.server_at(uuid_of("new")).record.server.host = "host2";
    pass(seconds{9});
    EXPECT_FALSE(kept());
}

TEST_F(WaitingRequestersTest, OfTwoServersOneThatIsGoneLeavesTheOthersRoom) {
    full_of({"a", "b", "c"});
    booting("one", "regular", "r-both");
    const ServerId two = booting("two", "regular", "r-both");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    cloud.remove(uuid_of("one"));
    pass(minutes{2});
    EXPECT_TRUE(kept()) << "it is searched for still";
    EXPECT_EQ(claimed(claim("req-1", two, "rp-host1")), 204);
    pass(seconds{5});
    EXPECT_FALSE(kept());
    EXPECT_TRUE(small.fits_in(cloud.free_on("host1")));
}

TEST_F(WaitingRequestersTest, AsLongAsItIsSearchedForTheRoomIsItsOwn) {
    freed_for_new();
    const ServerId server{uuid_of("new")};
    pass(minutes{5});
    EXPECT_TRUE(kept());
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204);
}

TEST_F(WaitingRequestersTest, ButNotForever) {
    freed_for_new();
    pass(minutes{17});
    EXPECT_FALSE(kept()) << "the watch is over";
}

TEST_F(WaitingRequestersTest, ThePromiseCountsFromWhenItFailed) {
    freed_for_new();
    pass(seconds{50});
    fails("new");
    pass(seconds{50});
    EXPECT_TRUE(kept()) << "its user is likely to come back";
    pass(seconds{20});
    EXPECT_FALSE(kept());
}

TEST_F(WaitingRequestersTest, AlsoIfItIsDeletedThen) {
    freed_for_new();
    fails("new");
    pass(seconds{10});
    cloud.remove(uuid_of("new"));
    tell_gone("new");
    pass(seconds{30});
    EXPECT_TRUE(kept());
    booting("again");
    EXPECT_THAT(search_for("req-2"), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 1U) << "the first one's room";
}

TEST_F(WaitingRequestersTest, WhatWasFreedForOneWhoseClaimWasRefusedIsKeptFromWhenItFailed) {
    full_of({"a", "b"});
    cloud.add_host("host2", small);
    cloud.add_server(uuid_of("c"), "host2", "regular", small);
    const ServerId server = booting("new");
    booting("other", "spot");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host2")), 409) << "it is freed on host1";
    ASSERT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    pass(seconds{55});
    message_of_failure();
    pass(seconds{1});
    cloud.remove(uuid_of("new"));
    pass(seconds{50});
    EXPECT_TRUE(kept());
    pass(seconds{20});
    EXPECT_FALSE(kept());
}

TEST_F(WaitingRequestersTest, ALikeOneThatNovaRefusedBecauseItIsKeptHasIt) {
    freed_for_new();
    fails("new");
    pass(seconds{10});
    requester("again");
    NovaFailure refused = another("req-2", "again");
    refused.timestamp = "2026-11-20 00:00:10.000000";  // the room was there
    messages->deliver(body_of(refused));
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::already_there);
    pass(seconds{10});
    EXPECT_TRUE(kept()) << "for the one that comes next";
    EXPECT_EQ(record("req-1").freed_room->kind, FreedRoomResultKind::handed_over);
    booting("third");
    EXPECT_THAT(search_for("req-3"), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(WaitingRequestersTest, AHostIsNotToBlameWhereItsRequesterWasDeleted) {
    freed_for_new();
    cloud.remove(uuid_of("new"));
    pass(minutes{17});
    ASSERT_TRUE(record("req-1").freed_room);
    EXPECT_EQ(record("req-1").freed_room->kind, FreedRoomResultKind::wasted);
    EXPECT_THAT(record("req-1").freed_room->untaken, IsEmpty());
}

// ---- in the middle of a cull ----

TEST_F(WaitingRequestersTest, ARequesterThatIsDeletedInMidCullGetsNoHost) {
    full_of({"a", "b"});
    booting("new");
    cloud.deletion_takes = seconds{6};
    start();
    FakeSearch& made = search("req-1");
    run_until([&] { return cloud.count("DELETE") == 1U; });
    cloud.remove(uuid_of("new"));
    tell_gone("new");
    EXPECT_THAT(found(made), IsEmpty());
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::incomplete);
    EXPECT_THAT(outcome_of("req-1").reason, HasSubstr("is gone"));
    pass(seconds{9});
    EXPECT_FALSE(kept());
    EXPECT_TRUE(small.fits_in(cloud.free_on("host1")));
}

TEST_F(WaitingRequestersTest, AndWhatWasNotSentIsNotDeleted) {
    full_of({"a", "b"});
    booting("new", "regular", "", 4);
    settings.cull.max_parallel_deletions = 1;
    start();
    before("DELETE", [&] {
        cloud.remove(uuid_of("new"));
        tell_gone("new");
    });
    std::string query = two_cpus;
    query.replace(query.find("VCPU%3A2"), 8, "VCPU%3A4");
    query.replace(query.find("MEMORY_MB%3A2048"), 16, "MEMORY_MB%3A4096");
    query.replace(query.find("DISK_GB%3A20"), 12, "DISK_GB%3A40");
    EXPECT_THAT(search_for("req-1", query), IsEmpty());
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::incomplete);
    pass(seconds{9});
    EXPECT_FALSE(kept());
}

TEST_F(WaitingRequestersTest, WithoutEventsNovaIsAskedPeriodically) {
    with_events = false;
    full_of({"a", "b"});
    booting("new", "regular", "", 4);
    settings.cull.max_parallel_deletions = 1;
    start();
    // After the first deletion, a look at the next victim takes longer than an answer counts.
    before("DELETE", [&] {
        cloud.remove(uuid_of("new"));
        for (const char* name : {"a", "b"}) cloud.slow[ServerId{uuid_of(name)}] = seconds{3};
    });
    std::string query = two_cpus;
    query.replace(query.find("VCPU%3A2"), 8, "VCPU%3A4");
    query.replace(query.find("MEMORY_MB%3A2048"), 16, "MEMORY_MB%3A4096");
    query.replace(query.find("DISK_GB%3A20"), 12, "DISK_GB%3A40");
    EXPECT_THAT(search_for("req-1", query), IsEmpty());
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

// ---- after a restart ----

TEST_F(WaitingRequestersTest, WhatAPreviousProcessKeptForAGoneServerIsReleased) {
    freed_for_new();
    outcome_of("req-1");
    crash();
    cloud.remove(uuid_of("new"));
    start();
    pass(seconds{9});
    EXPECT_FALSE(kept());
    EXPECT_TRUE(small.fits_in(cloud.free_on("host1")));
}

TEST_F(WaitingRequestersTest, AlsoIfItDiedInTheMiddleOfTheCull) {
    full_of({"a", "b"});
    booting("new", "regular", "", 4);
    settings.cull.max_parallel_deletions = 1;
    settings.gateway.deadline = minutes{2};
    cloud.deletion_takes = seconds{4};
    start();
    std::string query = two_cpus;
    query.replace(query.find("VCPU%3A2"), 8, "VCPU%3A4");
    query.replace(query.find("MEMORY_MB%3A2048"), 16, "MEMORY_MB%3A4096");
    query.replace(query.find("DISK_GB%3A20"), 12, "DISK_GB%3A40");
    search("req-1", query);
    run_until([&] { return cloud.count("DELETE") == 1U; });
    crash();
    cloud.remove(uuid_of("new"));
    start();
    pass(seconds{15});
    EXPECT_FALSE(kept());
    EXPECT_LE(cloud.count("DELETE"), 2U);
    EXPECT_TRUE(journal.records.at(RequestId{"req-1"}).outcome);
}

TEST_F(WaitingRequestersTest, WhatIsKeptForOneWhoStillWaitsStays) {
    freed_for_new();
    const ServerId server{uuid_of("new")};
    outcome_of("req-1");
    crash();
    start();
    pass(minutes{3});
    EXPECT_TRUE(kept());
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204);
}

}  // namespace
}  // namespace reaper::test::waiting_requesters_test
