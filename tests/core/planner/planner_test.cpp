// The planner's rules and outcomes on small clouds.
#include "reaper/planner/planner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "core/cloud_builder.hpp"

namespace reaper::planner_test {
namespace {

using namespace reaper::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Resources big{{"VCPU", 8}, {"MEMORY_MB", 8192}};
const Resources half{{"VCPU", 4}, {"MEMORY_MB", 4096}};
const Resources quarter{{"VCPU", 2}, {"MEMORY_MB", 2048}};

/// A full host whose servers are named after it: `name-1`, ...
Host full(const std::string& name, int servers, const Resources& each) {
    Host made = host(name, big);
    for (int i = 1; i <= servers; ++i)
        put(made, revocable(name + "-" + std::to_string(i), made.id, each));
    return made;
}

TEST(Planner, FreesOneSlotWithTheFewestServersNeeded) {
    const Snapshot cloud{at(0), {full("a", 4, quarter)}, {}};
    const auto decision = plan(request(half), cloud);
    ASSERT_TRUE(std::holds_alternative<Plan>(decision));
    const auto& made = std::get<Plan>(decision);
    EXPECT_THAT(victim_ids(decision), ElementsAre("a-1", "a-2"));
    EXPECT_EQ(made.slots_requested, 1);
    EXPECT_EQ(made.slots_wanted, 1);
    EXPECT_EQ(made.slots_freed, 1);
    ASSERT_EQ(made.hosts.size(), 1U);
    EXPECT_EQ(made.hosts[0].slots, 1);
    EXPECT_EQ(made.hosts[0].slots_ready, 0);
    EXPECT_EQ(made.hosts[0].free_before, Resources{});
    EXPECT_EQ(made.hosts[0].free_after, half);
}

TEST(Planner, TellsWhyEachVictimAndEachOtherHost) {
    Host small = host("small", quarter);
    const Snapshot cloud{at(0), {full("a", 2, half), full("b", 1, big), small}, {}};
    const auto decision = plan(request(half), cloud);
    ASSERT_TRUE(std::holds_alternative<Plan>(decision));
    const auto victims = std::get<Plan>(decision).victims();
    ASSERT_EQ(victims.size(), 1U);
    EXPECT_EQ(victims[0].reason,
              "its project cheap carries the tag 'preemptible'; needed: keeping it leaves "
              "the host 4 VCPU, 4096 MEMORY_MB short for 1 slot");
    EXPECT_EQ(victims[0].host, "a");
    EXPECT_EQ(victims[0].resources, half);
    EXPECT_EQ(rejection_of(decision, "b").code, RejectionCode::ranked_lower);
    EXPECT_EQ(rejection_of(decision, "b").reason,
              "would leave at least VCPU=4 MEMORY_MB=4096 unused with 1 victim or more; chosen "
              "hosts leave nothing unused with 1 victim");
    EXPECT_EQ(rejection_of(decision, "small").code, RejectionCode::not_enough_capacity);
}

TEST(Planner, NothingToDoWhenTheRoomIsThereOverSeveralHosts) {
    Host a = host("a", big);
    put(a, revocable("a-1", a.id, half));
    Host b = a;
    b.id = HostId{"b"};
    b.name = "b";
    b.providers[0].id = ProviderId{"b"};
    const auto decision = plan(request(half, 2), Snapshot{at(0), {a, b}, {}});
    ASSERT_TRUE(std::holds_alternative<NothingToDo>(decision)) << summary(decision);
    EXPECT_EQ(std::get<NothingToDo>(decision).hosts.size(), 2U);
}

TEST(Planner, AnyNumberOfSlotsIsARequest) {
    PlanOptions options;
    options.alternatives = 3;
    for (const int slots : {1'001, std::numeric_limits<int>::max()}) {
        const auto decision =
            plan(request(half, slots), Snapshot{at(0), {full("a", 2, half)}, {}}, options);
        ASSERT_TRUE(std::holds_alternative<NotEnough>(decision)) << summary(decision);
        EXPECT_EQ(std::get<NotEnough>(decision).slots_requested, slots);
        EXPECT_EQ(std::get<NotEnough>(decision).slots_possible, 2);
    }
}

TEST(Planner, AlternativesAloneNeverKill) {
    Host a = full("a", 1, half);
    PlanOptions options;
    options.alternatives = 3;
    EXPECT_TRUE(std::holds_alternative<NothingToDo>(
        plan(request(half), Snapshot{at(0), {a}, {}}, options)));
}

TEST(Planner, FreesAlternativesAsFarAsTheyArePossible) {
    PlanOptions options;
    options.alternatives = 3;
    const auto decision =
        plan(request(half, 1), Snapshot{at(0), {full("a", 2, half)}, {}}, options);
    ASSERT_TRUE(std::holds_alternative<Plan>(decision));
    EXPECT_EQ(std::get<Plan>(decision).slots_wanted, 3);
    EXPECT_EQ(std::get<Plan>(decision).slots_freed, 2);
    EXPECT_THAT(victim_ids(decision), ElementsAre("a-1", "a-2"));
}

TEST(Planner, HugeAlternativesDoNotOverflow) {
    PlanOptions options;
    options.alternatives = std::numeric_limits<int>::max();
    const auto decision = plan(request(half, std::numeric_limits<int>::max()),
                               Snapshot{at(0), {full("a", 2, half)}, {}}, options);
    EXPECT_TRUE(std::holds_alternative<NotEnough>(decision));
}

TEST(Planner, CountsReadySlotsFirst) {
    Host ready = host("z", big);
    put(ready, server("regular", ready.id, half));
    const auto decision = plan(request(half, 2), Snapshot{at(0), {full("a", 2, half), ready}, {}});
    ASSERT_TRUE(std::holds_alternative<Plan>(decision));
    const auto& made = std::get<Plan>(decision);
    EXPECT_EQ(victim_ids(decision).size(), 1U);
    ASSERT_EQ(made.hosts.size(), 2U);
    EXPECT_EQ(made.hosts[1].host_name, "z");
    EXPECT_EQ(made.hosts[1].slots_ready, 1);
    EXPECT_THAT(made.hosts[1].victims, IsEmpty());
    EXPECT_EQ(made.hosts[1].reason, "has room for 1 slot without a deletion");
}

TEST(Planner, OneLargeVictimMayGiveSeveralSlots) {
    const auto decision = plan(request(quarter, 3), Snapshot{at(0), {full("a", 1, big)}, {}});
    ASSERT_TRUE(std::holds_alternative<Plan>(decision));
    EXPECT_EQ(std::get<Plan>(decision).slots_freed, 3);
    EXPECT_EQ(std::get<Plan>(decision).hosts[0].slots, 3);
}

TEST(Planner, RequestWithoutResourcesOrSlotsNeedsNothing) {
    const Snapshot cloud{at(0), {full("a", 2, half)}, {}};
    EXPECT_TRUE(std::holds_alternative<Refused>(plan(request({}), cloud)));
    EXPECT_TRUE(std::holds_alternative<Refused>(plan(request(half, 0), cloud)));
}

TEST(Planner, EmptyCloudIsNotEnough) {
    const auto decision = plan(request(half), Snapshot{});
    ASSERT_TRUE(std::holds_alternative<NotEnough>(decision));
    EXPECT_THAT(std::get<NotEnough>(decision).reason, HasSubstr("no hosts are known"));
}

TEST(Planner, Rule1MovingSparedAndRegularServersAreNoVictims) {
    Host a = host("a", big);
    auto moving = revocable("moving", a.id, quarter);
    moving.task_state = "migrating";
    put(a, moving);
    auto unknown = revocable("unknown", a.id, quarter);
    unknown.status = "UNKNOWN";
    put(a, unknown);
    put(a, revocable("skipped", a.id, quarter));
    put(a, server("regular", a.id, quarter));
    PlanOptions options;
    options.skipped.emplace(ServerId{"skipped"}, "a fresh read found it protected");
    const auto decision = plan(request(quarter), Snapshot{at(0), {a}, {}}, options);
    ASSERT_TRUE(std::holds_alternative<NotEnough>(decision)) << summary(decision);
    const auto why = rejection_of(decision, "a").reason;
    EXPECT_THAT(why, HasSubstr("1 revocable server can't be deleted: it is between two hosts"));
    EXPECT_THAT(why, HasSubstr("(ACTIVE, migrating)"));
    EXPECT_THAT(why, HasSubstr("its state is unknown (UNKNOWN)"));
    EXPECT_THAT(why, HasSubstr("a fresh read found it protected"));
}

TEST(Planner, Rule1ServersInAPassingStateAreNoVictims) {
    for (const auto* status : {"RESIZE", "SOFT_DELETED", "MIGRATING"}) {
        Host a = host("a", big);
        auto victim = revocable("v", a.id, big);
        victim.status = status;
        put(a, victim);
        EXPECT_TRUE(
            std::holds_alternative<NotEnough>(plan(request(half), Snapshot{at(0), {a}, {}})))
            << status;
    }
}

TEST(Planner, Rule1ServerThatHoldsNothingHereIsNoVictim) {
    Host a = host("a", big);
    put(a, server("regular", a.id, big));
    put(a, revocable("elsewhere", ProviderId{"another"}, big));
    EXPECT_TRUE(std::holds_alternative<NotEnough>(plan(request(half), Snapshot{at(0), {a}, {}})));
}

TEST(Planner, Rule2AllOrNothing) {
    // Three hosts with half a slot each: together enough, on no host enough.
    std::vector<Host> hosts;
    for (const auto* name : {"a", "b", "c"}) {
        Host made = host(name, big);
        put(made, server(std::string{"regular-"} + name, made.id, Resources{{"VCPU", 6}}));
        put(made, revocable(std::string{"v-"} + name, made.id, quarter));
        hosts.push_back(made);
    }
    const auto one = plan(request(half), Snapshot{at(0), hosts, {}});
    ASSERT_TRUE(std::holds_alternative<NotEnough>(one));
    EXPECT_EQ(std::get<NotEnough>(one).slots_possible, 0);
    EXPECT_EQ(rejection_of(one, "a").reason,
              "2 VCPU short even if its 1 revocable server were deleted");

    // Two of three slots are possible: no servers deleted for two.
    const auto three = plan(request(half, 3), Snapshot{at(0), {full("a", 2, half)}, {}});
    ASSERT_TRUE(std::holds_alternative<NotEnough>(three));
    EXPECT_EQ(std::get<NotEnough>(three).slots_possible, 2);
    EXPECT_THAT(std::get<NotEnough>(three).reason, HasSubstr("only 2 of 3 slots"));
}

TEST(Planner, Rule3AnEarlierVictimIsSparedWhenALaterOneGivesItsSlotToo) {
    // The first slot is cheapest on `a` (leaves nothing); the second only comes with b's one
    // server, which gives both.
    Host a = host("a", half);
    put(a, revocable("a-1", a.id, half));
    Host b = host("b", big);
    put(b, revocable("b-1", b.id, big));
    const auto decision = plan(request(half, 2), Snapshot{at(0), {a, b}, {}});
    EXPECT_THAT(victim_ids(decision), ElementsAre("b-1"));
    EXPECT_EQ(std::get<Plan>(decision).slots_freed, 2);
}

TEST(Planner, Rule4RoomPromisedToAnotherRequestIsNotCounted) {
    const Snapshot before{at(0), {full("a", 2, half)}, {}};
    Ledger ledger;
    const auto first = request(half, 1, "req-1");
    const auto first_plan = plan(first, before, {}, ledger);
    ASSERT_THAT(victim_ids(first_plan), ElementsAre("a-1"));
    ledger.enter(first, std::get<Plan>(first_plan), at(1));

    // While a-1 is still listed, and when it is gone: the second request needs its own victim.
    const auto second = request(half, 1, "req-2");
    EXPECT_THAT(victim_ids(plan(second, before, {}, ledger)), ElementsAre("a-2"));
    ledger.drop_eviction(ServerId{"a-1"});
    Host after = host("a", big);
    put(after, revocable("a-2", after.id, half));
    EXPECT_THAT(victim_ids(plan(second, Snapshot{at(2), {after}, {}}, {}, ledger)),
                ElementsAre("a-2"));
    // The first request itself may count it.
    EXPECT_TRUE(
        std::holds_alternative<NothingToDo>(plan(first, Snapshot{at(2), {after}, {}}, {}, ledger)));
}

TEST(Planner, Rule4EvictionsUnderWayAreNotChosenAgain) {
    const Snapshot cloud{at(0), {full("a", 2, half)}, {}};
    Ledger ledger;
    const auto wanted = request(half, 1, "req-1");
    const auto decision = plan(wanted, cloud, {}, ledger);
    ledger.enter(wanted, std::get<Plan>(decision), at(1));
    EXPECT_TRUE(std::holds_alternative<NothingToDo>(plan(wanted, cloud, {}, ledger)));
    auto more = request(half, 2, "req-1");
    EXPECT_THAT(victim_ids(plan(more, cloud, {}, ledger)), ElementsAre("a-2"));
}

TEST(Planner, StrategyThatSelectsWhatWasNotOfferedIsABrokenInvariant) {
    class Broken : public Strategy {
        Selection select(const Problem&) const override {
            Selection selection;
            selection.hosts[0].victims = {0, 0};
            return selection;
        }
    };
    const Snapshot cloud{at(0), {full("a", 2, half)}, {}};
    EXPECT_THROW(make_plan(request(half), cloud, Ledger{}, Broken{}, "broken", {}),
                 std::logic_error);
}

TEST(Planner, StrategyThatFreesTooLittleDeletesNoServer) {
    class Lazy : public Strategy {
        Selection select(const Problem&) const override {
            Selection selection;
            selection.note = "tired";
            return selection;
        }
    };
    const Snapshot cloud{at(0), {full("a", 2, half)}, {}};
    const auto decision = make_plan(request(half), cloud, Ledger{}, Lazy{}, "lazy", {});
    ASSERT_TRUE(std::holds_alternative<NotEnough>(decision));
    EXPECT_THAT(std::get<NotEnough>(decision).reason, HasSubstr("tired"));
}

TEST(Planner, TheNearestRunnerUpIsFirstThenTheOthersInNaturalOrder) {
    Snapshot cloud{at(0), {}, {}};
    // `best` wastes nothing, `host-9` less than the others.
    cloud.hosts.push_back(full("best", 2, half));
    for (const char* name : {"host-1", "host-10", "host-2"})
        cloud.hosts.push_back(full(name, 1, big));
    Host nearest = host("host-9", half + quarter);
    put(nearest, revocable("host-9-1", nearest.id, half + quarter));
    cloud.hosts.push_back(nearest);
    for (const char* name : {"small-10", "small-2"}) cloud.hosts.push_back(host(name, quarter));
    const auto decision = plan(request(half), cloud);
    ASSERT_TRUE(std::holds_alternative<Plan>(decision)) << summary(decision);
    std::vector<std::string> order;
    for (const auto& each : std::get<Plan>(decision).rejected) order.push_back(each.host_name);
    ASSERT_EQ(order.size(), 6U);
    EXPECT_EQ(order.front(), "host-9");
    EXPECT_EQ(order[4], "small-2");
    EXPECT_EQ(order[5], "small-10");
}

TEST(Planner, AServerThatHoldsRoomOnTwoHostsFreesBoth) {
    for (const char* const other : {"a", "z"}) {
        Host to = host("to", half);
        put(to, revocable("resized", to.id, half));
        const Resources less{{"VCPU", 3}, {"MEMORY_MB", 3072}};
        Host from = host("from", less + half);  // one slot, whichever of them goes
        put(from, revocable("resized", from.id, less));
        from.left_behind = std::move(from.servers);
        from.left_behind[0].host = to.service_host;
        from.left_behind[0].held_by = ServerId{"migration"};
        from.servers.clear();
        put(from, revocable(other, from.id, less));
        const Snapshot cloud{at(0), {from, to}, {}};
        Budgets budgets;
        budgets.all = {Budget{1, "limit-window", "all"}};
        PlanOptions options;
        options.budgets = &budgets;
        for (const char* const strategy : {"strict", "strict_time", "chance", "cost"})
            EXPECT_THAT(victim_ids(plan(request(half, 2), cloud, options, {}, strategy)),
                        ElementsAre("resized", "resized"))
                << strategy << ", " << other;
    }
}

TEST(Planner, StrategyThatSelectsEverythingLeavesAMinimalPlan) {
    class Greedy : public Strategy {
        Selection select(const Problem& problem) const override {
            Selection selection;
            for (std::size_t host = 0; host < problem.hosts.size(); ++host)
                for (std::size_t i = 0; i < problem.hosts[host].candidates.size(); ++i)
                    selection.hosts[host].victims.push_back(i);
            return selection;
        }
    };
    const Snapshot cloud{at(0), {full("a", 4, quarter), full("b", 4, quarter)}, {}};
    const auto decision = make_plan(request(half), cloud, Ledger{}, Greedy{}, "greedy", {});
    EXPECT_EQ(victim_ids(decision).size(), 2U);
    EXPECT_EQ(rejection_of(decision, "b").code, RejectionCode::ranked_lower);
}

}  // namespace
}  // namespace reaper::planner_test
