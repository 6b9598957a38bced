// Room that others free: deletions that other clients began, evictions of other
// requests; and the three cases of Mesos' design for lent reservations, in which a reckoning
// without `evicting` goes wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"
#include "reaper/rooms/room.hpp"

namespace reaper::room_on_its_way_test {
namespace {

using namespace reaper::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Resources two{{"VCPU", 2}};
const Resources four{{"VCPU", 4}};
const HostId on_a{"a"};

Server deleting(Server server) {
    server.task_state = "deleting";
    return server;
}

/// Nova takes the task state away before the room.
Server deleted(Server server) {
    server.status = "DELETED";
    return server;
}

Snapshot cloud(const std::vector<Host>& hosts) {
    return Snapshot{at(0), hosts, {}};
}

Host host_with(const std::string& name, Amount vcpus, const std::vector<Server>& servers) {
    Host made = host(name, {{"VCPU", vcpus}});
    for (const auto& each : servers) put(made, each);
    return made;
}

Host without(Host host, const std::string& id) {
    for (const auto& server : host.servers)
        if (server.id == ServerId{id}) host.providers[0].used -= server.resources();
    std::erase_if(host.servers, [&](const Server& s) { return s.id == ServerId{id}; });
    return host;
}

const std::vector<HostPlan>& hosts_of(const Decision& decision) {
    static const std::vector<HostPlan> none;
    if (const auto* made = std::get_if<Plan>(&decision)) return made->hosts;
    if (const auto* nothing = std::get_if<NothingToDo>(&decision)) return nothing->hosts;
    return none;
}

std::vector<std::string> awaited_ids(const Decision& decision) {
    std::vector<std::string> ids;
    for (const auto& host : hosts_of(decision))
        for (const auto& each : host.pending_releases) ids.push_back(each.server.str());
    return ids;
}

void enter(Ledger& ledger, const Request& request, const Decision& decision) {
    ASSERT_FALSE(std::holds_alternative<NotEnough>(decision));
    if (const auto* made = std::get_if<Plan>(&decision))
        ledger.enter(request, *made, at(0));
    else
        ledger.enter(request, hosts_of(decision), at(0));
}

// ---- deletions that other clients began ----

TEST(RoomOnItsWay, AServerThatItsUserDeletesCountsAsComingFree) {
    const auto a =
        host_with("a", 4, {deleting(revocable("v", on_a, two)), revocable("w", on_a, two)});
    const auto decision = plan(request(two), cloud({a}));
    ASSERT_TRUE(std::holds_alternative<NothingToDo>(decision));
    EXPECT_THAT(awaited_ids(decision), ElementsAre("v"));
    EXPECT_THAT(summary(decision), HasSubstr("when 1 server on the way out is gone, on a"));
    const auto& pending_releases = hosts_of(decision)[0].pending_releases[0];
    EXPECT_EQ(pending_releases.name, "name-of-v");
    EXPECT_EQ(pending_releases.reason, "its deletion has begun");
}

TEST(RoomOnItsWay, WhoIsDeletedAndHoldsRoomStillCountsAsComingFree) {
    const auto a =
        host_with("a", 4, {deleted(revocable("v", on_a, two)), revocable("w", on_a, two)});
    const auto decision = plan(request(two), cloud({a}));
    ASSERT_TRUE(std::holds_alternative<NothingToDo>(decision)) << summary(decision);
    EXPECT_THAT(awaited_ids(decision), ElementsAre("v"));
}

TEST(RoomOnItsWay, ARegularServersDeletionCountsToo) {
    const auto a = host_with("a", 2, {deleting(server("r", on_a, two))});
    EXPECT_THAT(awaited_ids(plan(request(two), cloud({a}))), ElementsAre("r"));
}

TEST(RoomOnItsWay, SoftDeletionFreesNothing) {
    auto soft = revocable("v", on_a, two);
    soft.task_state = "soft-deleting";
    auto kept = deleting(revocable("w", on_a, two));
    kept.status = "SOFT_DELETED";
    const auto a = host_with("a", 4, {soft, kept});
    EXPECT_TRUE(std::holds_alternative<NotEnough>(plan(request(two), cloud({a}))));
}

TEST(RoomOnItsWay, OnlyWhatIsMissingDies) {
    const auto a = host_with("a", 6,
                             {deleting(revocable("v", on_a, two)), revocable("w", on_a, two),
                              revocable("x", on_a, two)});
    const auto decision = plan(request(four), cloud({a}));
    EXPECT_THAT(victim_ids(decision), ElementsAre("w"));
    EXPECT_THAT(awaited_ids(decision), ElementsAre("v"));
    EXPECT_THAT(summary(decision), HasSubstr("1 server going already"));
}

TEST(RoomOnItsWay, WhatIsNotNeededIsNotAwaited) {
    const auto a =
        host_with("a", 8, {deleting(revocable("v", on_a, two)), deleting(server("w", on_a, four))});
    EXPECT_THAT(awaited_ids(plan(request(two), cloud({a}))), IsEmpty()) << "2 of 8 are free";
    EXPECT_THAT(awaited_ids(plan(request(four), cloud({a}))), ElementsAre("w"))
        << "v is left out first; then w is needed";
    EXPECT_THAT(awaited_ids(plan(request({{"VCPU", 8}}), cloud({a}))), ElementsAre("v", "w"));
}

TEST(RoomOnItsWay, RoomThatIsThereAtOnceComesFirst) {
    const auto a = host_with("a", 2, {deleting(revocable("v", on_a, two))});
    const auto b = host_with("b", 2, {});
    const auto one = plan(request(two), cloud({a, b}));
    ASSERT_EQ(hosts_of(one).size(), 1U);
    EXPECT_EQ(hosts_of(one)[0].host_name, "b");
    EXPECT_THAT(summary(one), HasSubstr("there already"));
    const auto both = plan(request(two, 2), cloud({a, b}));
    ASSERT_EQ(hosts_of(both).size(), 2U);
    EXPECT_THAT(awaited_ids(both), ElementsAre("v"));
}

TEST(RoomOnItsWay, WhatIsGivenUpOnCountsAsOccupiedUntilTheHostShowsItOtherwise) {
    auto a = host_with("a", 4, {deleting(revocable("v", on_a, two)), revocable("w", on_a, two)});
    Ledger ledger;
    ledger.give_up_on(on_a, ServerId{"v"}, at(10));
    EXPECT_THAT(victim_ids(plan(request(two), cloud({a}), {}, ledger)), ElementsAre("w"));
    a.read_at = at(20);
    ledger.expire(cloud({a}), at(21));
    EXPECT_THAT(victim_ids(plan(request(two), cloud({a}), {}, ledger)), ElementsAre("w"))
        << "still being deleted, still stuck";

    auto changed = a;
    changed.servers[0].task_state = {};
    changed.read_at = at(9);
    ledger.expire(cloud({changed}), at(22));
    EXPECT_FALSE(ledger.empty()) << "a reading from before says nothing";
    changed.read_at = at(30);
    ledger.expire(cloud({changed}), at(31));
    EXPECT_TRUE(ledger.empty());
    EXPECT_TRUE(std::holds_alternative<NothingToDo>(plan(request(two), cloud({a}), {}, ledger)))
        << "a client deletes it once more";
}

TEST(RoomOnItsWay, GivingUpOnAVictimOfAnotherRequestDoesNotMakeItAVictimOfTwo) {
    const auto a = host_with("a", 4, {revocable("v", on_a, four)});
    Ledger ledger;
    const auto first = request(two, 1, "req-1");
    enter(ledger, first, plan(first, cloud({a}), {}, ledger));
    ledger.give_up_on(on_a, ServerId{"v"}, at(10));
    EXPECT_TRUE(
        std::holds_alternative<NotEnough>(plan(request(two, 1, "req-2"), cloud({a}), {}, ledger)));
}

TEST(RoomOnItsWay, GivenUpServersAreBounded) {
    Ledger ledger;
    for (std::size_t i = 0; i <= Ledger::max_given_up; ++i)
        ledger.give_up_on(on_a, ServerId{std::to_string(i)}, at(static_cast<long>(i)));
    EXPECT_EQ(ledger.all_given_up().size(), Ledger::max_given_up);
    EXPECT_FALSE(ledger.given_up(ServerId{"0"})) << "the oldest made room";
}

// ---- other requests' evictions ----

TEST(RoomOnItsWay, OverlappingRequestsShareOneEviction) {
    const auto a = host_with("a", 4, {revocable("v", on_a, four)});
    Ledger ledger;
    const auto first = request(two, 1, "req-1");
    enter(ledger, first, plan(first, cloud({a}), {}, ledger));
    const auto second = request(two, 1, "req-2");
    const auto decision = plan(second, cloud({a}), {}, ledger);
    EXPECT_THAT(victim_ids(decision), IsEmpty());
    EXPECT_THAT(awaited_ids(decision), ElementsAre("v"));
    EXPECT_EQ(hosts_of(decision)[0].pending_releases[0].reason, "it is evicted for req-1");
    enter(ledger, second, decision);
    EXPECT_TRUE(
        std::holds_alternative<NotEnough>(plan(request(two, 1, "req-3"), cloud({a}), {}, ledger)))
        << "all of v's room is promised now";
}

TEST(RoomOnItsWay, RoomThatIsFreeDoesNotWaitForAnothersVictims) {
    const auto a = host_with("a", 4, {revocable("v", on_a, two)});
    Ledger ledger;
    const auto first = request(four, 1, "req-1");
    enter(ledger, first, plan(first, cloud({a}), {}, ledger));
    const auto b = host_with("b", 2, {});
    const auto on_b = plan(request(two, 1, "req-2"), cloud({a, b}), {}, ledger);
    EXPECT_THAT(awaited_ids(on_b), IsEmpty());
}

TEST(RoomOnItsWay, WhoseVictimsCoverItsOwnSlotsLeavesTheFreeRoomToOthers) {
    const auto a = host_with("a", 4, {revocable("v", on_a, two)});
    Ledger ledger;
    HostPlan evicts_v;
    evicts_v.host = on_a;
    evicts_v.slots = 1;
    evicts_v.victims.resize(1);
    evicts_v.victims[0].server = ServerId{"v"};
    ledger.enter(request(two, 1, "req-1"), std::vector<HostPlan>{evicts_v}, at(0));
    const auto decision = plan(request(two, 1, "req-2"), cloud({a}), {}, ledger);
    EXPECT_TRUE(std::holds_alternative<NothingToDo>(decision));
    EXPECT_THAT(awaited_ids(decision), IsEmpty());
}

TEST(RoomOnItsWay, AVictimThatItsRequestDoesNotWaitForCoversNoPromise) {
    // req-1 gave up on its victim v and took room that came free elsewhere on the host.
    auto a = host_with("a", 5, {revocable("v", on_a, two)});
    Ledger ledger;
    const auto first = request(two, 1, "req-1");
    HostPlan evicts_v;
    evicts_v.host = on_a;
    evicts_v.slots = 1;
    evicts_v.victims.resize(1);
    evicts_v.victims[0].server = ServerId{"v"};
    ledger.enter(first, std::vector<HostPlan>{evicts_v}, at(0));
    HostPlan again;
    again.host = on_a;
    again.slots = 1;
    ledger.enter(first, std::vector<HostPlan>{again}, at(1));
    EXPECT_THAT(awaited_ids(plan(request({{"VCPU", 3}}, 1, "req-2"), cloud({a}), {}, ledger)),
                ElementsAre("v"))
        << "of the 3 that are free today, 2 are promised";
}

TEST(RoomOnItsWay, ItsOwnEarlierVictimsAreAwaitedToo) {
    const auto a = host_with("a", 2, {revocable("v", on_a, two)});
    Ledger ledger;
    const auto wanted = request(two, 1, "req-1");
    enter(ledger, wanted, plan(wanted, cloud({a}), {}, ledger));
    const auto again = plan(wanted, cloud({a}), {}, ledger);
    EXPECT_THAT(awaited_ids(again), ElementsAre("v"));
    EXPECT_EQ(hosts_of(again)[0].pending_releases[0].reason,
              "it is evicted for this request already");
}

TEST(RoomOnItsWay, WhoseRequesterWentAwayLeavesItsRoomToTheNext) {
    const auto a = host_with("a", 4, {revocable("v", on_a, two), revocable("w", on_a, two)});
    Ledger ledger;
    const auto first = request(two, 1, "req-1");
    enter(ledger, first, plan(first, cloud({a}), {}, ledger));
    ASSERT_TRUE(ledger.evicting(ServerId{"v"}));
    ledger.release_promises(first.id);
    const auto decision = plan(request(two, 1, "req-2"), cloud({a}), {}, ledger);
    EXPECT_THAT(victim_ids(decision), IsEmpty());
    EXPECT_THAT(awaited_ids(decision), ElementsAre("v"));
    auto gone = without(a, "v");
    ledger.settle(first.id, at(5), at(60));
    gone.read_at = at(6);
    ledger.expire(cloud({gone}), at(7));
    EXPECT_TRUE(ledger.empty());
}

// ---- Mesos' cases (oversubscription for reservation, "Eviction") ----

TEST(MesosCases, Case1ARevocableServerThatIsTerminatingAlreadyIsNotPaidForTwice) {
    // v terminates by itself; a regular launch needs as much as it holds.
    const auto a =
        host_with("a", 4, {deleting(revocable("v", on_a, two)), revocable("w", on_a, two)});
    Ledger ledger;
    const auto launch = request(two, 1, "req-1");
    const auto decision = plan(launch, cloud({a}), {}, ledger);
    EXPECT_THAT(victim_ids(decision), IsEmpty());
    enter(ledger, launch, decision);
    // And the room is spoken for: a second launch does not count it.
    EXPECT_THAT(victim_ids(plan(request(two, 1, "req-2"), cloud({a}), {}, ledger)),
                ElementsAre("w"));
}

TEST(MesosCases, Case2TwoLaunchesAtOnceEvictNoMoreThanBothNeed) {
    auto a = host_with(
        "a", 6, {revocable("v", on_a, two), revocable("w", on_a, two), revocable("x", on_a, two)});
    Ledger ledger;
    const auto first = request(two, 1, "req-1");
    const auto first_plan = plan(first, cloud({a}), {}, ledger);
    ASSERT_EQ(victim_ids(first_plan).size(), 1U);
    enter(ledger, first, first_plan);
    const auto second = request(two, 1, "req-2");
    const auto second_plan = plan(second, cloud({a}), {}, ledger);
    ASSERT_EQ(victim_ids(second_plan).size(), 1U) << "not none, and not what evicts already";
    EXPECT_NE(victim_ids(second_plan), victim_ids(first_plan));
    enter(ledger, second, second_plan);
    EXPECT_EQ(ledger.evicting_on(on_a).size(), 2U);

    // The first one's victim is gone and its server boots, while the second one still evicts: no
    // third victim.
    a = without(a, victim_ids(first_plan)[0]);
    Server booted = server("first", on_a, two, 10);
    booted.project = first.project;
    put(a, booted);
    ledger.settle(first.id, at(9), at(60));
    a.read_at = at(11);
    ledger.expire(cloud({a}), at(12));
    EXPECT_TRUE(std::holds_alternative<NothingToDo>(plan(second, cloud({a}), {}, ledger)));
}

TEST(MesosCases, Case3ARevocableServerOnRoomJustFreedIsNeitherRefusedNorKilledWithoutNeed) {
    auto a = host_with("a", 4, {revocable("v", on_a, four)});
    Ledger ledger;
    const auto launch = request(two, 1, "req-1");
    const auto decision = plan(launch, cloud({a}), {}, ledger);
    ASSERT_THAT(victim_ids(decision), ElementsAre("v"));
    enter(ledger, launch, decision);
    // Of v's four, two are more than the launch needs: there is room for a revocable server.
    const auto room_for_revocable = [&] {
        const Shape shape = shape_of(two);
        const HostRoom room = room_on(a, shape, ledger, RequestId{"revocable"});
        return room.slots(shape, room.room_now());
    };
    EXPECT_EQ(room_for_revocable(), 1);
    a = without(a, "v");
    EXPECT_EQ(room_for_revocable(), 1);
    put(a, revocable("n", on_a, two, 10));
    EXPECT_EQ(room_for_revocable(), 0);
    // It runs beside what is promised, so no request needs its room.
    EXPECT_TRUE(std::holds_alternative<NothingToDo>(plan(launch, cloud({a}), {}, ledger)));
    ledger.settle(launch.id, at(11), at(60));
    Server booted = server("first", on_a, two, 12);
    booted.project = launch.project;
    put(a, booted);
    a.read_at = at(13);
    EXPECT_THAT(ledger.expire(cloud({a}), at(14)),
                ElementsAre(Ledger::Settled{launch.id, on_a, ServerId{"first"}, 1}));
    EXPECT_TRUE(ledger.promised_to_others(on_a, RequestId{"no-such"}).empty());
}

}  // namespace
}  // namespace reaper::room_on_its_way_test
