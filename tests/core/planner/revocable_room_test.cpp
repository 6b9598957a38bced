// The phase that looks for revocable room, and the order of the phases.
#include "reaper/planner/revocable_room.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"

namespace reaper::revocable_room_test {
namespace {

using namespace reaper::testing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Resources slot{{"VCPU", 2}, {"MEMORY_MB", 2048}};
const ResourceClasses marker{ResourceClass{"CUSTOM_PREEMPTIBLE"}};
const ResourceClasses oversold{ResourceClass{"CUSTOM_REVOCABLE_VCPU"}};

/// Full of regular servers, as far as VCPU goes; with nested room.
Host full_host(const std::string& name, const Resources& nested) {
    Host made = host(name, {{"VCPU", 4}, {"MEMORY_MB", 16384}});
    put(made, server(name + "-web", made.id, {{"VCPU", 4}, {"MEMORY_MB", 8192}}));
    if (!nested.empty()) nest(made, name + "-nested", nested);
    return made;
}

Decision found(const Request& wanted, const Snapshot& cloud, const ResourceClasses& classes,
               const Ledger& ledger = {}) {
    return find_revocable_room(wanted, CloudIndex{cloud}, ledger, classes);
}

Snapshot cloud_of(std::vector<Host> hosts) {
    Snapshot cloud;
    cloud.hosts = std::move(hosts);
    return cloud;
}

const NothingToDo& nothing(const Decision& decision) {
    const auto* const told = std::get_if<NothingToDo>(&decision);
    if (told != nullptr) return *told;
    ADD_FAILURE() << summary(decision);
    static const NothingToDo none;
    return none;
}

std::string refusal(const Decision& decision) {
    const auto* const less = std::get_if<NotEnough>(&decision);
    return less == nullptr ? "not refused: " + summary(decision) : less->reason;
}

TEST(RevocableSlot, TakesOneOfTheClassOnTop) {
    EXPECT_THAT(revocable_slots(slot, marker),
                ElementsAre(slot + Resources{{"CUSTOM_PREEMPTIBLE", 1}}));
    const Resources said = slot + Resources{{"CUSTOM_PREEMPTIBLE", 3}};
    EXPECT_THAT(revocable_slots(said, marker), ElementsAre(said));
}

TEST(RevocableSlot, TakesOversubscribedRoomInPlaceOfTheOrdinaryOne) {
    EXPECT_THAT(revocable_slots(slot, oversold),
                ElementsAre(Resources{{"CUSTOM_REVOCABLE_VCPU", 2}, {"MEMORY_MB", 2048}}));
    EXPECT_THAT(revocable_slots({{"DISK_GB", 1}}, oversold),
                ElementsAre(Resources{{"CUSTOM_REVOCABLE_VCPU", 1}, {"DISK_GB", 1}}));
    EXPECT_TRUE(revocable_slots(slot, {}).empty());
}

TEST(RevocableRoom, OversubscribedRoomOnAFullHostIsFound) {
    const auto cloud =
        cloud_of({full_host("a", {}), full_host("b", {{"CUSTOM_REVOCABLE_VCPU", 4}})});
    const auto decision = found(request(slot, 2), cloud, oversold);
    const NothingToDo& told = nothing(decision);
    EXPECT_EQ(told.room, ResType::revocable);
    ASSERT_EQ(told.hosts.size(), 1U);
    EXPECT_EQ(told.hosts[0].host_name, "b");
    EXPECT_EQ(told.hosts[0].slots, 2);
    EXPECT_TRUE(told.hosts[0].victims.empty());
    EXPECT_THAT(told.reason, AllOf(HasSubstr("revocable room for 2 slots is free on b"),
                                   HasSubstr("CUSTOM_REVOCABLE_VCPU=2")));
}

TEST(RevocableRoom, AMarkedSlotNeedsTheOrdinaryRoomToo) {
    auto cloud = cloud_of({full_host("a", {{"CUSTOM_PREEMPTIBLE", 4}})});
    EXPECT_THAT(refusal(found(request(slot), cloud, marker)), HasSubstr("2 VCPU short"));
    cloud.hosts[0].providers[0].inventories[ResourceClass{"VCPU"}].total = 6;
    EXPECT_EQ(nothing(found(request(slot), cloud, marker)).room, ResType::revocable);
    EXPECT_THAT(refusal(found(request(slot, 2), cloud, marker)), HasSubstr("1 of 2 slots"));
}

TEST(RevocableRoom, SeveralHostsTogetherGiveTheSlots) {
    const Resources nested{{"CUSTOM_REVOCABLE_VCPU", 2}};
    const auto cloud = cloud_of({full_host("a", nested), full_host("b", nested)});
    EXPECT_EQ(nothing(found(request(slot, 2), cloud, oversold)).hosts.size(), 2U);
    EXPECT_THAT(refusal(found(request(slot, 3), cloud, oversold)), HasSubstr("2 of 3 slots"));
}

TEST(RevocableRoom, RevocableServersInTheWayDoNotDie) {
    Host one = full_host("a", {{"CUSTOM_REVOCABLE_VCPU", 2}});
    Server there = revocable("batch", one.id, {{"MEMORY_MB", 1024}});
    there.allocations.insert_or_assign(one.providers.back().id,
                                       Resources{{"CUSTOM_REVOCABLE_VCPU", 2}});
    put(one, there);
    const auto decision = found(request(slot), cloud_of({one}), oversold);
    EXPECT_THAT(refusal(decision), HasSubstr("that a revocable slot takes"));
    EXPECT_TRUE(victim_ids(decision).empty());
}

TEST(RevocableRoom, AHostThatTheRequestMayNotUseIsNoRoom) {
    auto cloud = cloud_of({full_host("a", {{"CUSTOM_REVOCABLE_VCPU", 4}})});
    cloud.hosts[0].enabled = false;
    EXPECT_THAT(refusal(found(request(slot), cloud, oversold)), HasSubstr("disabled"));
    cloud.hosts[0].enabled = true;
    auto wanted = request(slot);
    wanted.availability_zone = "elsewhere";
    EXPECT_THAT(refusal(found(wanted, cloud, oversold)), HasSubstr("zone"));
}

TEST(RevocableRoom, PromisedRoomIsNotFree) {
    const auto cloud = cloud_of({full_host("a", {{"CUSTOM_REVOCABLE_VCPU", 4}})});
    Ledger ledger;
    Request other = request({{"MEMORY_MB", 8192}}, 1, "req-2");
    ledger.enter(other, {HostPlan{cloud.hosts[0].id, "a", 1, 1, {}, {}, {}, {}, ""}}, at(0));
    EXPECT_THAT(refusal(found(request(slot), cloud, oversold, ledger)), HasSubstr("MEMORY_MB"));
}

TEST(RevocableRoom, RegularHostsAreNoCandidates) {
    EXPECT_THAT(refusal(found(request(slot), cloud_of({host("a", slot * 4)}), marker)),
                HasSubstr("labelled regular"));
    Host held = host("a", slot * 4);
    put(held, revocable("batch", held.id, slot));
    EXPECT_THAT(refusal(found(request(slot), cloud_of({held}), {})),
                HasSubstr("no tagger names a class"));
}

// ---- the order of the phases ----

const Phases only_regular{ResType::regular, false};
const Phases regular_first{ResType::regular, true};
const Phases only_revocable{ResType::revocable, false};
const Phases revocable_first{ResType::revocable, true};

/// What each kind of search answers, and in which order they were asked.
class Phased : public ::testing::Test {
protected:
    Phased() {
        plan_.slots_freed = 1;
        room_.reason = "there is some";
        room_.room = ResType::revocable;
        no_room_.reason = "no revocable room";
        no_plan_.reason = "no plan";
        no_plan_.safeguard = "limit-window";
    }
    Decision decide(const Phases& phases) {
        asked_.clear();
        return decide_in_phases(phases, [this](ResType type) {
            asked_.emplace_back(to_string(type));
            return type == ResType::regular ? regular_ : revocable_;
        });
    }
    Plan plan_;
    NothingToDo room_;
    NotEnough no_room_, no_plan_;
    Decision regular_, revocable_;
    std::vector<std::string> asked_;
};

TEST_F(Phased, OneKindIsAskedOnce) {
    regular_ = plan_;
    revocable_ = room_;
    EXPECT_TRUE(std::holds_alternative<Plan>(decide(only_regular)));
    EXPECT_THAT(asked_, ElementsAre("regular"));
    EXPECT_EQ(nothing(decide(only_revocable)).room, ResType::revocable);
    EXPECT_THAT(asked_, ElementsAre("revocable"));
    regular_ = no_plan_;
    revocable_ = no_room_;
    EXPECT_EQ(refusal(decide(only_regular)), "no plan");
    EXPECT_EQ(refusal(decide(only_revocable)), "no revocable room");
}

TEST_F(Phased, RegularFirstCullsIfItCan) {
    regular_ = plan_;
    revocable_ = room_;
    EXPECT_TRUE(std::holds_alternative<Plan>(decide(regular_first)));
    EXPECT_THAT(asked_, ElementsAre("regular"));
}

TEST_F(Phased, RegularFirstTellsOfRevocableRoomIfItCant) {
    regular_ = no_plan_;
    revocable_ = room_;
    const auto decision = decide(regular_first);
    EXPECT_THAT(asked_, ElementsAre("regular", "revocable"));
    EXPECT_EQ(nothing(decision).room, ResType::revocable);
    EXPECT_THAT(nothing(decision).reason, AllOf(HasSubstr("there is some"), HasSubstr("no plan")));
    revocable_ = no_room_;
    const auto neither = decide(regular_first);
    EXPECT_THAT(refusal(neither), AllOf(HasSubstr("no plan"), HasSubstr("no revocable room")));
    EXPECT_EQ(std::get<NotEnough>(neither).safeguard, "limit-window");
}

TEST_F(Phased, RevocableFirstCullsOnlyWithoutRevocableRoom) {
    regular_ = plan_;
    revocable_ = room_;
    EXPECT_EQ(nothing(decide(revocable_first)).room, ResType::revocable);
    EXPECT_THAT(asked_, ElementsAre("revocable"));
    revocable_ = no_room_;
    const auto decision = decide(revocable_first);
    EXPECT_THAT(asked_, ElementsAre("revocable", "regular"));
    ASSERT_TRUE(std::holds_alternative<Plan>(decision));
    EXPECT_EQ(std::get<Plan>(decision).note, "no revocable room");
}

}  // namespace
}  // namespace reaper::revocable_room_test
