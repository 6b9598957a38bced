#include "reaper/cli/arguments/past_arguments.hpp"

#include <CLI/CLI.hpp>
#include <sstream>
#include <utility>

#include "reaper/cli/arguments/command_table.hpp"
#include "reaper/cli/past/replay_policies.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"

namespace reaper::cli {
namespace {

constexpr const char* week_before =
    "From 30min, 24h, 7d before --until or 2026-11-01T12:30:00Z (default 7d)";

void add_period(CLI::App& command, PeriodTexts& period, const char* since) {
    option(command, "--since", "WHEN", period.since, since);
    option(command, "--until", "DATE", period.until, "Until then, UTC (default now)");
}

/// Many write `30m` for `30min`.
std::string with_minutes(const std::string& text) {
    const bool minutes = text.size() > 1 &&
                         text.find_first_not_of("0123456789") == text.size() - 1 &&
                         text.back() == 'm';
    return minutes ? text + "in" : text;
}

/// `NAME:param=value,param=value`; a parameter that is given several times is a list.
Result<EstimateCommand::Chosen> chosen_estimator(const std::string& text) {
    EstimateCommand::Chosen chosen;
    const auto colon = text.find(':');
    chosen.name = text.substr(0, colon);
    if (chosen.name.empty())
        return wrong("--estimator: is " + in_quotes(text) +
                     "; expected NAME or NAME:param=value,...");
    if (colon == std::string::npos) return chosen;
    std::istringstream parts{text.substr(colon + 1)};
    for (std::string part; std::getline(parts, part, ',');) {
        const auto mark = part.find('=');
        if (mark == std::string::npos || mark == 0 || mark + 1 == part.size())
            return wrong("--estimator: has " + in_quotes(part) + "; expected param=value");
        chosen.parameters[part.substr(0, mark)].push_back(part.substr(mark + 1));
    }
    return chosen;
}

}  // namespace

Result<void> read_past(const PeriodTexts& texts, std::optional<TimePoint>& since, Duration& span,
                       std::optional<TimePoint>& until) {
    if (!texts.since.empty()) {
        const auto back = parse_duration(with_minutes(texts.since));
        const bool is_span = back && *back > Duration::zero();
        if (is_span)
            span = *back;
        else
            since = parse_time_or_date(texts.since);
        if (!is_span && !since)
            return wrong("--since", texts.since,
                         "a span such as 30min, 24h or 7d, or a date such as 2026-11-01 or "
                         "2026-11-01T12:30:00Z (UTC)");
    }
    if (!texts.until.empty()) {
        until = parse_time_or_date(texts.until);
        if (!until)
            return wrong("--until", texts.until,
                         "a date such as 2026-11-01 or 2026-11-01T12:30:00Z (UTC)");
    }
    if (since && until && *since >= *until) return wrong("--until: must be later than --since");
    if (since && *since >= now()) return wrong("--since: must be before now");
    return {};
}

Result<void> check_span(std::optional<Duration> span, std::optional<TimePoint> until,
                        TimePoint now) {
    if (!span || !until || now - *span < *until) return {};
    return wrong("--until: must be later than --since, which counts from now: " +
                 iso_time(now - *span));
}

void add_history(CLI::App& app, Parsed& parsed) {
    CLI::App& history = *add_command(app, "history");
    history.require_subcommand(0, 1);
    add_history_limit(history, parsed.history);
    const std::string since = "From 30min, 24h, 7d ago or 2026-11-01T12:30:00Z";
    add_history_filters(history, parsed.history, since);
    CLI::App* const show = add_command(history, "show");
    option(*show, "ID", "", parsed.shown, "The request's id, or a server's id or name")->required();
    add_history_times(*add_command(history, "messages"), parsed.history, since);
    CLI::App& victims = *add_command(history, "victims");
    add_history_filters(victims, parsed.history, since + " (default: see above)");
    victims.add_flag("--planned", parsed.history.planned, "Those that dry runs would have deleted");
    option(*add_command(history, "totals"), "--since", "WHEN", parsed.history.since,
           since + " (default 24h)");
    add_history_times(*add_command(history, "events"), parsed.history, since);
    add_journal_option(history, parsed.history.journal);
    for (CLI::App* const view : history.get_subcommands([](const CLI::App*) { return true; }))
        add_journal_option(*view, parsed.history.journal);
}

void add_usage(CLI::App& app, Parsed& parsed) {
    CLI::App& usage = *add_command(app, "usage");
    add_period(usage, parsed.period,
               "From 30min, 24h, 7d ago or 2026-11-01T12:30:00Z (default: this month)");
    option(usage, "--project", "PROJECT", parsed.usage.project, "Only this project: id or name");
    usage.add_flag("--csv", parsed.list.csv, "The same as -o csv");
}

void add_risk(CLI::App& app, Parsed& parsed) {
    CLI::App& risk = *add_command(app, "risk");
    add_period(risk, parsed.period,
               "From 30min, 24h, 7d ago or 2026-11-01T12:30:00Z (default: 28d)");
    option(risk, "--flavor", "FLAVOR", parsed.risk.flavor,
           "Only servers of this flavor, by its name");
    option(risk, "--zone,--az", "AZ", parsed.risk.zone, "Only on hosts of this availability zone");
    option(risk, "--aggregate", "AGGREGATE", parsed.risk.aggregate,
           "Only on hosts of this aggregate");
}

void add_estimate(CLI::App& app, Parsed& parsed) {
    CLI::App& estimate = *add_command(app, "estimate");
    add_period(estimate, parsed.period, week_before);
    option(estimate, "--step", "SPAN", parsed.step, "A reading every so often (default 1min)");
    repeated(estimate, "--estimator", "ESTIMATOR", parsed.estimators,
             "NAME or NAME:param=value,...; may be repeated (default: all)");
}

void add_replay(CLI::App& app, Parsed& parsed) {
    CLI::App& replay = *add_command(app, "replay");
    option(replay, "DIR", "", parsed.replay.directory, "The recording")->required();
    option(replay, "--strategy", "STRATEGY", parsed.replay.strategy,
           "NAME or NAME:key=value,...; see 'reaper strategies'");
    repeated(replay, "--set", "KEY=VALUE", parsed.replay.set,
             "KEY=VALUE as the configuration has it; may be repeated");
    add_period(replay, parsed.period,
               "From 2026-11-01 or 2026-11-01T12:30:00Z on (default: all of it)");

    CLI::App& report = *add_command(app, "report");
    option(report, "DIR", "", parsed.report.directory,
           "The recording (default: as configured, else the journal)");
    add_period(report, parsed.period, week_before);
}

Result<UsageCommand> finish_usage(const Parsed& parsed) {
    UsageCommand usage = parsed.usage;
    Duration span{};
    const auto period = read_past(parsed.period, usage.from, span, usage.to);
    if (!period) return period.error();
    if (span != Duration{}) usage.span = span;
    return usage;
}

Result<RiskCommand> finish_risk(const Parsed& parsed) {
    RiskCommand risk = parsed.risk;
    auto when = finish_usage(parsed);
    if (!when) return when.error();
    risk.when = std::move(*when);
    return risk;
}

Result<EstimateCommand> finish_estimate(const Parsed& parsed) {
    EstimateCommand estimate;
    const auto period = read_past(parsed.period, estimate.since, estimate.span, estimate.until);
    if (!period) return period.error();
    if (!parsed.step.empty()) {
        const auto step = parse_duration(parsed.step);
        if (!step || *step < std::chrono::seconds{1} || *step > std::chrono::hours{1})
            return wrong("--step", parsed.step, "a span from 1s to 1h, such as 1min");
        estimate.step = *step;
    }
    for (const auto& text : parsed.estimators) {
        auto estimator = chosen_estimator(text);
        if (!estimator) return estimator.error();
        estimate.estimators.push_back(std::move(*estimator));
    }
    return estimate;
}

Result<ReplayCommand> finish_replay(const Parsed& parsed) {
    ReplayCommand replay = parsed.replay;
    if (!replay.strategy.empty())
        if (const auto strategy = strategy_as_yaml(replay.strategy); !strategy)
            return strategy.error();
    for (const std::string& text : replay.set)
        if (const auto set = override_of(text); !set) return set.error();
    Duration none{};
    const auto period = read_past(parsed.period, replay.since, none, replay.until);
    const bool known = parsed.period.since.empty() || replay.since || none != Duration{};
    if (!period && known) return period.error();
    if (!known || none != Duration{})
        return wrong(
            "--since: a recording has a past of its own; expected a date "
            "such as 2026-11-01 (UTC)");
    return replay;
}

Result<ReportCommand> finish_report(const Parsed& parsed) {
    ReportCommand report = parsed.report;
    const auto period = read_past(parsed.period, report.since, report.span, report.until);
    if (!period) return period.error();
    return report;
}

}  // namespace reaper::cli
