// Slots over several hosts against plain enumeration, and what a plan tells about its search.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "core/small_cloud.hpp"
#include "strategies/goal_strategy.hpp"
#include "strategies/objective.hpp"
#include "strategies/offers.hpp"

namespace reaper::cheapest_test {
namespace {

using namespace reaper::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t plenty = 10'000'000;

Goal goal_of(const std::vector<std::string>& levels, Tie tie = Tie::id) {
    Goal goal;
    for (const auto& text : levels)
        goal.levels.push_back(std::get<std::vector<Goal::Term>>(level_of(text)));
    goal.waste_order = {ResourceClass{"MEMORY_MB"}};
    goal.tie = tie;
    goal.priorities = {{"gold", 5}, {"silver", 1}};
    goal.weights = {{"gold", 3}};
    goal.restarts_key = "restarts";
    goal.bid_key = "bid";
    return goal;
}

const std::vector<std::vector<std::string>> objectives{
    {"waste"},
    {"victims"},
    {"victims", "waste"},
    {"lost_work"},
    {"priority", "lost_work + 60 victims", "waste"},
    {"restarts", "share"},
    {"fair_share", "victims", "lost_work"},
    {"bid", "2 fair_share + 5 lost_work"},
    {"3 waste:VCPU + 2 lost_work + 9 victims + 4 priority"},
    {"victims", "notice", "lost_work"},
};

/// Where it is on, a level of its own before most of these.
const NoticeRules notice{{std::chrono::seconds{10}, {"gold=60s", "silver=0s"}, "", {}, {}}};

class Joint : public ::testing::TestWithParam<std::size_t> {};

/// 400 clouds for each objective, up to 12 servers on a host.
TEST_P(Joint, EqualsEnumerationOverAllHosts) {
    SeededRng rng{GetParam() + 100};
    int solved = 0;
    for (int round = 0; round < 400; ++round) {
        const bool one_host = round % 8 == 0;
        const SmallCloudSpec spec{one_host ? 1 : 2 + static_cast<int>(rng.below(4)),
                                  one_host ? 12 : 6, rng.below(2) == 0};
        const Snapshot cloud = small_cloud(spec, rng);
        const int slots = 1 + static_cast<int>(rng.below(4));
        const ProblemOn on{cloud, small_request(slots, rng), 1 + static_cast<Amount>(rng.below(2)),
                           rng.below(2) == 0 ? nullptr : &notice};
        if (!on.worth_solving()) continue;
        ++solved;
        const Goal goal = goal_of(objectives[GetParam()],
                                  std::vector{Tie::id, Tie::newest, Tie::oldest}[rng.below(3)]);
        const Objective objective = objective_for(goal, on.problem());
        const Selection selection = cheapest(on.problem(), objective, plenty);
        EXPECT_THAT(selection.note, IsEmpty());
        const auto cost = cost_of(on.problem(), objective, selection);
        ASSERT_TRUE(cost.has_value()) << "round " << round;
        EXPECT_EQ(cost->level, least_cost(on.problem(), objective).level) << "round " << round;
        // With what was found out, the same again.
        const Selection again = cheapest(on.problem(), objective, plenty);
        ASSERT_EQ(again.hosts.size(), selection.hosts.size());
        for (const auto& [host, on_host] : selection.hosts)
            EXPECT_EQ(again.hosts.at(host).victims, on_host.victims) << "round " << round;
        // And some minutes later: what was found out then is no more than a bound.
        const auto& then = on.problem();
        const Problem later{then.shape,
                            then.slots,
                            then.slots_least,
                            then.hosts,
                            0,
                            then.now + std::chrono::minutes{1 + static_cast<int>(rng.below(30))},
                            then.fleets,
                            then.tables,
                            then.notice,
                            then.cloud};
        const Objective new_objective = objective_for(goal, later);
        const auto new_cost = cost_of(later, new_objective, cheapest(later, new_objective, plenty));
        ASSERT_TRUE(new_cost.has_value()) << "round " << round;
        EXPECT_EQ(new_cost->level, least_cost(later, new_objective).level) << "round " << round;
    }
    EXPECT_GT(solved, 200);
}

INSTANTIATE_TEST_SUITE_P(Objectives, Joint, ::testing::Range<std::size_t>(0, objectives.size()));

TEST(Cheapest, CutShortItTellsAGapThatHolds) {
    SeededRng rng{5};
    int told = 0;
    for (int round = 0; round < 100; ++round) {
        const Snapshot cloud = small_cloud({4, 9, false}, rng);
        const ProblemOn on{cloud, small_request(3, rng)};
        if (!on.worth_solving()) continue;
        const Goal goal = goal_of({"lost_work"});
        const Objective objective = objective_for(goal, on.problem());
        Problem problem{on.problem().shape,
                        on.problem().slots,
                        on.problem().slots_least,
                        on.hosts(),
                        0,
                        cloud.taken_at,
                        nullptr,
                        nullptr};
        const Selection selection = cheapest(problem, objective, 1);
        const auto cost = cost_of(problem, objective, selection);
        ASSERT_TRUE(cost.has_value()) << "cut short it still frees all slots";
        const Cost least = least_cost(problem, objective);
        if ((*cost)[0] > least[0]) {
            ++told;
            EXPECT_THAT(selection.note, HasSubstr("above the least possible"));
        }
    }
    EXPECT_GT(told, 0);
}

TEST(Cheapest, BudgetGivesUpAlternativesFirstAndThenEverything) {
    Snapshot cloud{at(0), {}, {}};
    for (const auto* name : {"a", "b", "c"}) {
        Host made = host(name, {{"VCPU", 4}});
        put(made, revocable(std::string{name} + "1", made.id, {{"VCPU", 4}}));
        cloud.hosts.push_back(made);
    }
    PlanOptions options;
    options.alternatives = 3;
    const auto with_budget = [&](std::int64_t victims, int slots) {
        return plan(request({{"VCPU", 4}}, slots), cloud, options, {}, "cost",
                    {{"max_victims", victims}});
    };
    EXPECT_EQ(victim_ids(with_budget(0, 1)).size(), 3U);
    EXPECT_EQ(victim_ids(with_budget(2, 1)).size(), 2U);
    const auto none = with_budget(1, 2);
    ASSERT_TRUE(std::holds_alternative<NotEnough>(none));
    EXPECT_THAT(std::get<NotEnough>(none).reason, HasSubstr("the budget of a plan (1 victim)"));
}

TEST(Cheapest, AnotherTieRuleIsAnotherGoal) {
    std::set<std::string> texts;
    for (const Tie tie : {Tie::id, Tie::newest, Tie::oldest})
        texts.insert(goal_of({"victims"}, tie).fingerprint());
    EXPECT_EQ(texts.size(), 3U) << "each makes other costs, and tables of its own";
}

TEST(Cheapest, WarmTablesChangeNothingAndSaveTheSearch) {
    SeededRng rng{9};
    const Snapshot cloud = small_cloud({30, 8, false}, rng);
    const CloudIndex index{cloud};
    const auto strategy = make_strategy("cost");
    const auto wanted = request({{"VCPU", 3}, {"MEMORY_MB", 5}}, 4);
    PlanOptions options;
    options.now = at(100);
    const auto cold = make_plan(wanted, CloudIndex{cloud}, Ledger{}, *strategy, "cost", options);
    std::size_t searched = 0;
    while (const std::size_t more = warm_up(wanted, index, Ledger{}, *strategy, options, 3)) {
        EXPECT_LE(more, 40U);
        searched += more;
        ASSERT_LT(searched, 10'000U) << "it ends";
    }
    EXPECT_GT(searched, 0U);
    const auto warm = make_plan(wanted, index, Ledger{}, *strategy, "cost", options);
    ASSERT_TRUE(std::holds_alternative<Plan>(warm));
    EXPECT_EQ(std::get<Plan>(warm).hosts, std::get<Plan>(cold).hosts);
    EXPECT_EQ(warm_up(wanted, index, Ledger{}, *strategy, options, 100), 0U);
}

/// A cloud that is not to be read.
class UnreadCloud : public WholeCloud {
public:
    void each_host(const std::function<void(const Host&, std::uint32_t)>&) const override {
        ADD_FAILURE() << "the cloud is read";
    }
    bool leaves(const ServerId&) const override { return false; }
};

TEST(Cheapest, NothingIsSearchedInAdvanceThatIsNotKept) {
    SeededRng rng{9};
    const Snapshot cloud = small_cloud({30, 8, false}, rng);
    const ProblemOn on{cloud, request({{"VCPU", 3}}, 4)};
    ASSERT_TRUE(on.worth_solving());
    const UnreadCloud unread;
    Problem problem{on.problem()};
    problem.cloud = &unread;
    for (const char* const measure : {"share", "fair_share"})
        EXPECT_EQ((GoalStrategy{goal_of({measure}), plenty}.warm(problem, 10)), 0U);

    problem.tables = nullptr;
    const Goal goal = goal_of({"victims"});
    const Objective objective = objective_for(goal, problem);
    Searches searches{problem, objective, plenty, 2};
    for (int searched = 0; searched < 2; ++searched) {
        EXPECT_FALSE(searches.stopped()) << searched;
        std::size_t host = static_cast<std::size_t>(searched);
        searches.best(host, problem.hosts.ready(host) + 1);
    }
    EXPECT_TRUE(searches.stopped()) << "it counts what no table keeps";
}

class CountsWarmings : public Strategy {
public:
    Selection select(const Problem&) const override { return {}; }
    std::size_t warm(const Problem&, std::size_t) const override { return ++warmed; }
    mutable std::size_t warmed = 0;
};

TEST(Cheapest, GroupsAreNotSearchedInAdvance) {
    Host made = host("a", {{"VCPU", 4}});
    put(made, revocable("v", made.id, {{"VCPU", 4}}));
    const Snapshot cloud{at(0), {made}, {}};
    const CloudIndex index{cloud};
    Request wanted = request({{"VCPU", 2}});
    const CountsWarmings strategy;
    EXPECT_EQ(warm_up(wanted, index, Ledger{}, strategy, {}, 3), 1U);
    RequestGroup group;
    group.suffix = "1";
    group.resources = {{"VCPU", 1}};
    wanted.groups = {group};
    EXPECT_EQ(warm_up(wanted, index, Ledger{}, strategy, {}, 3), 0U);
}

}  // namespace
}  // namespace reaper::cheapest_test
