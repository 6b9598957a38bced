// Reservations as the controller keeps them in Placement.
#include "app/reservation_house.hpp"
#include "strategies/seeded_rng.hpp"

namespace reaper::test::reservation_controller_test {
namespace {

using namespace reservation_house;
using std::chrono::minutes;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ReservationControllerTest : public ReservationHouse {};

TEST_F(ReservationControllerTest, AnOrderIsHeldInPlacementAtOnce) {
    EXPECT_EQ(give({reserving("eng", 6)}), std::nullopt) << why;
    EXPECT_EQ(held(), 6);
    const auto& [id, consumer] = *cloud.consumers.begin();
    EXPECT_EQ(consumer.type, "RESERVATION");
    EXPECT_EQ(consumer.project, "reservation:eng");
    EXPECT_EQ(only().balance.held, cpus(6));
    EXPECT_EQ(only().host_name, "host1");
    ASSERT_THAT(journal.noted_marks, SizeIs(1));
    EXPECT_EQ(journal.noted_marks[0].reason, "principal 'ops': reserve 6 VCPU for eng on host1");
}

TEST_F(ReservationControllerTest, TheNextProcessReadsItFromPlacement) {
    EXPECT_EQ(give({reserving("eng", 6)}), std::nullopt);
    begin();
    EXPECT_EQ(only().reservation.asked, cpus(6));
    EXPECT_EQ(give({reserving("eng", 2)}), std::nullopt) << why;
    EXPECT_EQ(only().reservation.asked, cpus(8));
    EXPECT_EQ(held(), 8);
}

TEST_F(ReservationControllerTest, OrdersGivenTogetherAreDoneTogetherOrNot) {
    EXPECT_EQ(give({reserving("eng", 6), reserving("ads", 17, "host2")}), Errc::conflict);
    EXPECT_THAT(why, HasSubstr("1 VCPU"));
    EXPECT_EQ(held(), 0);
    EXPECT_EQ(give({reserving("eng", 6), reserving("ads", 16, "host2")}), std::nullopt) << why;
    EXPECT_EQ(held(), 6);
    EXPECT_EQ(held("host2"), 16);
    EXPECT_EQ(cloud.count("holdings"), 1U);
}

TEST_F(ReservationControllerTest, TheSameKeyIsTheSameOrderForTheNextProcessToo) {
    EXPECT_EQ(give({reserving("eng", 6)}, "order-1"), std::nullopt);
    EXPECT_EQ(give({reserving("eng", 6)}, "order-1"), std::nullopt);
    EXPECT_EQ(held(), 6);
    begin();
    EXPECT_EQ(give({reserving("eng", 6)}, "order-1"), std::nullopt);
    EXPECT_EQ(held(), 6);
    EXPECT_EQ(give({reserving("eng", 6)}, "order-2"), std::nullopt);
    EXPECT_EQ(held(), 12);
}

TEST_F(ReservationControllerTest, WhatItsServersHoldIsReleasedAndGrowsBack) {
    EXPECT_EQ(give({reserving("eng", 6)}), std::nullopt);
    cloud.add_server("s1", "host1", "db", cpus(4));
    cloud.add_server("s2", "host1", "stranger", cpus(4));
    step();
    EXPECT_EQ(held(), 2);
    EXPECT_EQ(only().balance.used, cpus(4));
    cloud.remove("s1");
    step();
    EXPECT_EQ(held(), 6);
}

TEST_F(ReservationControllerTest, RoomThatOthersHaveIsOwedAndCollectedWhenItIsFree) {
    EXPECT_EQ(give({reserving("eng", 6)}), std::nullopt);
    cloud.add_server("s1", "host1", "db", cpus(4));
    step();
    cloud.add_server("s2", "host1", "stranger", cpus(10));
    cloud.remove("s1");
    cloud.add_server("s3", "host1", "spot", cpus(3));
    step();
    EXPECT_EQ(held(), 3);
    EXPECT_EQ(only().balance.lent, cpus(3));
    cloud.remove("s2");
    step();
    EXPECT_EQ(held(), 6);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(ReservationControllerTest, WhoHasRoomThatIsOwedIsJournaledAndThatItIsCollected) {
    const auto debts = [this] {
        std::vector<std::string> told;
        for (const JournalEvent& event : journal.noted_marks)
            if (event.kind == "debt") told.push_back(event.reason);
        return told;
    };
    EXPECT_EQ(give({reserving("eng", 6)}), std::nullopt);
    cloud.add_server("s1", "host1", "db", cpus(4));
    step();
    cloud.add_server("s2", "host1", "stranger", cpus(10));
    cloud.remove("s1");
    cloud.add_server("s3", "host1", "stranger", cpus(3));
    cloud.server_at("s3").record.server.created = clock.now() + minutes{1};
    step();
    ASSERT_THAT(debts(), SizeIs(1));
    EXPECT_THAT(debts()[0], HasSubstr("(eng on host1): 3 VCPU are owed; held by server s3 of "
                                      "project stranger"));
    begin();
    EXPECT_THAT(debts(), SizeIs(1)) << "it was reported";
    cloud.remove("s3");
    step();
    ASSERT_THAT(debts(), SizeIs(2));
    EXPECT_THAT(debts()[1], HasSubstr("(eng on host1): nothing is owed now"));
    EXPECT_EQ(held(), 6);
    step();
    EXPECT_THAT(debts(), SizeIs(2));
}

TEST_F(ReservationControllerTest, RefinedRoomChangesHandsInOneTransaction) {
    EXPECT_EQ(give({reserving("eng", 16)}), std::nullopt);
    ReserveOrder order = reserving("eng/db", 10);
    order.refines = ReservationName{role("eng")};
    EXPECT_EQ(give({order}), std::nullopt) << why;
    EXPECT_EQ(held(), 16);
    EXPECT_THAT(controller->list(), SizeIs(2));
    EXPECT_EQ(give({unreserving("eng/db", 10)}), std::nullopt) << why;
    EXPECT_EQ(only().reservation.asked, cpus(16));
    EXPECT_EQ(held(), 16);
    EXPECT_EQ(give({unreserving("eng", 16)}), std::nullopt) << why;
    EXPECT_THAT(cloud.consumers, IsEmpty());
    step();
    EXPECT_THAT(controller->list(), IsEmpty());
}

TEST_F(ReservationControllerTest, TheConfigurationsAreKeptAndFollowIt) {
    config::StaticReservation fixed;
    fixed.role = role("eng");
    fixed.hosts = {"host*"};
    fixed.resources = cpus(5);
    settings.static_ones = {fixed};
    step();
    EXPECT_EQ(held("host1"), 5);
    EXPECT_EQ(held("host2"), 5);
    EXPECT_EQ(give({unreserving("eng", 1)}), Errc::conflict);
    settings.static_ones[0].resources = cpus(3);
    settings.static_ones[0].hosts = {"host1"};
    step();
    EXPECT_EQ(held("host1"), 3);
    EXPECT_EQ(held("host2"), 0);
    EXPECT_THAT(cloud.consumers, SizeIs(1));
}

TEST_F(ReservationControllerTest, WhatAnotherClientChangedInPlacementIsCorrected) {
    EXPECT_EQ(give({reserving("eng", 6)}), std::nullopt);
    Consumer& consumer = cloud.consumers.begin()->second;
    consumer.holds[HostId{cloud.provider_of("host1")}] = cpus(2);
    consumer.generation = 77;
    begin();
    step();
    EXPECT_EQ(held(), 6);
}

TEST_F(ReservationControllerTest, AHostThatIsGoneIsReported) {
    EXPECT_EQ(give({reserving("eng", 6, "host2")}), std::nullopt);
    cloud.remove_host("host2");
    step();
    EXPECT_EQ(only().host_name, "");
    EXPECT_THAT(only().trouble, HasSubstr("is no longer there"));
}

TEST_F(ReservationControllerTest, PrincipalsMayDoWhatTheAclSays) {
    settings.acl.permissive = false;
    settings.acl.reserve = {{{"ops", "anna"}, {"eng", "eng/*"}}};
    settings.acl.unreserve = {{{"ops"}, {"ops"}}, {{"root"}, {"*"}}};
    EXPECT_EQ(give({reserving("ads", 1)}), Errc::forbidden);
    EXPECT_EQ(give({reserving("eng", 1)}, "", "bob"), Errc::forbidden);
    ReserveOrder annas = reserving("eng", 4);
    annas.principal = "anna";
    EXPECT_EQ(give({annas}, "", "anna"), std::nullopt) << why;
    EXPECT_EQ(give({unreserving("eng", 4)}), Errc::forbidden);
    EXPECT_THAT(why, HasSubstr("may not unreserve what others reserved"));
    EXPECT_EQ(held(), 4);
    EXPECT_EQ(give({unreserving("eng", 4)}, "", "root"), std::nullopt) << why;
}

TEST_F(ReservationControllerTest, WhoDoesNotServeChangesNothing) {
    EXPECT_EQ(give({reserving("eng", 6)}), std::nullopt);
    cloud.add_server("s1", "host1", "db", cpus(4));
    serving = 0;
    step();
    EXPECT_EQ(held(), 6);
    EXPECT_EQ(give({reserving("eng", 1)}), Errc::unreachable);
    serving = 2;
    step();
    EXPECT_EQ(held(), 2);
}

TEST_F(ReservationControllerTest, WhereAnotherClientIsFasterTheOrderIsReadAgain) {
    bool once = true;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("holdings") && std::exchange(once, false))
            cloud.add_server("fast", "host1", "stranger", cpus(12));
        return std::nullopt;
    };
    EXPECT_EQ(give({reserving("eng", 6)}), Errc::conflict);
    EXPECT_THAT(why, HasSubstr("lacks 2 VCPU"));
    EXPECT_EQ(held(), 0);
}

TEST_F(ReservationControllerTest, AnAnswerThatIsLostIsNotDoneTwice) {
    bool once = true;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("holdings") && std::exchange(once, false))
            return Error{Errc::timeout, "placement: no answer"};
        return std::nullopt;
    };
    EXPECT_EQ(give({reserving("eng", 6)}, "order-1"), Errc::unreachable);
    step();
    EXPECT_EQ(give({reserving("eng", 6)}, "order-1"), std::nullopt) << why;
    EXPECT_EQ(held(), 6);
}

