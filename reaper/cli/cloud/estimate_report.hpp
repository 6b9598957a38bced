// What `reaper estimate` answers.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reaper/cli/cloud/usage_history.hpp"
#include "reaper/model/parameters.hpp"
#include "reaper/report/render.hpp"

namespace reaper::cli {

struct EstimateLine {
    Parameters parameters;  ///< of the estimator; empty for the oracle
    BacktestResult result;
};

struct EstimateReport {
    HistorySpan span;
    bool per_server = false;  ///< the metrics tell servers apart
    std::string excess;       ///< evict or drain
    MeasuredHistory history;  ///< without its points
    std::vector<EstimateLine> lines;
};

/// {version, from, until, step_ms, per_server, excess, hosts, without_history: {host: why},
/// unknown_labels, estimates: [{estimator, parameters, host_hours, offered_vcpu_hours,
/// sold_vcpu_hours, evictions, evicted_vcpus, short_minutes, short_core_minutes, changes,
/// left_alone}]}
nlohmann::json to_json(const EstimateReport& report);

std::string render_estimate(const EstimateReport& report, const report::RenderOptions& options);

}  // namespace reaper::cli
