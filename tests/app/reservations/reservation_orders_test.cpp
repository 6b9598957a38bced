// Orders of reservations under their keys, over restarts, lost answers and refusals.
#include "app/reservation_house.hpp"

namespace reaper::test::reservation_orders_test {
namespace {

using namespace reservation_house;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ReservationOrdersTest : public ReservationHouse {
protected:
    /// A takeover by a reaper with a journal of its own.
    void take_over() {
        journal.noted_orders.clear();
        journal.known_reservations.clear();
        begin();
    }
    UnreserveOrder lent_too(const std::string& path, Amount amount) {
        UnreserveOrder order = unreserving(path, amount);
        order.lent_too = true;
        return order;
    }
    /// 12 of 16 VCPU are reserved and 4 of them lent to a tenant.
    void lend_some() {
        ASSERT_EQ(give({lending(reserving("eng", 12))}), std::nullopt) << why;
        cloud.add_server("stranger", "host1", "stranger", cpus(4));
        step();
        ASSERT_TRUE(lend("spot", 4));
        cloud.add_server("tenant", "host1", "spot", cpus(4));
        step();
        ASSERT_EQ(only().balance.lent, cpus(4));
    }
};

TEST_F(ReservationOrdersTest, AnEarlierKeyIsKnownAfterARestart) {
    EXPECT_EQ(given({reserving("eng", 4)}, "one"), "applied");
    EXPECT_EQ(given({reserving("eng", 2)}, "two"), "applied");
    begin();
    EXPECT_EQ(given({reserving("eng", 4)}, "one"), "applied");
    EXPECT_EQ(held(), 6);
    take_over();
    EXPECT_EQ(given({reserving("eng", 4)}, "one"), "applied");
    EXPECT_EQ(given({reserving("eng", 2)}, "two"), "applied");
    EXPECT_EQ(held(), 6) << "its mark is in the record";
}

TEST_F(ReservationOrdersTest, AllOfItUnreservedAgainIsTheSameOrder) {
    EXPECT_EQ(given({reserving("eng", 4)}, "one"), "applied");
    EXPECT_EQ(given({unreserving("eng", 4)}, "two"), "applied");
    EXPECT_EQ(given({unreserving("eng", 4)}, "two"), "applied");
    begin();
    EXPECT_EQ(given({unreserving("eng", 4)}, "two"), "applied");
    EXPECT_EQ(given({reserving("eng", 4)}, "three"), "applied");
    EXPECT_EQ(given({unreserving("eng", 4)}, "two"), "applied");
    EXPECT_EQ(held(), 4) << "it is not unreserved once more";
}

TEST_F(ReservationOrdersTest, AKeyIsOfOneOrderAlone) {
    EXPECT_EQ(given({reserving("eng", 4)}, "one"), "applied");
    EXPECT_EQ(give({reserving("eng", 5)}, "one"), Errc::conflict);
    EXPECT_EQ(why, "key 'one' was given before, with another order: give another key");
    EXPECT_EQ(give({unreserving("eng", 4)}, "one"), Errc::conflict) << "by another route";
    take_over();
    EXPECT_EQ(give({reserving("eng", 5)}, "one"), Errc::conflict);
    EXPECT_EQ(given({reserving("eng", 5)}, "one", "bob"), "applied") << "he has his own keys";
    EXPECT_EQ(held(), 9);
}

TEST_F(ReservationOrdersTest, ARefusedOrderMayBeGivenAgain) {
    EXPECT_EQ(give({reserving("eng", 17)}, "one"), Errc::conflict);
    EXPECT_EQ(given({reserving("eng", 16)}, "one"), "applied");
    EXPECT_THAT(controller->orders(), SizeIs(1));
}

TEST_F(ReservationOrdersTest, TwoCallsWithOneKeyAtOnceAreOneOrder) {
    std::vector<std::string> said;
    for (int i = 0; i < 2; ++i) {
        std::vector<ReservationOrder> orders{reserving("eng", 4)};
        boost::asio::co_spawn(io, controller->give("one", "ops", std::move(orders)),
                              [&](std::exception_ptr, Result<OrderState> state) {
                                  said.emplace_back(state ? to_string(state->kind) : "no");
                              });
    }
    io.restart();
    io.run();
    EXPECT_THAT(said, ElementsAre("applied", "applied"));
    EXPECT_EQ(held(), 4);
    EXPECT_THAT(controller->orders(), SizeIs(1));
    EXPECT_THAT(events("reservation"), SizeIs(1));
}

TEST_F(ReservationOrdersTest, TheJournalHasItBeforePlacement) {
    cloud.on_call = [this](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("holdings")) return std::nullopt;
        EXPECT_THAT(journal.noted_orders, SizeIs(1));
        EXPECT_EQ(journal.noted_orders.at(0).progress, OrderProgress::begun);
        return std::nullopt;
    };
    EXPECT_EQ(given({reserving("eng", 4)}), "applied");
    EXPECT_EQ(journal.noted_orders.at(0).progress, OrderProgress::applied);
    cloud.on_call = {};
    journal.fails = [](const std::string& what) { return what == "order begun"; };
    EXPECT_EQ(give({reserving("eng", 4)}), Errc::storage);
    EXPECT_EQ(held(), 4) << "what can't be journaled is not done";
}

TEST_F(ReservationOrdersTest, RoomIsTakenInTheTurnOfClaimsOnThatHost) {
    std::vector<std::set<ProviderId>> turns;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("holdings")) turns.push_back(in_turn);
        return std::nullopt;
    };
    EXPECT_EQ(given({reserving("eng", 4)}), "applied");
    cloud.consumers.clear();
    step();
    EXPECT_EQ(held(), 4) << "it is taken again";
    const std::set<ProviderId> host{ProviderId{cloud.provider_of("host1")}};
    EXPECT_THAT(turns, ElementsAre(host, host)) << "not of the register: other hosts need not wait";
    EXPECT_THAT(in_turn, IsEmpty());
}

