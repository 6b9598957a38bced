#include "reaper/cli/cloud/estimate_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/oversubscription/host_facts.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/render_parts.hpp"
#include "reaper/report/text.hpp"

namespace reaper::cli {
namespace {

/// Prometheus gives 11,000 points of a series at most.
constexpr std::size_t most_points_of_a_series = 10'000;
/// Of all series of one answer.
constexpr std::size_t most_points = 400'000;
constexpr Duration cores_step = std::chrono::hours{1};

/// No figure of any series.
constexpr double not_told = -1;

bool possible(double value) {
    return std::isfinite(value) && value >= 0;
}

/// Puts series together, host by host.
class Gatherer {
public:
    Gatherer(const config::Prometheus& settings, const std::vector<HostFacts>& hosts,
             std::set<ServerId> holders, const HistorySpan& span)
        : settings_{settings}, holders_{std::move(holders)}, span_{span} {
        for (const auto& facts : hosts) names_.add(facts);
    }

    void add_cores(const SampleSeries& series) {
        const auto host = host_of(series);
        if (!host || series.points.empty()) return;
        for (const auto& [at, value] : series.points)
            if (possible(value) && value > 0) cores_[*host] = value;
        if (!core_series_[*host].insert(series.labels).second) return;
        if (core_series_[*host].size() > 1) why_[*host] = "several figures for its cores";
    }

    void add_usage(const SampleSeries& series) {
        const auto host = host_of(series);
        if (!host) return;
        const ServerId server{label(series, settings_.server_label)};
        auto& first = usage_series_[*host].try_emplace(server, series.labels).first->second;
        if (first != series.labels)
            why_[*host] = settings_.server_label.empty()
                              ? "several figures for its use"
                              : "several figures for server " + printable(server.str(), 40);
        if (holders_.contains(server)) return;
        auto& sums = usage_[*host];
        if (sums.empty()) sums.assign(steps(), not_told);
        for (const auto& [at, value] : series.points) {
            const auto step = step_of(at);
            if (step >= sums.size()) continue;
            const double told = possible(value) ? value : std::nan("");
            sums[step] = sums[step] == not_told ? told : sums[step] + told;
        }
    }

    MeasuredHistory finish(const std::vector<HostFacts>& hosts) {
        MeasuredHistory all;
        all.span = span_;
        for (const auto& facts : hosts) {
            HostReadings history;
            history.facts = facts;
            if (const auto cores = cores_.find(facts.id); cores != cores_.end())
                history.cores = cores->second;
            history.used = std::move(usage_[facts.id]);
            std::string why = why_[facts.id];
            if (why.empty() && std::ranges::none_of(history.used, possible))
                why = "nothing was measured of its use";
            if (why.empty() && history.cores <= 0) why = "its cores are not known";
            if (why.empty())
                all.hosts.push_back(std::move(history));
            else
                all.without.emplace(facts.name, std::move(why));
            usage_.erase(facts.id);
        }
        all.strangers = std::move(strangers_);
        return all;
    }

private:
    using Labels = std::map<std::string, std::string>;

    static std::string label(const SampleSeries& series, const std::string& name) {
        const auto at = series.labels.find(name);
        return at == series.labels.end() ? "" : at->second;
    }

    std::size_t steps() const {
        return static_cast<std::size_t>((span_.until - span_.from) / span_.step) + 1;
    }
    /// Prometheus' times are rounded.
    std::size_t step_of(TimePoint at) const {
        const auto since = at - span_.from + span_.step / 2;
        return since < Duration{0} ? steps() : static_cast<std::size_t>(since / span_.step);
    }

    std::optional<HostId> host_of(const SampleSeries& series) {
        const std::string name = label(series, settings_.host_label);
        auto host = names_.find(name);
        if (!host) strangers_.insert(name);
        return host;
    }

