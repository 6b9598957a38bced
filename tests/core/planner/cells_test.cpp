// Nova's cells: which servers may go where, what is refused, and what cools down where they are
// unknown.
#include "reaper/planner/cells.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"
#include "reaper/cloud/cache/cells_seen.hpp"
#include "reaper/decision/decide.hpp"

namespace reaper::cells_test {
namespace {

using namespace reaper::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

const Resources whole{{"VCPU", 8}};
const Resources half{{"VCPU", 4}};

/// `e1` and `e2` in the east, `w1` in the west, where one victim makes a slot: two elsewhere.
Snapshot three_hosts() {
    Snapshot cloud;
    cloud.taken_at = at(1000);
    for (const char* const name : {"e1", "e2", "w1"}) {
        Host made = host(name, whole);
        const std::string id{name};
        put(made, server(id + "-regular", made.id, half));
        const Resources size = id == "w1" ? half : Resources{{"VCPU", 2}};
        for (int i = 1; i <= (id == "w1" ? 1 : 2); ++i)
            put(made, revocable(id + "-" + std::to_string(i), made.id, size));
        cloud.hosts.push_back(std::move(made));
    }
    HostAggregates west;
    west.emplace("uuid-w", HostAggregate{"west-racks", {}});
    cloud.hosts[2].member_of = std::move(west);
    return cloud;
}

const std::vector<Cell> both{{"east", {"e*"}, {}, false}, {"west", {}, {"west-racks"}, false}};

SchedulerRules rules_with(std::vector<Cell> cells) {
    SchedulerRules rules;
    rules.cells = std::move(cells);
    return rules;
}

Request moved(Operation operation, const std::string& from) {
    Request made = request(half);
    made.operation = operation;
    made.from_host = from;
    if (operation != Operation::unshelve && !from.empty())
        made.excluded_hosts.emplace(from, "the server is on it");
    return made;
}

Decision plan_with(const Request& wanted, const SchedulerRules& rules) {
    PlanOptions options;
    options.scheduler = &rules;
    return plan(wanted, three_hosts(), options);
}

std::string name_of(const std::variant<const Cell*, std::string>& found) {
    const auto* const cell = std::get_if<const Cell*>(&found);
    return cell == nullptr ? std::get<std::string>(found) : (*cell)->name;
}

TEST(Cells, AHostIsInTheOneThatNamesItOrAnAggregateOfIt) {
    const Snapshot cloud = three_hosts();
    EXPECT_EQ(name_of(cell_of(cloud.hosts[0], both)), "east");
    EXPECT_EQ(name_of(cell_of(cloud.hosts[2], both)), "west");
    EXPECT_EQ(name_of(cell_of(cloud.hosts[2], {{"by-id", {}, {"uuid-w"}, false}})), "by-id");
    EXPECT_EQ(name_of(cell_of(host("x1", whole), both)), "is in no cell of scheduler.cells");
    EXPECT_EQ(name_of(cell_of(cloud.hosts[0], {both[0], {"all", {"*"}, {}, false}})),
              "is in two cells by scheduler.cells, 'east' and 'all'");
    EXPECT_EQ(name_of(cell_of(cloud.hosts[0], {{"one", {"e?"}, {}, false}})), "one");
}

class Moves : public ::testing::TestWithParam<Operation> {};

TEST_P(Moves, StayInTheirCell) {
    EXPECT_THAT(victim_ids(plan(moved(GetParam(), "e1"), three_hosts())), ElementsAre("w1-1"))
        << "what happens where the cells are unknown";
    const SchedulerRules rules = rules_with(both);
    const auto decision = plan_with(moved(GetParam(), "e1"), rules);
    if (GetParam() == Operation::unshelve)
        EXPECT_THAT(victim_ids(decision), ElementsAre("e1-1", "e1-2"));
    else
        EXPECT_THAT(victim_ids(decision), ElementsAre("e2-1", "e2-2"));
    const auto rejection = rejection_of(decision, "w1");
    EXPECT_EQ(to_string(rejection.code), "other-cell");
    EXPECT_THAT(rejection.reason, HasSubstr("its cell 'east'; this host is in 'west'"));
}

INSTANTIATE_TEST_SUITE_P(Operations, Moves,
                         ::testing::Values(Operation::resize, Operation::migrate,
                                           Operation::live_migrate, Operation::evacuate,
                                           Operation::unshelve),
                         [](const auto& row) {
                             std::string name{to_string(row.param)};
                             std::erase(name, '-');
                             return name;
                         });

TEST(Cells, NewServersGoAnywhereButToADisabledOne) {
    SchedulerRules rules = rules_with(both);
    EXPECT_THAT(victim_ids(plan_with(request(half), rules)), ElementsAre("w1-1"));
    rules.cells[1].disabled = true;
    const auto decision = plan_with(request(half), rules);
    EXPECT_THAT(victim_ids(decision), ElementsAre("e1-1", "e1-2"));
    EXPECT_EQ(to_string(rejection_of(decision, "w1").code), "disabled");
    EXPECT_EQ(rejection_of(decision, "w1").reason, "its cell 'west' is disabled");
    // A server that is there may be moved within it.
    rules.cells[0].disabled = true;
    EXPECT_THAT(victim_ids(plan_with(moved(Operation::migrate, "e1"), rules)),
                ElementsAre("e2-1", "e2-2"));
}

TEST(Cells, ResizesMayCrossThemWhereAPolicySaysSo) {
    SchedulerRules rules = rules_with(both);
    rules.cross_cell_resize = true;
    EXPECT_THAT(victim_ids(plan_with(moved(Operation::resize, "e1"), rules)), ElementsAre("w1-1"));
    EXPECT_THAT(victim_ids(plan_with(moved(Operation::live_migrate, "e1"), rules)),
                ElementsAre("e2-1", "e2-2"));
}

TEST(Cells, AHostOfNoCellIsNoPlaceForAMovedServer) {
    const SchedulerRules rules = rules_with({both[0]});
    const auto rejection = rejection_of(plan_with(moved(Operation::resize, "e1"), rules), "w1");
    EXPECT_EQ(to_string(rejection.code), "other-cell");
    EXPECT_THAT(rejection.reason, HasSubstr("this host is in no cell of scheduler.cells"));
}

// ---- decisions ----

CompiledPolicy policy_with(std::vector<Cell> cells) {
    CompiledPolicy policy;
    policy.strategy = make_strategy("strict");
    policy.strategy_name = "strict";
    policy.scheduler = rules_with(std::move(cells));
    return policy;
}

Decision decided(const CompiledPolicy& policy, const Request& wanted, Safeguards& safeguards) {
    const CloudView view{three_hosts(), {}, {}};
    return decide(policy, wanted, view, {}, safeguards, {});
}

std::string refusal(const Decision& decision) {
    const auto* const refused = std::get_if<Refused>(&decision);
    return refused == nullptr ? summary(decision) : refused->reason;
}

TEST(Cells, WhereItsOwnIsNotKnownAMoveIsRefused) {
    Safeguards nothing;
    const auto policy = policy_with(both);
    EXPECT_THAT(refusal(decided(policy, moved(Operation::unshelve, ""), nothing)),
                HasSubstr("its server stays in its cell, and is on no host, and its last host is"));
    EXPECT_THAT(refusal(decided(policy, moved(Operation::evacuate, "x9"), nothing)),
                HasSubstr("was last on 'x9', which is in no cell of scheduler.cells"));
    // A host that is gone from the cloud is known by its name.
    EXPECT_THAT(victim_ids(decided(policy, moved(Operation::evacuate, "e9"), nothing)),
                ElementsAre("e1-1", "e1-2"));
}

constexpr bool wasted = false;

TEST(Cells, WithoutKnownCellsAWastedMoveCoolsDownItsHost) {
    Safeguards safeguards;
    const auto policy = policy_with({});
    const Request wanted = moved(Operation::resize, "e1");
    EXPECT_THAT(victim_ids(decided(policy, wanted, safeguards)), ElementsAre("w1-1"));
    safeguards.note_move(wanted, wasted, at(900));
    const auto decision = decided(policy, wanted, safeguards);
    ASSERT_TRUE(std::holds_alternative<NotEnough>(decision)) << summary(decision);
    EXPECT_EQ(std::get<NotEnough>(decision).safeguard, "cell-cooldown");
    EXPECT_THAT(std::get<NotEnough>(decision).reason, HasSubstr("scheduler.cells has to say"));
    // Of another host, other servers may go; of any, if there are several cells for sure.
    const Request other = moved(Operation::live_migrate, "e2");
    EXPECT_THAT(victim_ids(decided(policy, other, safeguards)), ElementsAre("w1-1"));
    safeguards.see_several_cells(true);
    EXPECT_TRUE(std::holds_alternative<NotEnough>(decided(policy, other, safeguards)));
    // New servers, and those whose cells are known, are not held back.
    EXPECT_THAT(victim_ids(decided(policy, request(half), safeguards)), ElementsAre("w1-1"));
    EXPECT_THAT(victim_ids(decided(policy_with(both), wanted, safeguards)),
                ElementsAre("e2-1", "e2-2"));
}

TEST(Cells, WithoutAWordOnThemOneMoveIsTriedAtATime) {
    const auto policy = policy_with({});
    Request first = moved(Operation::evacuate, "e1");
    first.id = RequestId{"first"};
    Safeguards safeguards;
    safeguards.note_cull(first);
    const auto decision = decided(policy, moved(Operation::evacuate, "e1"), safeguards);
    ASSERT_TRUE(std::holds_alternative<NotEnough>(decision)) << summary(decision);
    EXPECT_EQ(std::get<NotEnough>(decision).safeguard, "cell-cooldown");
    EXPECT_THAT(std::get<NotEnough>(decision).reason, HasSubstr("another move (first)"));
    EXPECT_TRUE(std::holds_alternative<Plan>(decided(policy, first, safeguards)))
        << "what was begun is brought to its end";
    const Request other = moved(Operation::evacuate, "e2");
    EXPECT_TRUE(std::holds_alternative<Plan>(decided(policy, other, safeguards)));
    safeguards.see_several_cells(true);
    EXPECT_TRUE(std::holds_alternative<NotEnough>(decided(policy, other, safeguards)));
}

TEST(Cells, TheCooldownEndsWithTimeOrWithRoomThatWasTaken) {
    const auto policy = policy_with({});
    const Request wanted = moved(Operation::resize, "e1");
    SafeguardSettings none;
    none.host_cooldown = {};
    Safeguards safeguards{none};
    safeguards.note_move(wanted, wasted, at(1000 - 1799));
    EXPECT_TRUE(std::holds_alternative<NotEnough>(decided(policy, wanted, safeguards)))
        << "half an hour at least, whatever host_cooldown is";
    safeguards.note_move(wanted, std::nullopt, at(900));
    EXPECT_TRUE(std::holds_alternative<NotEnough>(decided(policy, wanted, safeguards)));
    safeguards.note_move(wanted, true, at(900));
    EXPECT_TRUE(std::holds_alternative<Plan>(decided(policy, wanted, safeguards)));
    Safeguards later{none};
    later.note_move(wanted, wasted, at(1000 - 1800));
    EXPECT_TRUE(std::holds_alternative<Plan>(decided(policy, wanted, later)));
    later.note_move(request(half), wasted, at(900));
    EXPECT_TRUE(std::holds_alternative<Plan>(decided(policy, wanted, later))) << "of a new server";
}

// ---- what shows of them ----

TEST(CellsSeen, EqualNumbersAreOfDifferentCells) {
    HostNumbers numbers;
    EXPECT_FALSE(why_several_cells(numbers));
    numbers.services = {{"a", 1}, {"b", 2}, {"c", 3}, {"a", 1}};
    numbers.hypervisors = {{"a", 1}, {"b", 2}};
    EXPECT_FALSE(why_several_cells(numbers));
    numbers.hypervisors.push_back({"c", 1});
    EXPECT_THAT(why_several_cells(numbers),
                Optional(HasSubstr("the hypervisors 'a' and 'c' have the same number, 1")));
    numbers.services.push_back({"d", 3});
    EXPECT_THAT(why_several_cells(numbers),
                Optional(HasSubstr("the compute services of 'c' and 'd'")));
}

}  // namespace
}  // namespace reaper::cells_test
