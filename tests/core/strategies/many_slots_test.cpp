// Very many slots over several hosts against plain enumeration and a plain dynamic program, which
// know nothing of prices, bounds and cores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/small_cloud.hpp"
#include "strategies/goal_strategy.hpp"
#include "strategies/objective.hpp"

namespace reaper::many_slots_test {
namespace {

using namespace reaper::testing;
using ::testing::IsEmpty;

constexpr std::int64_t plenty = 10'000'000;

Goal goal_of(const std::vector<std::string>& levels) {
    Goal goal;
    for (const auto& text : levels)
        goal.levels.push_back(std::get<std::vector<Goal::Term>>(level_of(text)));
    goal.waste_order = {ResourceClass{"MEMORY_MB"}};
    return goal;
}

/// Full hosts, each with four servers of 1 VCPU and one of 4.
Snapshot four_and_one(int hosts) {
    Snapshot cloud{at(0), {}, {}};
    for (int i = 0; i < hosts; ++i) {
        Host made = host("h" + std::to_string(100 + i), {{"VCPU", 8}});
        for (int s = 0; s < 4; ++s)
            put(made, revocable(made.name + "-" + std::to_string(s), made.id, {{"VCPU", 1}}));
        put(made, revocable(made.name + "-large", made.id, {{"VCPU", 4}}));
        cloud.hosts.push_back(made);
    }
    return cloud;
}

void expect_victims(int slots, int alternatives, std::size_t victims) {
    PlanOptions options;
    options.now = at(0);
    options.alternatives = alternatives;
    const auto decision =
        plan(request({{"VCPU", 1}}, slots), four_and_one(40), options, {}, "cost");
    const auto* const made = std::get_if<Plan>(&decision);
    ASSERT_NE(made, nullptr);
    EXPECT_EQ(made->victims().size(), victims) << slots << " slots";
    EXPECT_THAT(made->note, IsEmpty());
}

TEST(ManySlots, TakesNoMoreVictimsBeyond64Slots) {
    expect_victims(64, 1, 16);
    expect_victims(65, 1, 17);
    expect_victims(160, 1, 40);
    expect_victims(33, 2, 17);
}

class OnRandomClouds : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(OnRandomClouds, CostsAsLittleAsEnumerationSays) {
    SeededRng rng{31};
    int solved = 0;
    for (int round = 0; round < 12; ++round) {
        const Snapshot cloud = small_cloud({90, 7, round % 2 == 0}, rng);
        const int slots = 70 + static_cast<int>(rng.below(91));
        const ProblemOn on{cloud,
                           request({{"VCPU", 1 + static_cast<Amount>(rng.below(2))}}, slots)};
        if (!on.worth_solving()) continue;
        ++solved;
        const Goal goal = goal_of(GetParam());
        const Objective objective = objective_for(goal, on.problem());
        const Selection selection = cheapest(on.problem(), objective, plenty);
        const auto cost = cost_of(on.problem(), objective, selection);
        ASSERT_TRUE(cost.has_value()) << "round " << round;
        const Cost least = least_cost(on.problem(), objective);
        EXPECT_EQ((*cost)[0], least[0]) << "round " << round;
        if (selection.note.empty()) {
            EXPECT_EQ(cost->level, least.level) << "round " << round;
        }
    }
    EXPECT_GT(solved, 4);
}

INSTANTIATE_TEST_SUITE_P(
    Objectives, OnRandomClouds,
    ::testing::Values(std::vector<std::string>{"victims", "waste"},
                      std::vector<std::string>{"lost_work"}, std::vector<std::string>{"waste"},
                      std::vector<std::string>{"priority", "lost_work + 60 victims", "waste"}));

TEST(ManySlots, AThousandOnHostsThatAreAlikeAndNot) {
    for (const auto& levels : {std::vector<std::string>{"victims", "waste"}, {"lost_work"}}) {
        SeededRng rng{77};
        const Snapshot cloud = small_cloud({600, 5, true}, rng);
        const ProblemOn on{cloud, request({{"VCPU", 1}}, 1'000)};
        ASSERT_TRUE(on.worth_solving());
        const Goal goal = goal_of(levels);
        const Objective objective = objective_for(goal, on.problem());
        const Selection selection = cheapest(on.problem(), objective, plenty);
        const auto cost = cost_of(on.problem(), objective, selection);
        ASSERT_TRUE(cost.has_value());
        EXPECT_EQ((*cost)[0], least_cost(on.problem(), objective)[0]);
    }
}

}  // namespace
}  // namespace reaper::many_slots_test