TEST_F(ReservationOrdersTest, WhatWasDoneWithoutAnAnswerIsDoneOnce) {
    cloud.lost_answer = Error{Errc::timeout, "placement: no answer"};
    EXPECT_EQ(give({reserving("eng", 4)}, "one"), Errc::unreachable);
    cloud.lost_answer.reset();
    EXPECT_EQ(given({reserving("eng", 4)}, "one"), "applied");
    EXPECT_EQ(held(), 4);
    cloud.lost_answer = Error{Errc::timeout, "placement: no answer"};
    EXPECT_EQ(give({reserving("eng", 2)}), Errc::unreachable);
    EXPECT_EQ(give({unreserving("eng", 6)}, "two"), Errc::unreachable);
    cloud.lost_answer.reset();
    step();
    EXPECT_EQ(held(), 0) << "what was ordered is not corrected";
    EXPECT_EQ(given({unreserving("eng", 6)}, "two"), "applied");
    for (const OrderState& each : controller->orders())
        EXPECT_EQ(to_string(each.kind), "applied") << each.reason;
    EXPECT_THAT(controller->orders(), SizeIs(3));
}

TEST_F(ReservationOrdersTest, WhatWasBegunIsReportedAfterACrash) {
    cloud.lost_answer = Error{Errc::timeout, "placement: no answer"};
    EXPECT_EQ(give({reserving("eng", 4)}), Errc::unreachable);
    cloud.lost_answer.reset();
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("holdings")) return std::nullopt;
        return Error{Errc::timeout, "placement: no answer"};
    };
    EXPECT_EQ(give({reserving("ads", 4)}, "ads"), Errc::unreachable);
    cloud.on_call = {};
    begin();
    ASSERT_THAT(controller->orders(), SizeIs(2));
    EXPECT_EQ(to_string(controller->orders()[1].kind), "applied");
    EXPECT_EQ(to_string(controller->orders()[0].kind), "failed");
    EXPECT_THAT(controller->orders()[0].reason, HasSubstr("is not done"));
    EXPECT_EQ(given({reserving("ads", 4)}, "ads"), "applied") << "it may be given again";
    EXPECT_EQ(held(), 8);
}

TEST_F(ReservationOrdersTest, WhatWasBegunIsSettledBeforeTheNextOrder) {
    EXPECT_EQ(given({reserving("eng", 4)}), "applied");
    cloud.lost_answer = Error{Errc::timeout, "placement: no answer"};
    EXPECT_EQ(give({lent_too("eng", 4)}), Errc::unreachable);
    cloud.lost_answer.reset();
    journal.cut_off = true;
    begin();
    journal.cut_off = false;
    EXPECT_EQ(given({reserving("eng", 4)}), "applied");
    step(1);
    EXPECT_EQ(held(), 4) << "the order before it was done, and is not done again";
    EXPECT_THAT(controller->orders(), SizeIs(3));
    for (const OrderState& each : controller->orders())
        EXPECT_EQ(to_string(each.kind), "applied") << each.reason;
}

TEST_F(ReservationOrdersTest, AFailedOrderOfOneReservationAsksNothingOfTheOthers) {
    EXPECT_EQ(given({reserving("eng", 4)}), "applied");
    EXPECT_EQ(given({reserving("eng", 4, "host2")}), "applied");
    const std::size_t readings =
        cloud.count("room " + std::string{reservation_register::provider_id});
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("holdings")) return Error{Errc::forbidden, "not allowed"};
        return std::nullopt;
    };
    EXPECT_EQ(give({reserving("eng", 1)}), Errc::forbidden);
    step();
    EXPECT_EQ(cloud.count("room " + std::string{reservation_register::provider_id}), readings);
}

