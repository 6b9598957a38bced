// Attempts: soft brakes give way one after the other until a plan is possible; and which brake it
// was where none is.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/decision/run_times.hpp"
#include "reaper/safeguards/settings.hpp"
#include "reaper/planner/planner.hpp"

namespace reaper {

class Attempts {
public:
    /// `options` with protection and allowances; the rest of what brakes is made here. The
    /// arguments must outlive this.
    Attempts(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
             const Strategy& strategy, std::string_view strategy_name,
             const BrakeSettings& settings, const PlanOptions& options)
        : request_{request},
          cloud_{cloud},
          ledger_{ledger},
          strategy_{strategy},
          strategy_name_{strategy_name},
          settings_{settings},
          options_{options} {}

    Decision run(std::vector<Thrashing> thrashing, std::map<HostId, std::string> doubted);

private:
    Decision attempt(bool spare, bool leave_out);
    RunTimes run_times(bool spare) const;
    void explain(Decision& decision) const;
    void name_workloads(Plan& plan) const;
    void name_brake(NotEnough& answer) const;
    bool enough_without(bool projects, bool aggregates, bool run_time, bool protection) const;

    const Request& request_;
    const CloudIndex& cloud_;
    const Ledger& ledger_;
    const Strategy& strategy_;
    std::string_view strategy_name_;
    const BrakeSettings& settings_;
    const PlanOptions& options_;
    std::vector<Thrashing> thrashing_;
    std::map<HostId, std::string> doubted_;
};

}  // namespace reaper
