// What nova-scheduler waits for, and how long: Nova and Placement may hang, an answer may be
// capped, a client may leave.
#include <gmock/gmock.h>

#include "app/gateway_house.hpp"

namespace reaper::test::gateway_waits_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class GatewayWaitsTest : public GatewayHouse {};

TEST_F(GatewayWaitsTest, WhereNovasListIsSlowHostsAreOfferedAndTheClaimTells) {
    full_host();
    const ServerId server = booting("new");
    cloud.lists_take = seconds{5};
    start();
    const TimePoint began = clock.now();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_LT(clock.now() - began, seconds{2});
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    const std::size_t lists = cloud.count("servers in");
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204);
    EXPECT_EQ(cloud.count("servers in"), lists) << "the server itself tells all";
    EXPECT_LT(clock.now() - began, seconds{5});
    EXPECT_THAT(record("req-1").request.requesters, ElementsAre(server));
    EXPECT_THAT(service().gateway()->line(), IsEmpty()) << "no other request goes first";
}

TEST_F(GatewayWaitsTest, NovasListsAreAskedForBesideEachOther) {
    full_host();
    const ServerId server = booting("new");
    cloud.lists_take = std::chrono::milliseconds{700};
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("servers in"), 3U);
    EXPECT_THAT(record("req-1").request.requesters, ElementsAre(server)) << "within a second";
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayWaitsTest, AClaimWhoseRoomIsOnItsWayWaitsForIt) {
    full_host();
    const ServerId server = booting("new");
    cloud.deletion_takes = seconds{8};
    settings.gateway.deadline = seconds{5};
    start();
    const TimePoint began = clock.now();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_LT(clock.now() - began, seconds{6});
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
}

TEST_F(GatewayWaitsTest, SoDoesOneThatWasOfferedItsHost) {
    full_host("host1");
    full_host("host2");
    const ServerId server = booting("new");
    booting("other", "spot");
    cloud.deletion_takes = seconds{8};
    settings.gateway.deadline = seconds{5};
    start();
    EXPECT_THAT(search_for("req-1"), UnorderedElementsAre("rp-host1", "rp-host2"));
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayWaitsTest, ARequestThatClaimedItsRoomDeletesNoFurtherServer) {
    full_host();
    const ServerId server = booting("new", "regular", "", 4);
    settings.cull.max_parallel_deletions = 1;
    settings.gateway.deadline = seconds{3};
    start();
    // The second victim is looked at once more when its turn comes, for long.
    before("DELETE", [&] { cloud.slow = {{ServerId{"host1b"}, seconds{4}}}; });
    EXPECT_THAT(search_for("req-1",
                           "/placement/allocation_candidates?limit=1000&"
                           "resources=DISK_GB:40,MEMORY_MB:4096,VCPU:4"),
                ElementsAre("rp-host1"));
    cloud.remove("host1c");
    cloud.remove("host1d");
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1", 4)), 204);
    outcome_of("req-1");
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

/// Nova claims for the servers of a request one after the other.
TEST_F(GatewayWaitsTest, WhatIsOnItsWayForTheNextServerComesAlsoBetweenTwoClaims) {
    settings.gateway.listen = "127.0.0.1:8780";
    settings.gateway.deadline = seconds{4};
    settings.cull.poll_interval = milliseconds{100};
    for (const char* n : {"1", "2"}) {
        cloud.add_host("host" + std::string{n}, small);
        cloud.add_server(uuid_of(n), "host" + std::string{n}, "spot", small);
    }
    const ServerId one = booting("n-1", "regular", "r-two");
    const ServerId two = booting("n-2", "regular", "r-two");
    cloud.soft_delete = true;
    cloud.deletion_takes = seconds{7};
    const std::string second = "FORCE " + uuid_of("2");
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (call != second) return std::nullopt;
        return Error{Errc::server_error, "nova: not now"};
    };
    start();
    const TimePoint began = clock.now();
    EXPECT_THAT(search_for("req-1"), UnorderedElementsAre("rp-host1", "rp-host2"));
    EXPECT_EQ(claimed(claim("req-1", one, "rp-host1")), 204);
    ServerRecord& shown = cloud.server_at(one.str()).record;
    shown.server.host = {};  // until nova-scheduler has a host for each
    shown.server.task_state = "scheduling";
    const Duration until = seconds{10};  // the answer to the search counts no more
    pass(until - (clock.now() - began));
    cloud.on_call = {};
    const std::size_t before = cloud.count(second);
    pass(milliseconds{1500});
    EXPECT_GT(cloud.count(second), before);
    EXPECT_EQ(claimed(claim("req-1", two, "rp-host2")), 204);
}

