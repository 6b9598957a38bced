// The objective of whole plans against an exact solver that is not ours: GLPK's branch and cut.
#include <glpk.h>
#include <gtest/gtest.h>

#include "core/small_cloud.hpp"
#include "strategies/goal_strategy.hpp"
#include "strategies/objective.hpp"

namespace reaper::mip_test {
namespace {

using namespace reaper::testing;

/// A row's coefficients, counted from 1 as GLPK does.
struct Row {
    std::vector<int> columns{0};
    std::vector<double> values{0};
    void add(int column, double value) {
        columns.push_back(column);
        values.push_back(value);
    }
};

class Mip {
public:
    Mip() : problem_{glp_create_prob()} { glp_set_obj_dir(problem_, GLP_MIN); }
    ~Mip() { glp_delete_prob(problem_); }
    Mip(const Mip&) = delete;
    Mip& operator=(const Mip&) = delete;

    int integer(double upper, double cost) {
        const int column = glp_add_cols(problem_, 1);
        glp_set_col_kind(problem_, column, GLP_IV);
        glp_set_col_bnds(problem_, column, upper > 0 ? GLP_DB : GLP_FX, 0, upper);
        glp_set_obj_coef(problem_, column, cost);
        return column;
    }
    void at_least(const Row& row, double bound) {
        const int number = glp_add_rows(problem_, 1);
        glp_set_row_bnds(problem_, number, GLP_LO, bound, 0);
        glp_set_mat_row(problem_, number, static_cast<int>(row.columns.size()) - 1,
                        row.columns.data(), row.values.data());
    }
    /// None if it did not find the optimum.
    std::optional<double> least() {
        glp_iocp options;
        glp_init_iocp(&options);
        options.msg_lev = GLP_MSG_OFF;
        options.presolve = GLP_ON;
        options.tm_lim = 20'000;
        if (glp_intopt(problem_, &options) != 0 || glp_mip_status(problem_) != GLP_OPT)
            return std::nullopt;
        return glp_mip_obj_val(problem_);
    }

private:
    glp_prob* problem_;
};

/// For each host: x for each candidate, e further slots, z whether any server is deleted. Each
/// class has free + gains >= amount * (ready + e); e <= open * z; x <= z; all e together are the
/// open slots. The first level of the objective is the cost: base(ready) * z - need * e + victims.
std::optional<double> least_by_mip(const ProblemOn& on, const Objective& objective) {
    const Problem& problem = on.problem();
    Mip mip;
    Row all;
    for (std::size_t host = 0; host < problem.hosts.size(); ++host) {
        const auto& option = problem.hosts[host];
        const Cost none = objective.base(problem.shape, option.room, option.slots_ready);
        const Cost one = objective.base(problem.shape, option.room, option.slots_ready + 1);
        const int dies = mip.integer(1, static_cast<double>(none[0]));
        const int extra =
            mip.integer(static_cast<double>(on.open()), static_cast<double>(one[0] - none[0]));
        all.add(extra, 1);
        std::vector<int> goes;
        for (const auto& candidate : option.candidates) {
            goes.push_back(
                mip.integer(1, static_cast<double>(objective.of(option.room, candidate)[0])));
            Row only_if;
            only_if.add(dies, 1);
            only_if.add(goes.back(), -1);
            mip.at_least(only_if, 0);
        }
        Row none_else;
        none_else.add(dies, static_cast<double>(on.open()));
        none_else.add(extra, -1);
        mip.at_least(none_else, 0);
        for (std::size_t pool = 0; pool < option.room.pools.size(); ++pool) {
            const auto amount = problem.shape[option.room.pools[pool].need].amount;
            Row fits;
            for (std::size_t i = 0; i < goes.size(); ++i)
                if (option.candidates[i].gains[pool] > 0)
                    fits.add(goes[i], static_cast<double>(option.candidates[i].gains[pool]));
            fits.add(extra, -static_cast<double>(amount));
            mip.at_least(fits, static_cast<double>(amount * option.slots_ready -
                                                   option.room.pools[pool].room));
        }
    }
    mip.at_least(all, static_cast<double>(on.open()));
    return mip.least();
}

TEST(Mip, ObjectiveEqualsThatOfGlpkOnSeveralHosts) {
    glp_term_out(GLP_OFF);
    static const std::vector<std::string> levels{"victims",
                                                 "lost_work",
                                                 "lost_work + 60 victims",
                                                 "waste:VCPU",
                                                 "priority + 2 victims",
                                                 "3 waste:VCPU + 2 lost_work + 9 victims"};
    SeededRng rng{77};
    int compared = 0;
    for (int round = 0; compared < 240 && round < 2'000; ++round) {
        const SmallCloudSpec spec{3 + static_cast<int>(rng.below(5)), 9, rng.below(2) == 0};
        const Snapshot cloud = small_cloud(spec, rng);
        const int slots = 1 + static_cast<int>(rng.below(6));
        const ProblemOn on{cloud, small_request(slots, rng)};
        if (!on.worth_solving()) continue;
        Goal goal;
        goal.levels = {
            std::get<std::vector<Goal::Term>>(level_of(levels[rng.below(levels.size())]))};
        goal.priorities = {{"gold", 5}, {"silver", 1}};
        const Objective objective = objective_for(goal, on.problem());
        const auto cost =
            cost_of(on.problem(), objective, cheapest(on.problem(), objective, 10'000'000));
        ASSERT_TRUE(cost.has_value()) << "round " << round;
        const auto theirs = least_by_mip(on, objective);
        ASSERT_TRUE(theirs.has_value()) << "GLPK found no optimum in round " << round;
        EXPECT_NEAR(static_cast<double>((*cost)[0]), *theirs, 1e-6) << "round " << round;
        ++compared;
    }
    EXPECT_GE(compared, 200);
}

}  // namespace
}  // namespace reaper::mip_test