TEST_F(ReservationControllerTest, ReleasedRoomWaitsForItsRequester) {
    EXPECT_EQ(give({reserving("eng", 6)}), std::nullopt);
    EXPECT_FALSE(release("web", 4)) << "there is room besides";
    cloud.add_server("others", "host1", "stranger", cpus(10));
    step();
    EXPECT_FALSE(release("stranger", 4)) << "it is not for him";
    EXPECT_TRUE(release("web", 4));
    EXPECT_EQ(held(), 2);
    step();
    EXPECT_EQ(held(), 2) << "the reservation does not take it back";
    cloud.add_server("came", "host1", "web", cpus(4));
    step();
    EXPECT_EQ(held(), 2);
    EXPECT_EQ(only().balance.used, cpus(4));
    cloud.remove("came");
    step();
    EXPECT_EQ(held(), 6) << "he came and went";
    EXPECT_TRUE(release("web", 4));
    step(12);
    EXPECT_EQ(held(), 6) << "no server came";
}

TEST_F(ReservationControllerTest, WherePlacementRefusesAgainAnotherHostGivesItsRoom) {
    EXPECT_EQ(give({reserving("eng", 16), reserving("eng", 16, "host2")}), std::nullopt);
    std::string first;  // the change for the host that is chosen first
    int refusals = 0;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("holdings")) return std::nullopt;
        if (first.empty()) first = call;
        if (call != first) return std::nullopt;
        ++refusals;
        return Error{Errc::conflict, "placement: unable to allocate inventory"};
    };
    EXPECT_TRUE(release("web", 4));
    EXPECT_EQ(refusals, 2) << "the first may be a lost race";
    EXPECT_EQ(held() + held("host2"), 28);
    cloud.on_call = nullptr;
}

