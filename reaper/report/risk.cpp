#include "reaper/report/risk.hpp"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>

#include "reaper/json/fields.hpp"
#include "reaper/report/json.hpp"

namespace reaper::report {
namespace {

using Hours = std::chrono::duration<double, std::ratio<3600>>;
constexpr double in_100_hours = 100;

double hours_between(TimePoint from, TimePoint to) {
    return Hours{to - from}.count();
}

/// Of the expected number where so many events were seen: Garwood's, which is exact.
std::pair<double, double> interval_of(std::int64_t events) {
    constexpr double on_each_side = 0.025;
    const auto n = static_cast<double>(events);
    return {events == 0 ? 0 : boost::math::gamma_p_inv(n, on_each_side),
            boost::math::gamma_q_inv(n + 1, on_each_side)};
}

/// From Monday 00:00 UTC on; 1970 began on a Thursday.
std::size_t hour_of_week(TimePoint time) {
    constexpr std::int64_t from_monday_to_thursday = 72;
    const auto hours = std::chrono::floor<std::chrono::hours>(time.time_since_epoch()).count();
    return static_cast<std::size_t>(hours + from_monday_to_thursday) % hours_of_week;
}

struct WeekHour {
    double hours = 0, evictions = 0;
};
using Week = std::array<WeekHour, hours_of_week>;

double rate_of(const Week& week) {
    double hours = 0, evictions = 0;
    for (const WeekHour& each : week) {
        hours += each.hours;
        evictions += each.evictions;
    }
    return hours > 0 ? evictions / hours : 0;
}

/// As if one more eviction had been seen in the time in which all hours together have one.
double drawn_to(double rate, const WeekHour& hour) {
    return rate > 0 ? (hour.evictions + 1) / (hour.hours + 1 / rate) : 0;
}

/// The sum of squared errors of a probability, over an hour of so many servers.
double error_of(double rate, const WeekHour& seen) {
    const double p = 1 - std::exp(-rate);
    return seen.evictions * (1 - p) * (1 - p) + std::max(0.0, seen.hours - seen.evictions) * p * p;
}

std::optional<RiskJudged> judge(const Week& learnt, const Week& seen) {
    const double rate = rate_of(learnt);
    RiskJudged judged;
    for (std::size_t hour = 0; hour < hours_of_week; ++hour) {
        judged.hours += seen[hour].hours;
        judged.brier += error_of(drawn_to(rate, learnt[hour]), seen[hour]);
        judged.brier_of_average += error_of(rate, seen[hour]);
    }
    if (rate <= 0 || judged.hours <= 0) return std::nullopt;
    judged.brier /= judged.hours;
    judged.brier_of_average /= judged.hours;
    return judged;
}

}  // namespace

RiskSum::RiskSum(TimePoint from, TimePoint to, RiskOf only, HostPlaces places)
    : from_{from},
      to_{to},
      only_{std::move(only)},
      places_{std::move(places)},
      slots_(slot_of(to) + 1),
      whole_(slots_.size() + 1, 0) {}

std::size_t RiskSum::slot_of(TimePoint time) const {
    const auto first = std::chrono::floor<std::chrono::hours>(from_);
    return static_cast<std::size_t>(std::chrono::floor<std::chrono::hours>(time - first).count());
}

void RiskSum::add_hours(TimePoint begin, TimePoint end) {
    const std::size_t first = slot_of(begin), last = slot_of(end);
    if (first == last) {
        slots_[first].hours += hours_between(begin, end);
        return;
    }
    const auto start = std::chrono::floor<std::chrono::hours>(from_);
    slots_[first].hours +=
        hours_between(begin, start + std::chrono::hours{static_cast<std::int64_t>(first) + 1});
    slots_[last].hours +=
        hours_between(start + std::chrono::hours{static_cast<std::int64_t>(last)}, end);
    whole_[first + 1] += 1;
    whole_[last] -= 1;
}

void RiskSum::add(const ServerRun& run) {
    const TimePoint begin = std::max(run.from, from_);
    const TimePoint end = std::min(run.until.value_or(to_), to_);
    if (!run.revocable || end < begin) return;
    const auto at = places_.find(run.host);
    const HostPlace place = at == places_.end() ? HostPlace{} : at->second;
    const auto fits = [](const std::string& wanted, const std::string& is) {
        return wanted.empty() || wanted == is;
    };
    if (!fits(only_.flavor, run.flavor) || !fits(only_.zone, place.zone) ||
        (!only_.aggregate.empty() && !place.aggregates.contains(only_.aggregate)))
        return;
    const bool evicted = run.reclaimed && run.until && *run.until <= to_ && *run.until >= from_;
    add_hours(begin, end);
    if (evicted) ++slots_[slot_of(end)].evictions;
    const auto count = [&](const char* of, const std::string& name) {
        Counted& counted = groups_[{of, name}];
        counted.hours += hours_between(begin, end);
        counted.evictions += evicted ? 1 : 0;
    };
    count("all", "");
    if (!run.flavor.empty()) count("flavor", run.flavor);
    if (!place.zone.empty()) count("zone", place.zone);
    for (const auto& aggregate : place.aggregates) count("aggregate", aggregate);
}

std::vector<RiskLine> RiskSum::lines() const {
    std::vector<RiskLine> lines;
    for (const auto& [group, counted] : groups_) {
        RiskLine line{group.first, group.second, counted.hours, counted.evictions};
        if (counted.hours > 0) {
            const auto [low, high] = interval_of(counted.evictions);
            const double each = in_100_hours / counted.hours;
            line.per_100_hours = static_cast<double>(counted.evictions) * each;
            line.low = low * each;
            line.high = high * each;
        }
        lines.push_back(std::move(line));
    }
    std::stable_partition(lines.begin(), lines.end(),
                          [](const RiskLine& line) { return line.of == "all"; });
    return lines;
}

RiskReport RiskSum::report() const {
    RiskReport risk{from_, to_, lines(), {}, {}, {}};
    Week all, before, last;
    double whole = 0;
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
        whole += whole_[slot];
        const TimePoint time = std::chrono::floor<std::chrono::hours>(from_) +
                               std::chrono::hours{static_cast<std::int64_t>(slot)};
        const std::size_t hour = hour_of_week(time);
        for (Week* const week : {&all, to_ - time > std::chrono::days{7} ? &before : &last}) {
            (*week)[hour].hours += slots_[slot].hours + whole;
            (*week)[hour].evictions += static_cast<double>(slots_[slot].evictions);
        }
    }
    const double rate = rate_of(all);
    if (rate <= 0) return risk;
    for (const WeekHour& hour : all) risk.by_hour.push_back(drawn_to(rate, hour) * in_100_hours);
    if (to_ - from_ >= std::chrono::days{14}) risk.judged = judge(before, last);
    return risk;
}