TEST_F(GatewayWaitsTest, AClaimThatIsRefusedThoughItsRoomIsThereIsNotRepeatedOnAndOn) {
    settings.gateway.listen = "127.0.0.1:8780";
    settings.gateway.deadline = seconds{4};
    for (const std::string n : {"1", "2"}) {
        cloud.add_host("host" + n, small);
        cloud.add_server(uuid_of(n), "host" + n, "spot", small);
    }
    const ServerId one = booting("n-1", "regular", "r-two");
    booting("n-2", "regular", "r-two");
    cloud.on_call = [this, slow = "DELETE " + uuid_of("2")](const std::string& call) {
        cloud.deletion_takes = call == slow ? seconds{60} : seconds{1};
        return std::optional<Error>{};
    };
    start();
    EXPECT_THAT(search_for("req-1"), UnorderedElementsAre("rp-host1", "rp-host2"));
    FakeSearch& made = claim("req-1", one, "rp-host1");
    made.status = 409;
    run_until([&] { return made.done() || made.asked.size() > 20; });
    EXPECT_TRUE(made.done());
    EXPECT_EQ(made.answered, 409);
    made.leave();
    EXPECT_EQ(claimed(claim("req-1", one, "rp-host1")), 204);
}

TEST_F(GatewayWaitsTest, NotForever) {
    full_host();
    const ServerId server = booting("new");
    cloud.deletion_takes = minutes{1};
    settings.gateway.deadline = seconds{5};
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    const TimePoint began = clock.now();
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 409);
    EXPECT_LT(clock.now() - began, seconds{11});
}

