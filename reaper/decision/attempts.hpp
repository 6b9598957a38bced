// Attempts: soft safeguards give way one after the other until a plan is possible; and which
// safeguard it was where none is.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/decision/run_times.hpp"
#include "reaper/planner/planner.hpp"
#include "reaper/safeguards/settings.hpp"

namespace reaper {

class Attempts {
public:
    /// `options` with protection and budgets; the rest of what safeguards is made here. The
    /// arguments must outlive this.
    Attempts(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
             const Strategy& strategy, std::string_view strategy_name,
             const SafeguardSettings& settings, const PlanOptions& options)
        : request_{request},
          cloud_{cloud},
          ledger_{ledger},
          strategy_{strategy},
          strategy_name_{strategy_name},
          settings_{settings},
          options_{options} {}

    Decision run(std::vector<Thrashing> thrashing, std::map<HostId, std::string> in_cooldown);

private:
    Decision attempt(bool keep, bool leave_out);
    RunTimes run_times(bool keep) const;
    void explain(Decision& decision) const;
    void name_workloads(Plan& plan) const;
    void name_safeguard(NotEnough& answer) const;
    bool enough_without(bool projects, bool aggregates, bool run_time, bool protection) const;

    const Request& request_;
    const CloudIndex& cloud_;
    const Ledger& ledger_;
    const Strategy& strategy_;
    std::string_view strategy_name_;
    const SafeguardSettings& settings_;
    const PlanOptions& options_;
    std::vector<Thrashing> thrashing_;
    std::map<HostId, std::string> in_cooldown_;
    std::map<HostId, std::string> let_go_there_;  ///< in cooldown, and let go of for the request
};

}  // namespace reaper