namespace {

constexpr auto risk_line_fields = fields_of<RiskLine>([](auto& io, auto& line) {
    io.required("of", line.of);
    io.required("name", line.name);
    io.required("hours", line.hours);
    io.required("evictions", line.evictions);
    io.required("per_100_hours", line.per_100_hours);
    io.required("low", line.low);
    io.required("high", line.high);
});

constexpr auto judged_fields = fields_of<RiskJudged>([](auto& io, auto& judged) {
    io.required("hours", judged.hours);
    io.required("brier", judged.brier);
    io.required("brier_of_average", judged.brier_of_average);
});

constexpr auto risk_fields = fields_of<RiskReport>([](auto& io, auto& risk) {
    io.constant("version", json_version);
    io.required("from", risk.from);
    io.required("to", risk.to);
    io.required("lines", risk.lines, risk_line_fields);
    io.required("by_hour", risk.by_hour);
    io.lenient("judged", risk.judged, judged_fields);
    io.optional("remarks", risk.remarks);
});

std::string brier_text(double brier) {
    const auto digits = std::to_string(brier * 1e6);
    return digits.substr(0, digits.find('.') + 2) + "e-6";
}

}  // namespace

nlohmann::json to_json(const RiskReport& risk) {
    return risk_fields.write(risk);
}

Result<RiskReport> risk_from_json(const nlohmann::json& document) {
    return read_as(document, "risk", risk_fields);
}

Table risk_table(const RiskReport& risk) {
    Table table;
    table.columns = {column("of"),
                     column("name"),
                     number("hours"),
                     number("evictions"),
                     number("per_100_hours"),
                     number("low"),
                     number("high"),
                     number("percent_within_24_hours")};
    table.key = 1;
    for (const RiskLine& line : risk.lines) {
        constexpr double day = 24;
        const double within = 1 - std::exp(-line.per_100_hours / in_100_hours * day);
        table.rows.push_back({line.of, text_cell(line.name), Decimal{line.hours}, line.evictions,
                              Decimal{line.per_100_hours}, Decimal{line.low}, Decimal{line.high},
                              Decimal{within * in_100_hours}});
    }
    table.title = "Revocable servers from " + iso_time(risk.from) + " to " + iso_time(risk.to) +
                  ": evictions per 100 server-hours, with the interval of 95 %";
    table.none = "No revocable server ran.";
    if (risk.judged)
        table.summary =
            "By the hour of the week (--json), learnt before the last week and compared "
            "with it: Brier score " +
            brier_text(risk.judged->brier) + "; of the plain average " +
            brier_text(risk.judged->brier_of_average);
    return table;
}

}  // namespace reaper::report
