#include "reaper/rooms/ledger.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"
#include "reaper/rooms/room_keeper.hpp"

namespace reaper::ledger_test {
namespace {

using namespace reaper::testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Resources slot{{"VCPU", 2}, {"MEMORY_MB", 1024}};
const HostId on_a{"a"};
const RequestId no_request{"req-none"};

Plan plan_on(const std::string& host, int slots, const std::vector<std::string>& victims) {
    HostPlan on_host;
    on_host.host = HostId{host};
    on_host.slots = slots;
    for (const auto& id : victims) {
        Victim victim;
        victim.server = ServerId{id};
        on_host.victims.push_back(victim);
    }
    Plan plan;
    plan.hosts = {on_host};
    return plan;
}

/// One host `a` with these servers.
Snapshot cloud(const std::vector<Server>& servers) {
    Host a = host("a", {{"VCPU", 100}, {"MEMORY_MB", 100'000}});
    for (const auto& each : servers) put(a, each);
    return Snapshot{at(0), {a}, {}};
}

Server of_project(Server server, const std::string& project) {
    server.project = ProjectId{project};
    return server;
}

Server second_try(const std::string& id, long created) {
    return of_project(server(id, on_a, slot, created), "regular");
}

TEST(Ledger, PlanMakesVictimsEvictingAndSlotsPromised) {
    Ledger ledger;
    EXPECT_TRUE(ledger.empty());
    ledger.enter(request(slot, 2, "req-1"), plan_on("a", 2, {"w", "v"}), at(0));
    EXPECT_THAT(ledger.evicting_on(on_a), ElementsAre(ServerId{"v"}, ServerId{"w"}));
    EXPECT_THAT(ledger.evicting_on(HostId{"b"}), IsEmpty());
    EXPECT_TRUE(ledger.evicting(ServerId{"v"}));
    EXPECT_EQ(ledger.promised_to_others(on_a, no_request), slot * 2);
    EXPECT_EQ(ledger.promised_to_others(on_a, RequestId{"req-1"}), Resources{});
    EXPECT_EQ(ledger.promised_to_others(HostId{"b"}, no_request), Resources{});
}

TEST(Ledger, FurtherPlanAddsEvictionsAndReplacesPromises) {
    Ledger ledger;
    const auto wanted = request(slot, 2, "req-1");
    ledger.enter(wanted, plan_on("a", 1, {"v"}), at(0));
    ledger.enter(wanted, plan_on("b", 2, {"w"}), at(1));
    EXPECT_TRUE(ledger.evicting(ServerId{"v"}));
    EXPECT_TRUE(ledger.evicting(ServerId{"w"}));
    EXPECT_EQ(ledger.promised_to_others(on_a, no_request), Resources{});
    EXPECT_EQ(ledger.promised_to_others(HostId{"b"}, no_request), slot * 2);
}

TEST(Ledger, NothingIsPromisedOfTheRoomOfAServerThatStaysAfterAll) {
    Plan counts_on_v = plan_on("a", 2, {});
    PendingRelease release;
    release.server = ServerId{"v"};
    counts_on_v.hosts[0].pending_releases = {release};
    const auto both = [&] {
        Ledger ledger;
        ledger.enter(request(slot, 2, "req-1"), plan_on("a", 2, {"v"}), at(0));
        ledger.enter(request(slot, 2, "req-2"), counts_on_v, at(1));
        return ledger;
    };
    Ledger stays = both();
    stays.stays(ServerId{"v"});
    EXPECT_FALSE(stays.evicting(ServerId{"v"}));
    EXPECT_EQ(stays.promised_to_others(on_a, RequestId{"req-1"}), Resources{});
    EXPECT_EQ(stays.promised_to_others(on_a, RequestId{"req-2"}), slot * 2) << "it plans by itself";
    Ledger round_two;
    round_two.enter(request(slot, 2, "req-1"), plan_on("a", 2, {"v"}), at(0));
    round_two.enter(request(slot, 2, "req-2"), counts_on_v, at(1), true);
    round_two.stays(ServerId{"v"});
    EXPECT_EQ(round_two.promised_to_others(on_a, RequestId{"req-1"}), slot * 2)
        << "some of it may be what was freed for it before";
    Ledger goes_late = both();
    goes_late.drop_eviction(ServerId{"v"});
    EXPECT_EQ(goes_late.promised_to_others(on_a, RequestId{"req-1"}), slot * 2);
}

TEST(Ledger, AHostReadBeforeTheEndOfACullStillCountsItsVictimsAsEvicting) {
    Ledger ledger;
    ledger.enter(request(slot, 1, "req-1"), plan_on("a", 1, {"v"}), at(0));
    ledger.settle(RequestId{"req-1"}, at(30), at(60));
    auto cache = cloud({});
    cache.hosts.front().read_at = at(29);
    ledger.expire(cache, at(31));
    EXPECT_TRUE(ledger.evicting(ServerId{"v"}));
    cache.hosts.front().read_at = at(31);
    ledger.expire(cache, at(31));
    EXPECT_FALSE(ledger.evicting(ServerId{"v"}));
}

TEST(Ledger, SettledPromisesHoldUntilTheirTime) {
    Ledger ledger;
    ledger.enter(request(slot, 1, "req-1"), plan_on("a", 1, {}), at(0));
    ledger.settle(RequestId{"req-1"}, at(10), at(60));
    ledger.expire(cloud({}), at(59));
    EXPECT_EQ(ledger.promised_to_others(on_a, no_request), slot);
    ledger.expire(cloud({}), at(60));
    EXPECT_TRUE(ledger.empty());
}

TEST(Ledger, AClaimedSlotIsNotPromisedBesides) {
    Ledger ledger;
    Request wanted = request(slot, 2, "req-1");
    wanted.requesters = {ServerId{"one"}, ServerId{"two"}};
    ledger.enter(wanted, plan_on("a", 2, {}), at(0));
    ledger.settle(RequestId{"req-1"}, at(10), at(60));
    const auto open_with = [&](const Snapshot& seen) {
        ledger.expire(seen, at(20));
        return ledger.promises().front().open();
    };
    auto claimed = cloud({});
    claimed.hosts.front().providers.front().other_consumers = {{ServerId{"one"}, slot},
                                                               {ServerId{"stranger"}, slot}};
    EXPECT_EQ(open_with(claimed), 1);
    EXPECT_EQ(ledger.promised_to_others(on_a, no_request), slot * 2);
    // The scheduler takes it back.
    EXPECT_EQ(open_with(cloud({})), 2);
    EXPECT_EQ(open_with(claimed), 1);
    EXPECT_EQ(open_with(cloud({second_try("one", 15)})), 1) << "it is there";
    EXPECT_EQ(ledger.promised_to_others(on_a, no_request), slot);
    EXPECT_EQ(open_with(claimed), 1) << "Nova lists it no more; the other's slot is promised";
}

TEST(Ledger, WhoClaimsHereAfterAllIsNotElsewhere) {
    Ledger ledger;
    const RequestId id{"req-1"};
    Request wanted = request(slot, 2, "req-1");
    wanted.requesters = {ServerId{"one"}, ServerId{"two"}};
    ledger.enter(wanted, plan_on("a", 2, {}), at(0));
    ledger.settle(id, at(10), at(60));
    ledger.claim(id, ServerId{"one"}, {HostId{"c"}});
    auto claimed = cloud({});
    claimed.hosts.front().providers.front().other_consumers = {{ServerId{"one"}, slot}};
    ledger.expire(claimed, at(20));
    EXPECT_EQ(ledger.promises().front().open(), 1);
    ledger.claim(id, ServerId{"one"}, {HostId{"c"}});
    ledger.expire(cloud({second_try("one", 15)}), at(30));
    EXPECT_EQ(ledger.promises().front().open(), 1);
}

TEST(Ledger, WhoClaimsForARequestIsOneOfItsRequesters) {
    Ledger ledger;
    const RequestId id{"req-1"};
    ledger.enter(request(slot, 1, "req-1"), plan_on("a", 1, {}), at(0));
    ledger.settle(id, at(10), at(60));
    ledger.claim(id, ServerId{"one"}, {on_a});
    auto claimed = cloud({});
    claimed.hosts.front().providers.front().other_consumers = {{ServerId{"one"}, slot}};
    ledger.expire(claimed, at(20));
    EXPECT_EQ(ledger.promises().front().open(), 0);
}

TEST(Ledger, ASlotOfWhoHasRoomElsewhereIsNotPromised) {
    Ledger ledger;
    const RequestId id{"req-1"};
    Request wanted = request(slot, 2, "req-1");
    wanted.requesters = {ServerId{"one"}, ServerId{"two"}};
    ledger.enter(wanted, plan_on("a", 2, {}), at(0));
    ledger.claim(id, ServerId{"one"}, {on_a});
    ledger.claim(id, ServerId{"stranger"}, {HostId{"b"}});
    EXPECT_EQ(ledger.promised_to_others(on_a, no_request), slot * 2);
    ledger.claim(id, ServerId{"two"}, {HostId{"b"}});
    ledger.claim(id, ServerId{"two"}, {HostId{"c"}});
    EXPECT_EQ(ledger.promised_to_others(on_a, no_request), slot);
    ledger.unclaim(id, ServerId{"two"});
    EXPECT_EQ(ledger.promised_to_others(on_a, no_request), slot * 2);
}

TEST(Ledger, ReportsWhoTookSettledSlots) {
    Ledger ledger;
    ledger.enter(request(slot, 3, "req-1"), plan_on("a", 3, {}), at(100));
    ledger.settle(RequestId{"req-1"}, at(110), at(200));
    const auto cache = cloud({second_try("new", 120)});
    const Ledger::Settled taken{RequestId{"req-1"}, on_a, ServerId{"new"}, 1};
    EXPECT_THAT(ledger.expire(cache, at(150)), ElementsAre(taken));
    EXPECT_THAT(ledger.expire(cache, at(199)), IsEmpty());
    const Ledger::Settled lapsed{RequestId{"req-1"}, on_a, std::nullopt, 2};
    EXPECT_THAT(ledger.expire(cache, at(200)), ElementsAre(lapsed));
    EXPECT_TRUE(ledger.empty());
}

TEST(Ledger, ALikeServerThatWasThereBeforeThePlanTakesNoSlotWhateverItsSecond) {
    Ledger ledger;
    ledger.enter(request(slot, 1, "req-1"), plan_on("a", 1, {}), at(100));
    const auto before = cloud({second_try("neighbour", 100)});
    ledger.note_there_before(RequestId{"req-1"}, [&](const HostId& id) {
        return id == on_a ? &before.hosts.front() : nullptr;
    });
    ledger.settle(RequestId{"req-1"}, at(110), at(200));
    EXPECT_THAT(ledger.expire(before, at(120)), IsEmpty());
    EXPECT_EQ(ledger.promised_to_others(on_a, no_request), slot);
    const auto after = cloud({second_try("neighbour", 100), second_try("new", 100)});
    EXPECT_THAT(ledger.expire(after, at(130)),
                ElementsAre(Ledger::Settled{RequestId{"req-1"}, on_a, ServerId{"new"}, 1}));
}

TEST(Ledger, ASlotTakenInTimeIsTakenAlsoWhenItIsSeenLate) {
    Ledger ledger;
    ledger.enter(request(slot, 1, "req-1"), plan_on("a", 1, {}), at(100));
    ledger.settle(RequestId{"req-1"}, at(110), at(200));
    EXPECT_THAT(ledger.expire(cloud({second_try("new", 190)}), at(300)),
                ElementsAre(Ledger::Settled{RequestId{"req-1"}, on_a, ServerId{"new"}, 1}));
}

TEST(Ledger, WhenTheClockIsSetAllTimesMoveWithIt) {
    Ledger ledger;
    ledger.enter(request(slot, 1, "req-1"), plan_on("a", 1, {"v"}), at(0));
    ledger.settle(RequestId{"req-1"}, at(10), at(60));
    ledger.give_up_on(on_a, ServerId{"w"}, at(20));
    const auto day = std::chrono::duration_cast<Duration>(std::chrono::hours{24});
    ledger.shift(day);
    auto cache = cloud({});
    cache.hosts.front().read_at = at(30);
    EXPECT_THAT(ledger.expire(cache, at(59) + day), IsEmpty());
    EXPECT_TRUE(ledger.evicting(ServerId{"v"})) << "the host was read a day before its end";
    EXPECT_TRUE(ledger.given_up(ServerId{"w"}));
    EXPECT_EQ(ledger.promises().front().since, at(0) + day);
    cache.hosts.front().read_at = at(30) + day;
    EXPECT_THAT(ledger.expire(cache, at(60) + day),
                ElementsAre(Ledger::Settled{RequestId{"req-1"}, on_a, std::nullopt, 1}));
    EXPECT_TRUE(ledger.empty());
}

TEST(Ledger, PromiseOfACullUnderWayNeverExpires) {
    Ledger ledger;
    ledger.enter(request(slot, 1, "req-1"), plan_on("a", 1, {}), at(0));
    ledger.expire(cloud({second_try("n", 10)}), at(1'000'000));
    EXPECT_EQ(ledger.promised_to_others(on_a, no_request), slot);
}

TEST(Ledger, ReleaseForgetsTheRequestAndNoOther) {
    Ledger ledger;
    ledger.enter(request(slot, 1, "req-1"), plan_on("a", 1, {"v"}), at(0));
    ledger.enter(request(slot, 1, "req-2"), plan_on("a", 1, {"w"}), at(0));
    ledger.release(RequestId{"req-1"});
    EXPECT_FALSE(ledger.evicting(ServerId{"v"}));
    EXPECT_TRUE(ledger.evicting(ServerId{"w"}));
    EXPECT_EQ(ledger.promised_to_others(on_a, no_request), slot);
}

struct PlacementConstraints {
    const char* name;
    Server server;
    bool takes;
};

class LedgerLanding : public ::testing::TestWithParam<PlacementConstraints> {};

TEST_P(LedgerLanding, TakesAPromisedSlotOrNot) {
    Ledger ledger;
    auto wanted = request(slot, 2, "req-1");
    wanted.requesters = {ServerId{"requester"}};
    ledger.enter(wanted, plan_on("a", 2, {}), at(100));
    ledger.settle(RequestId{"req-1"}, at(110), at(200));
    for (int again = 0; again < 2; ++again) ledger.expire(cloud({GetParam().server}), at(150));
    EXPECT_EQ(ledger.promised_to_others(on_a, no_request), slot * (GetParam().takes ? 1 : 2));
}

Server moved_there() {
    auto server = second_try("moved", 5);
    server.launched = at(120);
    return server;
}

INSTANTIATE_TEST_SUITE_P(
    Servers, LedgerLanding,
    ::testing::Values(
        PlacementConstraints{"SecondTry", second_try("new", 120), true},
        PlacementConstraints{"CreatedInTheSameSecond", second_try("new", 100), true},
        PlacementConstraints{"MovedThere", moved_there(), true},
        PlacementConstraints{"RequesterWhateverItsShape",
                             of_project(server("requester", on_a, {{"VCPU", 3}}, 5), "regular"),
                             true},
        PlacementConstraints{"CreatedBefore", second_try("old", 99), false},
        PlacementConstraints{"OfAnotherProject",
                             of_project(server("new", on_a, slot, 120), "other"), false},
        PlacementConstraints{"OfAnotherShape",
                             of_project(server("new", on_a, slot * 2, 120), "regular"), false},
        PlacementConstraints{"HoldingNothingHere",
                             of_project(server("new", ProviderId{"b"}, slot, 120), "regular"),
                             false}),
    [](const auto& row) { return row.param.name; });

TEST(Ledger, Rule4OneServerTakesOneSlotOfOnePromise) {
    Ledger ledger;
    for (const auto* id : {"req-1", "req-2"}) {
        ledger.enter(request(slot, 1, id), plan_on("a", 1, {}), at(100));
        ledger.settle(RequestId{id}, at(110), at(200));
    }
    const auto cache = cloud({second_try("new", 120)});
    for (int again = 0; again < 3; ++again) ledger.expire(cache, at(150));
    EXPECT_EQ(ledger.promised_to_others(on_a, no_request), slot);
    ledger.expire(cloud({second_try("new", 120), second_try("newer", 130)}), at(151));
    EXPECT_EQ(ledger.promised_to_others(on_a, no_request), Resources{});
}

TEST(Ledger, ALikeServerDoesNotTakeTheSlotOfAKnownRequester) {
    Ledger ledger;
    auto first = request(slot, 1, "req-1");
    ledger.enter(first, plan_on("a", 1, {}), at(100));
    auto second = request(slot, 1, "req-2");
    second.requesters = {ServerId{"mover"}};
    ledger.enter(second, plan_on("a", 1, {}), at(100));
    for (const auto* id : {"req-1", "req-2"}) ledger.settle(RequestId{id}, at(110), at(200));
    // `mover` is like a second try of req-1 too; it takes its own.
    ledger.expire(cloud({second_try("mover", 120)}), at(150));
    EXPECT_EQ(ledger.promised_to_others(on_a, RequestId{"req-1"}), Resources{});
    EXPECT_EQ(ledger.promised_to_others(on_a, RequestId{"req-2"}), slot);
}

TEST(RoomKeeper, APlanThatCouldNotBeJournaledLeavesNoEarlierPromise) {
    for (const bool victims_deleted : {false, true}) {
        RoomKeeper rooms{true};
        Request waiting = request(slot, 1, "req-1");
        waiting.source = RequestSource::gateway;
        rooms.promise_released(waiting, plan_on("a", 1, {}).hosts, at(10));
        ASSERT_THAT(rooms.ledger().promises_of(waiting.id), SizeIs(1));
        rooms.not_journaled(waiting.id, plan_on("a", 1, {"v"}), victims_deleted);
        EXPECT_THAT(rooms.ledger().promises_of(waiting.id), SizeIs(victims_deleted ? 1 : 0))
            << "what earlier rounds freed stays its own";
    }
}

}  // namespace
}  // namespace reaper::ledger_test