TEST_F(ReservationOrdersTest, AWaitingOrderGoesOnAfterACrash) {
    lend_some();
    EXPECT_EQ(given({lent_too("eng", 12)}, "back"), "waiting");
    ASSERT_THAT(ended, SizeIs(1));
    EXPECT_THAT(controller->orders().front().reason, HasSubstr("lent are 4 VCPU"));
    begin();
    EXPECT_EQ(given({lent_too("eng", 12)}, "back"), "waiting") << "it is the same order";
    EXPECT_GT(ended.size(), 1U) << "its tenants are asked back again";
    cloud.remove("tenant");
    step();
    EXPECT_EQ(given({lent_too("eng", 12)}, "back"), "applied");
    EXPECT_EQ(held(), 0);
    EXPECT_THAT(controller->list(), IsEmpty());
}

TEST_F(ReservationOrdersTest, AWaitingOrderThatLastsTooLongIsReportedAsFailed) {
    lend_some();
    EXPECT_EQ(given({lent_too("eng", 12)}, "back"), "waiting");
    begin();
    step(6);
    const OrderState& state = controller->orders().front();
    EXPECT_EQ(to_string(state.kind), "failed");
    EXPECT_THAT(state.reason, HasSubstr("lent are 4 VCPU"));
    EXPECT_THAT(events("reservation").back(), HasSubstr("not unreserved: "));
    EXPECT_EQ(given({lent_too("eng", 12)}, "back"), "failed");
    EXPECT_EQ(held(), 8);
}

TEST_F(ReservationOrdersTest, AWaitingOrderIsNotTriedEachSecond) {
    lend_some();
    EXPECT_EQ(given({lent_too("eng", 12)}), "waiting");
    const std::size_t before = cloud.count("allocations ");
    for (int i = 0; i < 120; ++i) {
        clock.advance(Duration{1000});
        ASSERT_TRUE(run_task(io, controller->check()));
    }
    EXPECT_LT(cloud.count("allocations ") - before, 40U) << "of 120 looks";
    cloud.remove("tenant");
    ASSERT_TRUE(run_task(io, refresher->rebuild_unless_recent()));
    ASSERT_TRUE(run_task(io, controller->check()));
    EXPECT_EQ(held(), 0) << "at once when its tenant is gone";
}

TEST_F(ReservationOrdersTest, AWaitingOrderThatBecomesImpossibleEndsAtOnce) {
    lend_some();
    EXPECT_EQ(given({lent_too("eng", 12)}, "back"), "waiting");
    settings.acl.permissive = false;
    settings.acl.unreserve = {{{"root"}, {"*"}}};
    cloud.remove("tenant");
    step(1);
    EXPECT_EQ(to_string(controller->orders().front().kind), "failed");
    EXPECT_EQ(held(), 12);
}

TEST_F(ReservationOrdersTest, NoServerIsDeletedForAWaitingOrderThatIsNoLongerValid) {
    lend_some();
    EXPECT_EQ(given({lent_too("eng", 12)}, "back"), "waiting");
    ASSERT_THAT(ended, SizeIs(1));
    cloud.add_server("own", "host1", "web", cpus(4));
    step(1);
    EXPECT_EQ(to_string(controller->orders().front().kind), "failed");
    EXPECT_THAT(ended, SizeIs(1)) << "its role uses a part of it by now";
}

TEST_F(ReservationOrdersTest, AWaitingOrderWhoseAnswerIsLostIsDoneOnce) {
    lend_some();
    EXPECT_EQ(given({lent_too("eng", 12)}, "back"), "waiting");
    cloud.remove("tenant");
    cloud.lost_answer = Error{Errc::timeout, "placement: no answer"};
    step(1);
    cloud.lost_answer.reset();
    step();
    EXPECT_EQ(held(), 0);
    EXPECT_EQ(to_string(controller->orders().front().kind), "applied")
        << controller->orders().front().reason;
    EXPECT_EQ(given({lent_too("eng", 12)}, "back"), "applied");
}

TEST_F(ReservationOrdersTest, WhoIsRefusedIsInTheJournal) {
    settings.acl.permissive = false;
    settings.acl.reserve = {{{"ops"}, {"eng"}}};
    EXPECT_EQ(give({reserving("ads", 1)}), Errc::forbidden);
    EXPECT_EQ(give({reserving("eng", 17)}), Errc::conflict);
    EXPECT_EQ(give({unreserving("eng", 1)}), Errc::not_found);
    const auto told = events("reservation-refused");
    ASSERT_THAT(told, SizeIs(3));
    EXPECT_EQ(told[0],
              "principal 'ops' is refused, reserve 1 VCPU for ads on host1: principal 'ops' may "
              "not reserve for role ads (reservations.acl)");
}

}  // namespace
}  // namespace reaper::test::reservation_orders_test