TEST_F(ReservationControllerTest, FreeRoomBesideWhatIsReleasedWaitsToo) {
    settings.lend = true;
    EXPECT_EQ(give({reserving("eng", 7)}), std::nullopt);
    cloud.add_server("others", "host1", "stranger", cpus(8));
    cloud.add_server("elsewhere", "host2", "stranger", cpus(16));
    step();
    EXPECT_TRUE(release("web", 4));
    EXPECT_EQ(held(), 4) << "one more is free";
    step();
    EXPECT_EQ(held(), 4) << "and is the requester's";
    step(8);
    EXPECT_EQ(held(), 7) << "no server came";
    EXPECT_TRUE(lend("spot", 4));
    step();
    EXPECT_EQ(held(), 4) << "a loan's, too";
}

TEST_F(ReservationControllerTest, RoomThatIsFreeForItsRequesterIsNotTakenByWhatIsOwed) {
    EXPECT_EQ(give({reserving("eng", 8)}), std::nullopt);
    cloud.add_server("early", "host1", "web", cpus(4));
    step();
    cloud.add_server("others", "host1", "stranger", cpus(8));
    cloud.remove("early");
    cloud.add_server("late", "host1", "stranger", cpus(4));
    step();
    ASSERT_EQ(held(), 4) << "four are owed";
    cloud.remove("late");
    EXPECT_TRUE(run_task(io, refresher->rebuild_unless_recent()));
    Request wanted = request_of("web", 4);
    wanted.role = role("eng");
    HostPlan plan;
    plan.host = HostId{cloud.provider_of("host1")};
    plan.slots = 1;
    controller->keep_free_for(wanted, {plan});
    step();
    EXPECT_EQ(held(), 4);
    step(10);
    EXPECT_EQ(held(), 8);
}