    const config::Prometheus& settings_;
    std::set<ServerId> holders_;
    const HistorySpan span_;
    HostNames names_;
    std::map<HostId, double> cores_;
    std::map<HostId, std::set<Labels>> core_series_;
    std::map<HostId, std::map<ServerId, Labels>> usage_series_;
    std::map<HostId, std::vector<double>> usage_;  ///< at each step
    std::map<HostId, std::string> why_;
    std::set<std::string> strangers_;
};

/// So that one answer is small enough.
Duration piece_of(std::size_t series, Duration step) {
    const std::size_t points = std::clamp<std::size_t>(
        most_points / std::max<std::size_t>(series, 1), 1, most_points_of_a_series);
    return step * static_cast<Duration::rep>(points);
}

}  // namespace

HostHistory history_of(const HostReadings& readings, const HistorySpan& span) {
    HostHistory history;
    history.facts = readings.facts;
    history.cores = readings.cores;
    TimePoint at = span.from;
    for (const double used : readings.used) {
        if (possible(used)) history.points.push_back({at, {used, used}});
        at += span.step;
    }
    return history;
}

ResultTask<MeasuredHistory> read_usage_history(Metrics& metrics, config::Prometheus settings,
                                               std::vector<HostFacts> hosts,
                                               std::set<ServerId> holders, HistorySpan span,
                                               ReadingProgress progress) {
    Gatherer gatherer{settings, hosts, std::move(holders), span};
    std::string expression = settings.cores_query;
    const Duration coarse = std::max(span.step, cores_step);
    // The last one is of the end: a short history may have no other.
    const TimePoint first = span.until - coarse * ((span.until - span.from) / coarse);
    auto cores = co_await metrics.query_range(std::move(expression), first, span.until, coarse);
    if (!cores) co_return Error{cores.error().code, "cores_query: " + cores.error().what};
    for (const auto& series : *cores) gatherer.add_cores(series);
    // There were about as many as there are.
    expression = settings.usage_query;
    auto now = co_await metrics.query(std::move(expression));
    if (!now) co_return Error{now.error().code, "usage_query: " + now.error().what};
    const Duration piece = piece_of(2 * std::max(now->size(), hosts.size()), span.step);
    const auto pieces = static_cast<std::size_t>((span.until - span.from) / piece) + 1;
    std::size_t number = 0;
    for (TimePoint from = span.from; from <= span.until; from += piece) {
        if (progress) progress(++number, pieces);
        const TimePoint until = std::min(span.until, from + piece - span.step);
        expression = settings.usage_query;
        auto usage = co_await metrics.query_range(std::move(expression), from, until, span.step);
        if (!usage) co_return Error{usage.error().code, "usage_query: " + usage.error().what};
        for (const auto& series : *usage) gatherer.add_usage(series);
    }
    co_return gatherer.finish(hosts);
}

namespace {

constexpr std::size_t names_shown = 20;

std::string rounded(double value) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.1f", value);
    return text.data();
}

std::string name_of(const EstimateLine& line) {
    std::string text = line.result.estimator;
    for (const auto& [name, value] : line.parameters) {
        if (const auto* number = std::get_if<std::int64_t>(&value))
            text += " " + name + "=" + std::to_string(*number);
        else if (const auto* word = std::get_if<std::string>(&value))
            text += " " + name + "=" + *word;
        else
            for (const auto& item : std::get<std::vector<std::string>>(value))
                text += " " + name + "=" + item;
    }
    return text;
}

nlohmann::json json_of(const EstimateLine& line) {
    nlohmann::json parameters = nlohmann::json::object();
    for (const auto& [name, value] : line.parameters)
        parameters[name] = std::visit([](const auto& held) { return nlohmann::json(held); }, value);
    const BacktestResult& result = line.result;
    return {{"estimator", result.estimator},
            {"parameters", std::move(parameters)},
            {"host_hours", result.hours},
            {"offered_vcpu_hours", result.offered_hours},
            {"sold_vcpu_hours", result.sold_hours},
            {"evictions", result.evictions},
            {"evicted_vcpus", result.evicted_vcpus},
            {"short_minutes", result.short_minutes},
            {"short_core_minutes", result.short_core_minutes},
            {"changes", result.changes},
            {"left_alone", result.left_alone}};
}

report::TextTable table_of(const EstimateReport& report) {
    using Align = report::TextTable::Align;
    report::TextTable table{{{"ESTIMATOR"},
                             {"SOLD", Align::right},
                             {"EVICTIONS", Align::right},
                             {"VCPUS", Align::right},
                             {"SHORT", Align::right},
                             {"LEFT ALONE", Align::right},
                             {"CHANGES", Align::right}}};
    for (const auto& line : report.lines) {
        const BacktestResult& result = line.result;
        table.row({name_of(line), rounded(result.sold_hours), std::to_string(result.evictions),
                   std::to_string(result.evicted_vcpus), rounded(result.short_minutes),
                   std::to_string(result.left_alone), std::to_string(result.changes)});
    }
    return table;
}

std::string head_of(const EstimateReport& report) {
    const double hours = report.lines.empty() ? 0 : report.lines.front().result.hours;
    return iso_time(report.span.from) + " to " + iso_time(report.span.until) +
           ", a reading every " + exact_duration(report.span.step) + ": " + rounded(hours) +
           " host-hours of " + reaper::counted(report.history.hosts.size(), "host") + "; " +
           (report.per_server ? "each server by itself" : "the use of each host as a whole");
}

std::string missing_of(const EstimateReport& report) {
    std::string text;
    std::size_t shown = 0;
    for (const auto& [host, why] : report.history.without)
        if (shown++ < names_shown) text += (text.empty() ? "" : "; ") + host + " (" + why + ")";
    if (shown > names_shown) text += " and " + std::to_string(shown - names_shown) + " more";
    return reaper::counted(report.history.without.size(), "host") + " without history: " + text;
}

std::string strangers_of(const EstimateReport& report) {
    std::string text;
    std::size_t shown = 0;
    for (const auto& label : report.history.strangers)
        if (shown++ < names_shown) text += (text.empty() ? "" : ", ") + in_quotes(label);
    if (shown > names_shown) text += " and " + std::to_string(shown - names_shown) + " more";
    return "Measured, but none of the hosts: " + text;
}

constexpr const char* legend =
    "SOLD: vCPU-hours, if everything that is published is taken at once and used fully. EVICTIONS, "
    "VCPUS: how often some had to go, host by host, and how many. SHORT: host-minutes in which "
    "more cores were wanted than there are. LEFT ALONE: times that a host went up and down too "
    "often. What is allocated to regular servers is taken as it is now; the oracle knows the hour "
    "to come.";

}  // namespace

nlohmann::json to_json(const EstimateReport& report) {
    nlohmann::json lines = nlohmann::json::array();
    for (const auto& line : report.lines) lines.push_back(json_of(line));
    return {{"version", report::json_version},
            {"from", iso_time(report.span.from)},
            {"until", iso_time(report.span.until)},
            {"step_ms", report.span.step.count()},
            {"per_server", report.per_server},
            {"excess", report.excess},
            {"hosts", report.history.hosts.size()},
            {"without_history", report.history.without},
            {"unknown_labels", report.history.strangers},
            {"estimates", std::move(lines)}};
}

std::string render_estimate(const EstimateReport& report, const report::RenderOptions& options) {
    const report::Paint paint{options.color};
    const std::size_t width = report::width_of(options);
    std::string text = report::wrapped(report::safe(head_of(report)), 0, width);
    if (!report.history.without.empty())
        text += report::wrapped(report::safe(missing_of(report)), 0, width);
    if (!report.history.strangers.empty())
        text += report::wrapped(report::safe(strangers_of(report)), 0, width);
    return text + "\n" + table_of(report).text(0, width, paint) + "\n" +
           report::wrapped(legend, 0, width);
}

}  // namespace reaper::cli