TEST_F(GatewayWaitsTest, NovaIsPartOfTheDeadline) {
    full_host();
    booting("new");
    cloud.lists_take = minutes{2};
    settings.gateway.deadline = seconds{10};
    start();
    const TimePoint began = clock.now();
    const std::string granular =
        "/allocation_candidates?resources1=DISK_GB:20,MEMORY_MB:2048,VCPU:2";
    EXPECT_THAT(search_for("req-1", granular), IsEmpty()) << "no hosts can be offered";
    EXPECT_GE(clock.now() - began, seconds{10});
    EXPECT_LT(clock.now() - began, seconds{11});
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(GatewayWaitsTest, WhatIsLeftOfTheDeadlineIsForTheCull) {
    full_host();
    booting("new");
    cloud.lists_take = milliseconds{100};
    cloud.deletion_takes = minutes{1};
    settings.gateway.deadline = seconds{15};
    start();
    const TimePoint began = clock.now();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_LT(clock.now() - began, seconds{17});
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayWaitsTest, WhereThereAreHostsNovaMayNotTakeLong) {
    cloud.add_host("host1", small * 2);
    booting("new");
    cloud.lists_take = minutes{2};
    start();
    const TimePoint began = clock.now();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_LT(clock.now() - began, seconds{4});
}

TEST_F(GatewayWaitsTest, ACallerThatLeavesWhileNovaIsAskedIsNotHelped) {
    full_host();
    booting("new");
    cloud.lists_take = seconds{5};
    start();
    FakeSearch& made = search("req-1");
    run_until([&] { return cloud.count("servers in") > 0; });
    made.leave();
    run_until([&] { return made.done(); });
    pass(minutes{1});
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_TRUE(journal.records.empty());
}

TEST_F(GatewayWaitsTest, AClaimThatHangsHoldsNoOtherHostsUp) {
    full_host("host1");
    cloud.add_host("host2", small * 2);
    cloud.add_host("host3", small * 2);
    const ServerId one = booting("n1", "regular", "r-two");
    const ServerId two = booting("n2", "regular", "r-two");
    start();
    search_for("req-1");
    FakeSearch& stuck = claim("req-1", one, "rp-host2");
    stuck.hangs = true;
    run_until([&] { return !stuck.asked.empty(); });
    const TimePoint began = clock.now();
    EXPECT_EQ(claimed(claim("req-1", two, "rp-host3")), 204);
    EXPECT_LT(clock.now() - began, seconds{1});
    FakeSearch& behind = claim("req-1", two, "rp-host2");
    EXPECT_EQ(claimed(behind), 204) << "nor its own for long";
    EXPECT_LT(clock.now() - began, seconds{5});
    stuck.hangs = false;
    EXPECT_EQ(claimed(stuck), 204);
}

TEST_F(GatewayWaitsTest, BehindACapThereMayBeHostsWithUnpromisedRoom) {
    full_host("host1");
    booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    cloud.remove(uuid_of("new"));  // its room is promised, and free
    cloud.add_host("host2", small);
    booting("spot-1", "spot");
    FakeSearch& capped = search("req-2",
                                "/allocation_candidates?limit=1&"
                                "resources=DISK_GB:20,MEMORY_MB:2048,VCPU:2");
    EXPECT_THAT(found(capped), ElementsAre("rp-host2"));
    EXPECT_THAT(capped.asked, Contains(HasSubstr("limit=10&")));
}

TEST_F(GatewayWaitsTest, PlacementMayHideHostsWhateverItIsAsked) {
    full_host("host1");
    settings.gateway.escrow = false;
    booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    cloud.add_host("host2", small);
    cloud.add_host("host3", small);
    booting("n1", "regular", "r-two");
    booting("n2", "regular", "r-two");
    pass(seconds{30});
    const TimePoint began = clock.now();
    FakeSearch& capped = search("req-2");
    capped.most = 1;
    EXPECT_THAT(found(capped), UnorderedElementsAre("rp-host2", "rp-host3"));
    EXPECT_LT(clock.now() - began, seconds{2});
    EXPECT_EQ(cloud.count("DELETE"), 1U) << "for the first one";
}

TEST_F(GatewayWaitsTest, WhereHiddenHostsAreFullRoomIsFreed) {
    full_host("host1");
    settings.gateway.escrow = false;
    booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    booting("second");
    FakeSearch& capped = search("req-2");
    capped.most = 1;
    EXPECT_THAT(found(capped), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 2U);
}

// ---- a host that hangs ----

class HungHostTest : public GatewayHouse {
protected:
    HungHostTest() {
        // What is larger than needed comes second.
        cloud.add_host("host1", small * 2);
        cloud.add_server(uuid_of("a"), "host1", "spot", small);
        cloud.add_server(uuid_of("b"), "host1", "spot", small);
        cloud.add_host("host2", small * 4);
        cloud.add_server(uuid_of("c"), "host2", "spot", small * 2);
        cloud.add_server(uuid_of("d"), "host2", "spot", small * 2);
        settings.gateway.deadline = seconds{5};
    }
    /// The deletion on host1 is accepted, and never done.
    void hang() {
        booting("first", "one");
        cloud.ignore_deletes = true;
        start();
        search_for("req-1");
        ASSERT_EQ(cloud.count("DELETE"), 1U);
        EXPECT_EQ(cloud.living("host2").size(), 2U);
        cloud.ignore_deletes = false;
    }
};

TEST_F(HungHostTest, IsPassedOverByAllOthers) {
    hang();
    pass(seconds{40});
    EXPECT_THAT(status.line, HasSubstr("deletions hang on host1"));
    booting("second", "two");
    EXPECT_THAT(search_for("req-2"), ElementsAre("rp-host2"));
    const auto& plan = std::get<Plan>(record("req-2").plans.front().decision);
    ASSERT_FALSE(plan.rejected.empty());
    EXPECT_THAT(plan.rejected.front().reason, HasSubstr("a deletion there hangs"));
}

TEST_F(HungHostTest, UntilADeletionEndsThere) {
    hang();
    pass(seconds{40});
    for (const char* name : {"a", "b"})
        if (cloud.count("DELETE " + uuid_of(name)) > 0) cloud.remove(uuid_of(name));
    pass(seconds{5});
    EXPECT_THAT(status.line, Not(HasSubstr("hang")));
}

}  // namespace
}  // namespace reaper::test::gateway_waits_test