TEST_F(ReservationControllerTest, AnotherPromiseIsAnotherTime) {
    promise = std::chrono::minutes{5};
    EXPECT_EQ(give({reserving("eng", 6)}), std::nullopt);
    cloud.add_server("others", "host1", "stranger", cpus(10));
    step();
    EXPECT_TRUE(release("web", 4));
    step(2);
    EXPECT_EQ(held(), 2);
    step(1);
    EXPECT_EQ(held(), 6);
}

TEST_F(ReservationControllerTest, WhatIsReleasedForARequestInTheGatewayIsPromisedToItAtOnce) {
    EXPECT_EQ(give({reserving("eng", 6)}), std::nullopt);
    cloud.add_server("others", "host1", "stranger", cpus(10));
    step();
    EXPECT_TRUE(release("web", 4));
    EXPECT_TRUE(rooms.ledger().promises_of(RequestId{"req-1"}).empty()) << "it asks again later";
    rooms.ended(RequestId{"req-1"}, false, clock.now(), {});
    step(12);
    ASSERT_EQ(held(), 6);
    source = RequestSource::gateway;
    std::size_t promised = 0;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("holdings"))
            promised = rooms.ledger().promises_of(RequestId{"req-1"}).size();
        return std::nullopt;
    };
    EXPECT_TRUE(release("web", 4));
    EXPECT_EQ(promised, 1U) << "before the room is free";
    EXPECT_EQ(rooms.ledger().promised_to_requests(HostId{cloud.provider_of("host1")}), cpus(4));
}

TEST_F(ReservationControllerTest, SmallRestsDoNotHideAHostThatGivesEnough) {
    settings.lend = true;
    std::vector<ReservationOrder> orders;
    for (int i = 0; i < 70; ++i) {
        const std::string name = "small" + std::to_string(i);
        cloud.add_host(name, cpus(1));
    }
    begin();
    for (int i = 0; i < 70; ++i)
        orders.push_back(lending(reserving("eng", 1, "small" + std::to_string(i))));
    orders.push_back(lending(reserving("eng", 16, "host2")));
    ASSERT_EQ(give(orders), std::nullopt) << why;
    EXPECT_TRUE(lend("spot", 4));
    EXPECT_EQ(held("host2"), 12);
}

