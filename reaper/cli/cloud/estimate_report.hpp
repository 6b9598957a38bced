// What `reaper estimate` answers.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "reaper/model/parameters.hpp"
#include "reaper/oversubscription/backtest.hpp"
#include "reaper/ports/metrics.hpp"
#include "reaper/report/render.hpp"

namespace reaper::cli {

// What Prometheus still knows of the use of hosts, put together for `reaper estimate`.

/// Over which time, and how finely.
struct HistorySpan {
    TimePoint from{};
    TimePoint until{};
    Duration step{};
};

/// A host's use over a span, as little as can be: there may be 10,000 hosts of 10,000 steps each.
struct HostReadings {
    HostFacts facts;
    double cores = 0;
    std::vector<double> used;  ///< cores, at each step from the first on; below 0 or NaN: not known
};

struct MeasuredHistory {
    HistorySpan span;
    std::vector<HostReadings>
        hosts;  ///< those with readings and cores, in the order that was asked for
    /// Hosts without: their name, and why.
    std::map<std::string, std::string> without;
    std::set<std::string> strangers;  ///< labels that name none of the hosts
};

using ReadingProgress = std::function<void(std::size_t piece, std::size_t pieces)>;

/// What a backtest wants of a host; large, so for one after another.
HostHistory history_of(const HostReadings& readings, const HistorySpan& span);

/// What the hosts used. Where metrics tell servers apart, those of `holders` (they hold
/// oversubscribed room now) are left out; who held some before is not known, and counts as a
/// regular server. Long times are asked for in pieces, each small enough for one answer;
/// `progress`, if there is one, gets how many of how many there are, before each is asked for.
ResultTask<MeasuredHistory> read_usage_history(Metrics& metrics, config::Prometheus settings,
                                               std::vector<HostFacts> hosts,
                                               std::set<ServerId> holders, HistorySpan span,
                                               ReadingProgress progress = {});

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
