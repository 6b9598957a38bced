// How likely revocable servers are to be evicted: evictions per 100 server-hours, from who ran when
// (reaper/report/usage.hpp).
//
//  risk  {version, from, to, lines: [{of: "all", "flavor", "zone" or "aggregate", name, hours,
//        evictions, per_100_hours, low, high}], by_hour: [per 100 hours, 168 of them],
//        judged: {hours, brier, brier_of_average} or null}
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reaper/model/time.hpp"
#include "reaper/report/table.hpp"
#include "reaper/report/usage.hpp"

namespace reaper::report {

constexpr std::size_t hours_of_week = 168;
/// So far back it is counted where nothing else is asked for.
constexpr Duration usual_risk_span = std::chrono::days{28};

struct RiskLine {
    std::string of;  ///< all, flavor, zone or aggregate
    std::string name;
    double hours = 0;  ///< of revocable servers
    std::int64_t evictions = 0;
    /// Of evictions, and where it is with a probability of 95 % (Garwood's interval of a Poisson
    /// rate). 0 without hours.
    double per_100_hours = 0, low = 0, high = 0;
};

/// The rates by the hour of the week, learnt on all but the last week, against what happened in
/// that week: the mean squared error of the probability that a server goes within an hour.
struct RiskJudged {
    double hours = 0;
    double brier = 0, brier_of_average = 0;  ///< the latter: of one rate for all hours
};

struct RiskReport {
    TimePoint from{}, to{};
    std::vector<RiskLine> lines;  ///< all first, then by `of` and name
    /// Per 100 server-hours, from Monday 00:00 UTC on; each drawn to the rate of all by as much as
    /// one eviction weighs. Empty without an eviction.
    std::vector<double> by_hour;
    std::optional<RiskJudged> judged;    ///< none for less than two weeks
    std::vector<std::string> remarks{};  ///< as those of the usage
};

/// Where the hosts are, by Nova's service host.
struct HostPlace {
    std::string zone;
    std::set<std::string> aggregates;
};
using HostPlaces = std::map<std::string, HostPlace, std::less<>>;

/// Empty: any.
struct RiskOf {
    std::string flavor, zone, aggregate;
};

/// Of runs of revocable servers alone; each server once (see UsageSum).
class RiskSum {
public:
    RiskSum(TimePoint from, TimePoint to, RiskOf only, HostPlaces places);
    void add(const ServerRun& run);
    RiskReport report() const;

private:
    struct Counted {
        double hours = 0;
        std::int64_t evictions = 0;
    };
    void add_hours(TimePoint begin, TimePoint end);
    std::size_t slot_of(TimePoint time) const;
    std::vector<RiskLine> lines() const;

    TimePoint from_, to_;
    RiskOf only_;
    HostPlaces places_;
    std::map<std::pair<std::string, std::string>, Counted> groups_;
    std::vector<Counted> slots_;  ///< by hour since that of `from_`; hours of parts of slots
    std::vector<double> whole_;   ///< by slot: how many more servers run all of it than of the last
};

nlohmann::json to_json(const RiskReport& risk);
/// What that wrote; `bad_answer` names what is wrong.
Result<RiskReport> risk_from_json(const nlohmann::json& document);
Table risk_table(const RiskReport& risk);

}  // namespace reaper::report