// More hosts of another zone than are looked at together.
TEST_F(ReservationControllerTest, HostsThatDoNotSuitHideNoneThatDoes) {
    std::vector<ReservationOrder> orders;
    for (int i = 0; i < 150; ++i) cloud.add_host("a" + std::to_string(i), cpus(8));
    cloud.add_host("b", cpus(8), "zone-b");
    begin();
    for (int i = 0; i < 150; ++i)
        orders.push_back(lending(reserving("eng", 8, "a" + std::to_string(i))));
    orders.push_back(lending(reserving("eng", 8, "b")));
    ASSERT_EQ(give(orders), std::nullopt) << why;
    EXPECT_TRUE(lend("spot", 2, "zone-b"));
    EXPECT_EQ(held("b"), 6);
    EXPECT_TRUE(release("web", 6, "zone-b"));
    EXPECT_EQ(held("b"), 2);
    EXPECT_FALSE(lend("spot", 2, "zone-c"));
}

TEST_F(ReservationControllerTest, AHostThatIsFullByNowHidesNoOther) {
    std::vector<ReservationOrder> orders{lending(reserving("eng", 12, "host1")),
                                         lending(reserving("eng", 16, "host2"))};
    ASSERT_EQ(give(orders), std::nullopt) << why;
    cloud.add_server("stranger", "host1", "stranger", cpus(4));
    step();
    // Since the last reading another server took what is not reserved, and its role took more.
    cloud.add_server("own", "host1", "web", cpus(12));
    for (auto& [id, consumer] : cloud.consumers)
        consumer.holds.erase(HostId{cloud.provider_of("host1")});
    EXPECT_TRUE(lend("spot", 4));
    EXPECT_EQ(held("host2"), 12);
}

TEST_F(ReservationControllerTest, ALoanIsTakenWhereLeastIsLeftOver) {
    std::vector<ReservationOrder> orders{lending(reserving("eng", 16, "host1")),
                                         lending(reserving("eng", 6, "host2"))};
    ASSERT_EQ(give(orders), std::nullopt) << why;
    cloud.add_server("stranger", "host2", "stranger", cpus(10));
    step();
    EXPECT_TRUE(lend("spot", 4));
    EXPECT_EQ(held("host1"), 16);
    EXPECT_EQ(held("host2"), 2);
}

// "little" is refused while 2 VCPU can be lent; then all 16 can.
class FairLoansTest : public ReservationControllerTest {
protected:
    void SetUp() override {
        ReservationControllerTest::SetUp();
        source = RequestSource::gateway;  // what is released is promised at once
        shares = {{ProjectId{"much"}, 500'000}, {ProjectId{"little"}, 100'000}};
        EXPECT_EQ(give({lending(reserving("eng", 2)), reserving("web", 14)}), std::nullopt) << why;
        cloud.add_server("stranger", "host2", "stranger", cpus(16));
        step();
    }
    /// Each project has a request of its own.
    bool lend(const std::string& project, Amount vcpus) {
        Request wanted = request_of(project, vcpus);
        wanted.id = RequestId{"req-" + project};
        wanted.borrows = true;
        rooms.admits(wanted);
        return !run_task(io, controller->lend_to(wanted, search())).by.empty();
    }
    void is_refused(const std::string& project) {
        EXPECT_FALSE(lend(project, 4));
        EXPECT_EQ(give({unreserving("web", 14)}), std::nullopt) << why;
        EXPECT_EQ(give({lending(reserving("eng", 14))}), std::nullopt) << why;
        EXPECT_EQ(held(), 16);
    }
};

TEST_F(FairLoansTest, TheSmallestShareOfThoseThatWaitBorrowsFirst) {
    is_refused("little");
    EXPECT_FALSE(lend("much", 4));
    EXPECT_TRUE(lend("little", 4));
    EXPECT_TRUE(lend("much", 4));
}

TEST_F(FairLoansTest, ALargerShareWaitsForNoServerThatDoesNotComeAgain) {
    is_refused("little");
    clock.advance(std::chrono::seconds{61});
    EXPECT_TRUE(lend("much", 4));
}

TEST_F(FairLoansTest, ALargerShareBorrowsOnOtherHosts) {
    is_refused("little");
    cloud.remove("stranger");
    EXPECT_EQ(give({lending(reserving("eng", 16, "host2"))}), std::nullopt) << why;
    EXPECT_TRUE(lend("much", 4)) << "one host is enough for the other";
}

