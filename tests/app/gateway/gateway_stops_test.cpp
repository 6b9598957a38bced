// The reaper stops, or stops helping, in the middle of what the gateway does: what was begun is
// finished, and a claim of its room elsewhere finds it free.
#include <gmock/gmock.h>

#include "app/gateway_house.hpp"

namespace reaper::test::gateway_stops_test {
namespace {

using nlohmann::json;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class GatewayStopsTest : public GatewayHouse {
protected:
    GatewayStopsTest() { settings.gateway.listen = "127.0.0.1:8780"; }
    /// With ids as Nova gives them: their room is kept.
    void full_host() {
        cloud.add_host("host1", small * 4);
        for (const char* n : {"a", "b", "c", "d"})
            cloud.add_server(uuid_of(n), "host1", "spot", small);
    }
    std::pair<int, json> state() {
        FakeSearch& made = search("", "/placement/reaper-gateway");
        run_until([&] { return made.done(); });
        return {made.answered, json::parse(*made.body)};
    }
    bool is_asked() { return state().first == 200; }
};

TEST_F(GatewayStopsTest, AStopInTheMiddleOfACullFailsNoRequest) {
    full_host();
    booting("new");
    cloud.deletion_takes = seconds{8};
    start();
    FakeSearch& made = search("req-1");
    run_until([&] { return cloud.count("DELETE") == 1U; });
    service().stop();
    EXPECT_FALSE(is_asked());
    EXPECT_THAT(found(made), ElementsAre("rp-host1"));
    EXPECT_TRUE(small.fits_in(cloud.free_on("host1"))) << "its claim comes to Placement itself";
    EXPECT_TRUE(cloud.consumers.empty());
    stop_and_join();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayStopsTest, NorWhileAClaimWaits) {
    full_host();
    const ServerId server = booting("new");
    booting("other", "spot");
    cloud.deletion_takes = seconds{8};
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    FakeSearch& made = claim("req-1", server, "rp-host1");
    run_until([&] { return cloud.count("DELETE") == 1U; });
    service().stop();
    run_until([&] { return ended.has_value(); });
    EXPECT_TRUE(made.done()) << "it is answered before the end";
    EXPECT_EQ(made.answered, 204);
}

TEST_F(GatewayStopsTest, AStopBeforeAnythingIsDoneIsNotWaitedFor) {
    full_host();
    booting("new");
    start();
    TimePoint stopped;
    journal.fails = [&](const std::string& what) {
        if (what != "admit req-1") return false;
        stopped = clock.now();
        service().stop();
        return true;
    };
    EXPECT_THAT(search_for("req-1"), IsEmpty());
    EXPECT_LT(clock.now() - stopped, seconds{1});
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    stop_and_join();
}

TEST_F(GatewayStopsTest, ItsWaitStillHasItsDeadline) {
    full_host();
    booting("new");
    cloud.deletion_takes = minutes{2};
    settings.gateway.deadline = seconds{10};
    start();
    const TimePoint began = clock.now();
    FakeSearch& made = search("req-1");
    run_until([&] { return cloud.count("DELETE") == 1U; });
    service().stop();
    EXPECT_THAT(found(made), IsEmpty());
    EXPECT_LT(clock.now() - began, seconds{12});
    stop_and_join();
}

TEST_F(GatewayStopsTest, ARequesterOfEscrowStillFindsTheGateway) {
    full_host();
    const ServerId server = booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    ASSERT_FALSE(cloud.consumers.empty());
    pause.why = "paused by alice: maintenance";
    auto [said, told] = state();
    EXPECT_EQ(said, 200);
    EXPECT_THAT(told["passes_through"].get<std::string>(), HasSubstr("maintenance"));
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204);
    EXPECT_FALSE(is_asked()) << "no claim is expected";
}

TEST_F(GatewayStopsTest, OnlyForAShortTime) {
    full_host();
    booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    messages->disconnect();
    EXPECT_TRUE(is_asked());
    pass(seconds{6});
    EXPECT_FALSE(is_asked());
}

TEST_F(GatewayStopsTest, AStopWaitsForTheClaimOfEscrowedRoom) {
    full_host();
    const ServerId server = booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    service().stop();
    EXPECT_TRUE(is_asked());
    pass(seconds{3});
    EXPECT_FALSE(ended.has_value());
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204);
    const TimePoint claimed_at = clock.now();
    run_until([&] { return ended.has_value(); });
    EXPECT_LT(clock.now() - claimed_at, seconds{1});
}

TEST_F(GatewayStopsTest, ButNotForLong) {
    full_host();
    booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    const TimePoint began = clock.now();
    stop_and_join();
    EXPECT_LT(clock.now() - began, seconds{6});
    EXPECT_TRUE(cloud.consumers.empty()) << "and releases the room";
}

TEST_F(GatewayStopsTest, ARequesterMayClaimElsewhereWhileEverythingPasses) {
    full_host();
    booting("new");
    cloud.deletion_takes = seconds{8};
    start();
    FakeSearch& made = search("req-1");
    run_until([&] { return cloud.count("DELETE") == 1U; });
    pause.why = "paused by alice: maintenance";
    EXPECT_THAT(found(made), ElementsAre("rp-host1"));
    EXPECT_FALSE(is_asked());
    EXPECT_TRUE(small.fits_in(cloud.free_on("host1")));
}

}  // namespace
}  // namespace reaper::test::gateway_stops_test
