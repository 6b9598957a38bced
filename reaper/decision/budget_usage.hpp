// What the limits leave: victims of the past, and those planned and not yet sent, counted by
// request, by the project that they are deleted for, by their own project, and by aggregate.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "reaper/model/placement_constraints.hpp"
#include "reaper/planner/budgets.hpp"
#include "reaper/planner/cloud_index.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/safeguards/settings.hpp"
#include "reaper/safeguards/victim_history.hpp"

namespace reaper {

class BudgetUsage {
public:
    /// `scheduler` (null: none): the shards. References must outlive it.
    BudgetUsage(const LimitSettings& limits, const SchedulerRules* scheduler,
                const VictimHistory& history, const Request& request, const CloudIndex& cloud,
                const Ledger& ledger, TimePoint now);

    Budgets left() const;

private:
    bool of_others() const;
    void count_past(const VictimHistory& history, TimePoint now);
    void count_planned(const VictimHistory& history, const CloudIndex& cloud, const Ledger& ledger);
    void sum_aggregates(const CloudIndex& cloud);
    std::optional<Budget> of_share(long used, int percent, std::string_view safeguard,
                                   const std::string& where) const;
    void add_budgets_of_requester(Budgets& left) const;

    const LimitSettings& limits_;
    const Request& request_;
    long revocable_ = 0;  ///< servers that are there, and those that went within the window
    long by_request_ = 0;
    long by_requester_ = 0;
    long in_window_ = 0;
    std::map<ProjectId, long> by_project_;
    std::map<std::string, long> by_host_;       // service host
    Budgets left_;                              ///< the shards, at first
    std::map<std::string, long> by_aggregate_;  // or shard
};

}  // namespace reaper
