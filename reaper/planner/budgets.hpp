// Budgets: how many victims a plan may still take, in all and of each project and aggregate, and
// of each shard of several aggregates:
// what the limits (reaper/safeguards) leave of the budgets.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/project_names.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/planner/constraint_checker.hpp"
#include "reaper/planner/minimal.hpp"
#include "reaper/planner/victim_filter.hpp"
#include "strategies/strategy.hpp"

namespace reaper {

/// What is left of a limit.
struct Budget {
    Amount left = 0;
    std::string safeguard;  ///< its word: `limit-request`, `limit-window`, ...
    /// For people, after what it is of: `8 of 10 victims in the last 1h`.
    std::string used;
};

/// Victims that share a budget.
struct BudgetGroup {
    enum class Kind { all, project, aggregate };
    Kind kind{};
    std::string name;  ///< of the aggregate, id of the project; of `all`, its place in the list

    friend auto operator<=>(const BudgetGroup&, const BudgetGroup&) = default;
};

/// Absent: no limit.
struct Budgets {
    std::vector<Budget> all;                   ///< that every victim counts against
    std::optional<Budget> each_project;        ///< of those not named below
    std::map<ProjectId, Budget> projects;      ///< of which some is used
    std::optional<Budget> each_aggregate;      ///< as above
    std::map<std::string, Budget> aggregates;  ///< by name, or label of a shard
    /// Hosts that are in any of several aggregates (names or UUIDs) count like one aggregate, by a
    /// label.
    std::vector<std::pair<std::string, std::set<std::string>>> shards;
    /// For people; null: none are known. They must outlive this.
    const ProjectNames* project_names = nullptr;

    bool empty() const { return all.empty() && !each_project && !each_aggregate; }
    const Budget* of_project(const ProjectId& project) const;
    const Budget* of_aggregate(const std::string& aggregate) const;
    /// `project web (8d3f...): 10 of 10 victims in the last 1h`
    std::string text(const BudgetGroup& group, const Budget& budget) const;
    /// Calls `visit` with the name of each aggregate and shard that the host is in, until it
    /// returns true. Whether it did.
    template <class Visit>
    bool any_aggregate(const Host& host, Visit visit) const {
        for (const auto& name : host.aggregates)
            if (visit(name)) return true;
        for (const auto& [label, names] : shards)
            if (!host.aggregates.contains(label) && in_shard(host.member_of, names) && visit(label))
                return true;
        return false;
    }
};

/// Counts victims against their budgets.
class BudgetCounter {
public:
    explicit BudgetCounter(const Budgets& budgets) : budgets_{&budgets} {}

    void add(const Server& server, const Host& host);
    /// Groups with more victims than are left, those that exceed it the most first.
    std::vector<BudgetGroup> exceeded() const;
    Amount of(const BudgetGroup& group) const;
    const Budget& budget(const BudgetGroup& group) const;
    std::string text(const BudgetGroup& group) const {
        return budgets_->text(group, budget(group));
    }

private:
    const Budgets* budgets_;
    std::map<BudgetGroup, Amount> used_;
};

/// Keeps the victims of groups whose budget is used up, and of those that were filled: all but
/// the ones chosen for them. Together with another victim filter.
class BudgetFilter final : public VictimFilter {
public:
    /// The arguments (`other` may be null) must outlive this.
    BudgetFilter(const Budgets& budgets, const VictimFilter* other, const RowNames& names);

    /// From now on no other victims of the group than these.
    void fill(const BudgetGroup& group, std::set<ServerId> chosen);
    /// This, or the other one alone where no group is used up or filled.
    const VictimFilter* needed() const {
        return projects_.empty() && aggregates_.empty() ? other_ : this;
    }

    std::optional<std::string> why_kept(const Server& server, const Host& host) const override;
    bool keeps(const Server& server, const Host& host) const override;
    bool may_keep(const HostRow& row) const override;

private:
    struct Closed {
        std::string why;
        std::set<ServerId> chosen;
    };
    const Closed* closed_for(const Server& server, const Host& host) const;
    void close_project(const ProjectId& project, Closed closed);

    const Budgets& budgets_;
    const VictimFilter* other_;
    const RowNames& names_;
    std::map<ProjectId, Closed> projects_;
    std::map<std::string, Closed> aggregates_;
    std::vector<bool> rows_projects_;  // by project number
};

// A choice of victims that stays inside the budgets.
//
// First the strategy's own choice. If that takes too many: fewer alternatives, then none of them;
// then victims *priced* by the budgets that stand in the way: the same solver minimises the sum
// of the prices first, and the strategy's objective among equals (Lagrangian relaxation; Fisher,
// "The Lagrangian Relaxation Method for Solving Integer Programming Problems", 1981). With prices w
// no choice inside the budgets costs more than sum(w * left): where even the cheapest does,
// there is none, and that is proven. So it is exact where one budget alone stands in the way,
// above all the number of victims; with several at once a way may be missed, and the answer says
// so. Bounded: each step is one selection of the solver.

/// What a strategy chose, without what is needless.
struct Choice {
    Selection selection;
    Chosen chosen;
    Amount freed = 0;
};

/// Asks the strategy and checks its answer: std::logic_error if it is broken. At most
/// `problem.slots` slots of it count.
Choice choose(const Problem& problem, const Strategy& strategy);

/// The victims of a choice against the budgets.
BudgetCounter usage_of(const Problem& problem, const Chosen& chosen, const Budgets& budgets);

/// A choice outside of the budgets, and how it exceeds them.
struct Excess {
    Choice choice;                  ///< the one that comes nearest
    std::vector<BudgetGroup> over;  ///< the worst first; never empty
    bool proven = false;            ///< there is no choice inside them
};

struct BudgetedSelection {
    std::optional<Choice> choice;  ///< inside the budgets
    std::optional<Excess> excess;  ///< else
    std::string note;              ///< what had to be given up; or empty
};

/// `first`: the strategy's own choice for `problem`.
BudgetedSelection choose_in_budgets(const Problem& problem, const Strategy& strategy,
                                    const Budgets& budgets, Choice first);

}  // namespace reaper