TEST_F(FairLoansTest, ASmallerOrEqualShareDoesNotWait) {
    is_refused("much");
    EXPECT_TRUE(lend("little", 4));
    shares->at(ProjectId{"little"}) = 500'000;
    EXPECT_FALSE(lend("little", 20));
    EXPECT_TRUE(lend("much", 4));
}

/// Three projects come again and again for the same room, in any order. What each borrows counts.
TEST_F(FairLoansTest, NoProjectThatComesAgainIsStarved) {
    constexpr std::size_t rounds = 12;
    const std::vector<std::string> projects{"much", "little", "third"};
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        SeededRng rng{seed};
        shares = std::map<ProjectId, Amount>{};
        std::map<std::string, int> loans;
        for (std::size_t round = 0; round < rounds; ++round) {
            for (const auto& each : projects) ASSERT_FALSE(lend(each, 4));
            ASSERT_EQ(give({unreserving("web", 4)}), std::nullopt) << why;
            ASSERT_EQ(give({lending(reserving("eng", 4))}), std::nullopt) << why;
            const auto first = rng.below(projects.size());
            std::string borrower;
            for (std::size_t i = 0; i < projects.size(); ++i)
                if (const auto& each = projects[(first + i) % projects.size()]; lend(each, 4)) {
                    EXPECT_EQ(std::exchange(borrower, each), "") << "there is room for one";
                    ++loans[each];
                    (*shares)[ProjectId{each}] += 250'000;
                }
            ASSERT_NE(borrower, "") << "seed " << seed << ", round " << round;
            rooms.ended(RequestId{"req-" + borrower}, false, clock.now(), {});
            step(12);
            ASSERT_EQ(give({unreserving("eng", 4)}), std::nullopt) << why;
            ASSERT_EQ(give({reserving("web", 4)}), std::nullopt) << why;
        }
        for (const auto& each : projects)
            EXPECT_EQ(loans[each], static_cast<int>(rounds / projects.size())) << each;
    }
}

TEST_F(FairLoansTest, WithoutSharesTheFirstToAskBorrows) {
    shares.reset();
    is_refused("little");
    EXPECT_TRUE(lend("much", 4));
}

TEST_F(ReservationControllerTest, WhatWasRefinedIsLentAtOnce) {
    ASSERT_EQ(give({reserving("eng", 16)}), std::nullopt) << why;
    step();
    ReserveOrder refined = lending(reserving("eng/db", 16));
    refined.refines = ReservationName{role("eng")};
    ASSERT_EQ(give({refined}), std::nullopt) << why;
    EXPECT_TRUE(lend("spot", 4));
    EXPECT_EQ(held(), 12);
}

TEST_F(ReservationControllerTest, WhoIsOfAnotherRoleEndsNoWait) {
    settings.roles.push_back({role("ads"), {"ads"}});
    EXPECT_EQ(give({reserving("eng", 6)}), std::nullopt);
    cloud.add_server("others", "host1", "stranger", cpus(6));
    step();
    EXPECT_TRUE(release("web", 8)) << "4 are free, 4 are reserved";
    EXPECT_EQ(held(), 2);
    cloud.add_server("ads", "host1", "ads", cpus(4));
    step(1);
    EXPECT_EQ(held(), 2) << "he is still waited for";
}

// A loan that was refused disturbs nothing: its room was not lent since tenants went.
TEST_F(ReservationControllerTest, ALoanThatFailsMakesTheCalmTimeNoLonger) {
    settings.calm = minutes{30};
    EXPECT_EQ(give({lending(reserving("eng", 16))}), std::nullopt);
    ASSERT_TRUE(lend("spot", 2));
    cloud.add_server("tenant", "host1", "spot", cpus(2));
    step(1);
    Plan plan;
    plan.hosts.emplace_back();
    plan.hosts.back().host = HostId{cloud.provider_of("host1")};
    plan.hosts.back().victims.emplace_back();
    plan.hosts.back().victims.back().server = ServerId{"tenant"};
    controller->on_plan(role("eng"), plan);
    EXPECT_EQ(only().calm_for, Duration{minutes{30}});
    step(16);
    EXPECT_EQ(only().calm_for, Duration{0});
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("holdings")) return std::nullopt;
        return Error{Errc::conflict, "placement: another client was faster"};
    };
    EXPECT_FALSE(lend("spot", 2));
    cloud.on_call = nullptr;
    controller->on_plan(role("eng"), plan);
    EXPECT_EQ(only().calm_for, Duration{minutes{30}});
}

