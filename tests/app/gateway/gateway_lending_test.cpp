// Lending through a whole service: tenants borrow idle reserved room, and go when its role comes.
#include <gmock/gmock.h>

#include "app/lending_house.hpp"

namespace reaper::test::gateway_lending_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const ResourceClass vcpu{"VCPU"};

class GatewayLendingTest : public LendingHouse {};

TEST_F(GatewayLendingTest, ARevocableServerBorrowsAtItsFirstTry) {
    start_and_hold();
    EXPECT_EQ(held(), 4);
    borrow("tenant", "req-1");
    EXPECT_EQ(held(), 2);
    EXPECT_EQ(lent(), 2);
    EXPECT_THAT(only().tenants, ElementsAre(ServerId{uuid_of("tenant")}));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_EQ(record("req-1").outcome->kind, OutcomeKind::already_there);
}

TEST_F(GatewayLendingTest, NothingIsLentThatIsNotToBe) {
    reserve("host1", 4, false);
    start_and_hold();
    booting("tenant", "spot");
    EXPECT_THAT(search_for("req-1"), IsEmpty());
    EXPECT_EQ(held(), 4);
}

TEST_F(GatewayLendingTest, LentRoomIsForItsBorrowerOnly) {
    start_and_hold();
    const ServerId tenant = booting("tenant", "spot");
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    booting("other", "regular");
    EXPECT_THAT(search_for("req-2"), IsEmpty()) << "it is for the tenant";
    EXPECT_EQ(claimed(claim("req-1", tenant, "rp-host1")), 204);
    comes("tenant", "spot");
    pass(seconds{15});
    booting("third", "regular");
    EXPECT_THAT(search_for("req-3"), IsEmpty()) << "he goes for his lender alone";
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(GatewayLendingTest, WhenTheTenantLeavesTheReservationGrowsBack) {
    start_and_hold();
    borrow("tenant", "req-1");
    cloud.remove(uuid_of("tenant"));
    tell_gone(uuid_of("tenant"));
    pass(seconds{15});
    EXPECT_EQ(held(), 4);
    EXPECT_EQ(lent(), 0);
}

TEST_F(GatewayLendingTest, WhoCameAndWentAtOnceLeavesNoPromiseBehind) {
    start_and_hold();
    borrow("stays", "req-1");
    const ServerId tenant = booting("tenant", "spot");
    ASSERT_THAT(search_for("req-2"), ElementsAre("rp-host1"));
    ASSERT_EQ(claimed(claim("req-2", tenant, "rp-host1")), 204);
    comes("tenant", "spot");
    cloud.remove(uuid_of("tenant"));
    tell_gone(uuid_of("tenant"));  // before any read
    const ServerId first = booting("first", "eng");
    EXPECT_THAT(search_for("req-3"), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_EQ(claimed(claim("req-3", first, "rp-host1")), 204);
}

TEST_F(GatewayLendingTest, WhoDoesNotComeForItLosesIt) {
    start_and_hold();
    booting("tenant", "spot");
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    cloud.remove(uuid_of("tenant"));
    EXPECT_EQ(held(), 2);
    pass(minutes{2});
    EXPECT_EQ(held(), 4);
}

TEST_F(GatewayLendingTest, IdleRoomGoesFirstThenTenantsAndNoMoreThanNeeded) {
    start_and_hold();
    borrow("tenant", "req-1");
    const ServerId first = booting("first", "eng");
    EXPECT_THAT(search_for("req-2"), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 0U) << "2 are idle";
    EXPECT_EQ(claimed(claim("req-2", first, "rp-host1")), 204);
    comes("first", "eng");
    pass(seconds{15});
    EXPECT_EQ(held(), 0);
    const ServerId second = booting("second", "eng");
    EXPECT_THAT(search_for("req-3"), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_FALSE(cloud.exists(uuid_of("tenant")));
    EXPECT_EQ(claimed(claim("req-3", second, "rp-host1")), 204);
}

TEST_F(GatewayLendingTest, AQueryShowsThatTenantsWouldGoAndChangesNothing) {
    start_and_hold();
    borrow("tenant", "req-1");
    borrow("another", "req-2");
    EXPECT_EQ(lent(), 4);
    const auto asks = [&](const std::string& project) {
        Request request;
        request.id = RequestId{"a question"};
        request.project = ProjectId{project};
        request.resources = small;
        request.slots = 1;
        std::optional<std::optional<Decision>> told;
        boost::asio::co_spawn(io(), service().would_decide(std::move(request)),
                              [&](std::exception_ptr error, std::optional<Decision> decision) {
                                  if (error) std::rethrow_exception(error);
                                  told = std::move(decision);
                              });
        run_until([&] { return told.has_value(); });
        return (*told).value();
    };
    const Decision own = asks("eng");
    ASSERT_TRUE(std::holds_alternative<Plan>(own));
    EXPECT_THAT(std::get<Plan>(own).victims(), SizeIs(1));
    EXPECT_FALSE(std::holds_alternative<Plan>(asks("stranger")));
    EXPECT_FALSE(service().view()->ledger.reserved().admitted(RequestId{"a question"}));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_EQ(lent(), 4);
}

TEST_F(GatewayLendingTest, WhereNoHostCanBeOfferedASlowListIsWaitedFor) {
    start_and_hold();
    cloud.lists_take = seconds{3};
    const ServerId tenant = booting("tenant", "spot");
    const TimePoint began = clock.now();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_GE(clock.now() - began, seconds{3});
    EXPECT_EQ(claimed(claim("req-1", tenant, "rp-host1")), 204);
    EXPECT_EQ(held(), 2);
}

TEST_F(GatewayLendingTest, IdleRoomGoesFirstOnAHostInCooldownToo) {
    start_on_host3();
    borrow("tenant", "req-1", "host3");
    booting("late", "spot");
    EXPECT_THAT(search_for("req-2"), ElementsAre("rp-host3"));
    requester("late", "spot");  // it failed, and does not come again
    pass(minutes{2});           // the room is reserved again
    booting("alike", "spot");
    EXPECT_THAT(search_for("req-3"), ElementsAre("rp-host3"));
    EXPECT_THAT(record("req-3").outcome->reason, HasSubstr("was not taken"));
    cloud.remove(uuid_of("late"));
    cloud.remove(uuid_of("alike"));
    pass(minutes{2});
    EXPECT_EQ(held(), 4);
    booting("first", "eng");
    EXPECT_THAT(search_for("req-4"), ElementsAre("rp-host3"));
    EXPECT_EQ(cloud.count("DELETE"), 0U) << "4 are idle";
    EXPECT_EQ(held(), 2);
}

TEST_F(GatewayLendingTest, WhoTookItsRoomTellsNothingAgainstItsHost) {
    start_and_hold();
    const ServerId tenant = booting("tenant", "spot");
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(claimed(claim("req-1", tenant, "rp-host1")), 204);
    comes("tenant", "spot");
    pass(seconds{1});
    booting("alike", "spot");
    EXPECT_THAT(search_for("req-2"), ElementsAre("rp-host1"));
    EXPECT_THAT(record("req-2").outcome->reason, Not(HasSubstr("was not taken")));
}

TEST_F(GatewayLendingTest, WhatIsClaimedByNowIsNotLentTwice) {
    start_on_host3();
    const ServerId one = booting("one", "spot");
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host3"));
    EXPECT_EQ(claimed(claim("req-1", one, "rp-host3")), 204);
    booting("two", "spot");
    EXPECT_THAT(search_for("req-2"), ElementsAre("rp-host3"));
    EXPECT_EQ(held(), 2);
}

TEST_F(GatewayLendingTest, ItIsLentAgainAfterACalmTime) {
    start_and_hold();
    borrow("tenant", "req-1");
    const ServerId lender = booting("lender", "eng", "", 4);
    EXPECT_THAT(search_for("req-2",
                           "/placement/allocation_candidates?limit=1000&resources=DISK_GB%3A40%2C"
                           "MEMORY_MB%3A4096%2CVCPU%3A4&root_required=%21COMPUTE_STATUS_DISABLED"),
                ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    cloud.remove(lender.str());  // it comes and goes
    pass(minutes{2});
    EXPECT_EQ(held(), 4);
    booting("again", "spot");
    EXPECT_THAT(search_for("req-3"), IsEmpty()) << "not at once";
    EXPECT_GT(only().calm_for, Duration{0});
    pass(minutes{10});
    cloud.remove(uuid_of("again"));
    booting("later", "spot");
    EXPECT_THAT(search_for("req-4"), ElementsAre("rp-host1"));
}

TEST_F(GatewayLendingTest, ACalmTimeOutlivesTheProcess) {
    start_and_hold();
    borrow("tenant", "req-1");
    const ServerId lender = booting("lender", "eng");
    const ServerId second = booting("second", "eng");
    EXPECT_THAT(search_for("req-2"), ElementsAre("rp-host1"));
    EXPECT_EQ(claimed(claim("req-2", lender, "rp-host1")), 204);
    EXPECT_THAT(search_for("req-3"), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    cloud.remove(lender.str());
    cloud.remove(second.str());
    pass(minutes{2});
    crash();
    start_and_hold();
    pass(seconds{15});
    EXPECT_EQ(held(), 4);
    EXPECT_GT(only().calm_for, Duration{0});
    booting("again", "spot");
    EXPECT_THAT(search_for("req-4"), IsEmpty()) << "not at once";
    pass(minutes{10});
    cloud.remove(uuid_of("again"));
    booting("later", "spot");
    EXPECT_THAT(search_for("req-5"), ElementsAre("rp-host1"));
}

TEST_F(GatewayLendingTest, WhatIsLentIsUnreservedWhenItsTenantsAreGone) {
    settings.reservations.static_ones.clear();
    start();
    run_until([&] { return service().reservations()->why_not_known() == std::nullopt; });
    ReserveOrder wanted;
    wanted.host = HostId{"rp-host1"};
    wanted.name.role = Role::parse("eng").value();
    wanted.resources = Resources{{"VCPU", 4}, {"MEMORY_MB", 4096}, {"DISK_GB", 40}};
    wanted.lending = LendingPolicy{true, {}, {}};
    ASSERT_EQ(given(wanted), "applied");
    borrow("tenant", "req-1");
    UnreserveOrder back;
    back.host = wanted.host;
    back.name = wanted.name;
    back.resources = wanted.resources;
    EXPECT_THAT(given(back), HasSubstr("lent are 2 VCPU"));
    back.lent_too = true;
    EXPECT_EQ(given(back), "waiting");
    EXPECT_TRUE(cloud.exists(uuid_of("tenant")));
    pass(minutes{1});
    EXPECT_FALSE(cloud.exists(uuid_of("tenant")));
    EXPECT_THAT(service().reservations()->list(), IsEmpty());
    EXPECT_EQ(service().reservations()->orders().front().kind, OrderState::Kind::applied);
    EXPECT_EQ(cloud.free_on("host1").get(vcpu), 4);
}

TEST_F(GatewayLendingTest, NoMoreTenantsGoThanAreInTheWay) {
    settings.reservations.static_ones.clear();
    start();
    run_until([&] { return service().reservations()->why_not_known() == std::nullopt; });
    ReserveOrder wanted;
    wanted.host = HostId{"rp-host1"};
    wanted.name.role = Role::parse("eng").value();
    wanted.resources = small * 2;
    wanted.lending = LendingPolicy{true, {}, {}};
    ASSERT_EQ(given(wanted), "applied");
    borrow("one", "req-1");
    borrow("two", "req-2");
    UnreserveOrder back;
    back.host = wanted.host;
    back.name = wanted.name;
    back.resources = small;
    back.lent_too = true;
    EXPECT_EQ(given(back), "waiting");
    pass(minutes{5});
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_EQ(only().reservation.asked, small);
    EXPECT_EQ(held(), 2) << "what came free replaces what is lent";
}

TEST_F(GatewayLendingTest, WhoBeginsToServeKnowsTenantsBeforeHeDecides) {
    start_and_hold();
    borrow("tenant", "req-1");
    cloud.remove(uuid_of("tenant"));
    tell_gone(uuid_of("tenant"));
    pass(seconds{15});
    borrow("again", "req-2");
    borrow("more", "req-3");
    crash();
    // The register can't be read for a while.
    const auto since = clock.now();
    cloud.on_call = [this, since](const std::string& call) -> std::optional<Error> {
        const bool reads = call.starts_with("room 4c1b7d2e") || call.starts_with("allocations");
        if (!reads || clock.now() > since + seconds{8}) return std::nullopt;
        return Error{Errc::timeout, "placement: no answer"};
    };
    start();
    booting("stranger", "regular");
    EXPECT_THAT(search_for("req-4"), IsEmpty());
    EXPECT_EQ(cloud.count("DELETE"), 0U) << "both are tenants";
}

TEST_F(GatewayLendingTest, WhoBeginsToServeKnowsWhoseRoomItIsBeforeHeDecides) {
    cloud.add_host("host3", small);
    cloud.add_server(uuid_of("spot"), "host3", "spot", small);
    start_and_hold();
    crash();
    const auto since = clock.now();
    cloud.on_call = [this, since](const std::string& call) -> std::optional<Error> {
        const bool reads = call.starts_with("room 4c1b7d2e") || call.starts_with("allocations");
        if (!reads || clock.now() > since + seconds{8}) return std::nullopt;
        return Error{Errc::timeout, "placement: no answer"};
    };
    start();
    booting("engineer", "eng");
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 0U) << "room is idle that is reserved for it";
}

TEST_F(GatewayLendingTest, ARevocableServerWaitsForNoDeletion) {
    reserve("host1", 2);
    start_and_hold("host2");
    run_until([&] { return cloud.free_on("host1").get(vcpu) == 2; });
    auto& leaving = cloud.add_server(uuid_of("leaving"), "host1", "spot", small);
    leaving.record.server.task_state = "deleting";
    tell_of(uuid_of("leaving"));
    pass(seconds{15});
    booting("tenant", "spot");
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1")) << "what is idle is lent";
    EXPECT_EQ(held(), 0);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(GatewayLendingTest, RoomWithoutAnEventIsStillFound) {
    settings.reservations.interval = seconds{60};
    cloud.add_server(uuid_of("stranger"), "host1", "regular", small);
    start();
    run_until([&] { return cloud.free_on("host1").get(vcpu) <= 0; });
    pass(seconds{15});
    EXPECT_EQ(held(), 2);
    cloud.remove(uuid_of("stranger"));  // as the end of a move: there is no event
    pass(minutes{3});
    EXPECT_EQ(held(), 4);
}

TEST_F(GatewayLendingTest, ByAMessageATenantBorrowsAtItsSecondTry) {
    settings.gateway.listen.clear();
    start_and_hold();
    requester("requester-1", "spot");
    NovaFailure one = failure();
    one.project = "spot";
    messages->deliver(body_of(one));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::already_there);
    EXPECT_EQ(held(), 2);
    boots(uuid_of("requester-1"), "host1", "spot");
    tell_of(uuid_of("requester-1"));
    pass(seconds{5});
    EXPECT_EQ(lent(), 2);
}

}  // namespace
}  // namespace reaper::test::gateway_lending_test