TEST_F(ReservationControllerTest, WhatIsReservedIsLentAsTheConfigurationSays) {
    settings.lend = true;
    settings.longest_loan = minutes{30};
    EXPECT_EQ(give({reserving("eng", 6)}), std::nullopt);
    EXPECT_TRUE(only().reservation.lending.lend);
    EXPECT_EQ(only().reservation.lending.longest, Duration{minutes{30}});
    settings.lend = false;
    EXPECT_EQ(give({reserving("eng", 2)}), std::nullopt);
    EXPECT_TRUE(only().reservation.lending.lend) << "it is known by then";
}

TEST_F(ReservationControllerTest, AHostThatCantBeReadDoesNotBlockTheOthers) {
    std::vector<ReservationOrder> orders{lending(reserving("eng", 16, "host1")),
                                         lending(reserving("eng", 16, "host2"))};
    ASSERT_EQ(give(orders), std::nullopt) << why;
    cloud.on_call = [this](const std::string& call) -> std::optional<Error> {
        if (!call.ends_with(cloud.provider_of("host1"))) return std::nullopt;
        return Error{Errc::timeout, "placement: no answer"};
    };
    EXPECT_TRUE(lend("spot", 4));
    EXPECT_EQ(held("host1"), 16);
    EXPECT_EQ(held("host2"), 12);
}

TEST_F(ReservationControllerTest, WhoBeginsToServeKnowsWhoseLoanEnds) {
    EXPECT_EQ(give({lending(reserving("eng", 4))}), std::nullopt);
    Request loan;
    loan.id = loan_request_id(controller->list().front().id, clock.now(), 1);
    loan.source = RequestSource::reservation;
    loan.resources = cpus(4);
    loan.slots = 1;
    Plan plan;
    plan.hosts.emplace_back();
    plan.hosts.back().host = HostId{cloud.provider_of("host1")};
    plan.hosts.back().slots = 1;
    rooms.decided(loan, Decision{plan}, false, clock.now(),
                  [this](const HostId& id) { return refresher->cache().find(id); });
    ASSERT_FALSE(rooms.ledger().promises_of(loan.id).empty());
    EXPECT_TRUE(rooms.ledger().reserved().role_of(loan.id).empty()) << "it is not reported yet";
    begin();
    EXPECT_EQ(rooms.ledger().reserved().role_of(loan.id), role("eng"));
}

TEST_F(ReservationControllerTest, ARoleHoldsUntilKeystoneTellsAnother) {
    EXPECT_EQ(give({reserving("eng", 6)}), std::nullopt);
    cloud.add_server("own", "host1", "web", cpus(2));
    step();
    EXPECT_EQ(held(), 4);
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("project ")) return std::nullopt;
        return Error{Errc::timeout, "keystone: no answer"};
    };
    step(10);
    EXPECT_EQ(only().balance.used, cpus(2));
    EXPECT_EQ(held(), 4);
}

TEST_F(ReservationControllerTest, WherePlacementRefusesNoRequestWaitsForReservedRoom) {
    EXPECT_EQ(give({reserving("eng", 16)}), std::nullopt);
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("holdings")) return Error{Errc::forbidden, "not allowed"};
        return std::nullopt;
    };
    EXPECT_FALSE(release("web", 4));
    EXPECT_EQ(held(), 16);
}

TEST_F(ReservationControllerTest, PromisedRoomIsLeftAlone) {
    Request request;
    request.id = RequestId{"req-1"};
    request.resources = cpus(4);
    HostPlan plan;
    plan.host = HostId{cloud.provider_of("host1")};
    plan.slots = 3;
    plan.slot = cpus(4);
    NothingToDo there;
    there.hosts = {plan};
    rooms.takes(request, there, clock.now());
    EXPECT_EQ(give({reserving("eng", 6)}), Errc::conflict);
    EXPECT_EQ(give({reserving("eng", 4)}), std::nullopt) << why;
}

}  // namespace
}  // namespace reaper::test::reservation_controller_test
