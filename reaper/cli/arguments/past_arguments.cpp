#include "reaper/cli/arguments/past_arguments.hpp"

#include <CLI/CLI.hpp>

#include "reaper/cli/arguments/command_table.hpp"
#include "reaper/cli/arguments/invocation.hpp"
#include "reaper/cli/past/replay_policies.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"

namespace reaper::cli {
namespace {

void add_period(CLI::App& command, PeriodTexts& period, const char* since) {
    command.add_option("--since", period.since, since)->type_name("WHEN");
    command.add_option("--until", period.until, "Until then, UTC (default now)")->type_name("DATE");
}

/// Many write `30m` for `30min`.
std::string with_minutes(const std::string& text) {
    const bool minutes = text.size() > 1 &&
                         text.find_first_not_of("0123456789") == text.size() - 1 &&
                         text.back() == 'm';
    return minutes ? text + "in" : text;
}

}  // namespace

Result<void> read_past(const PeriodTexts& texts, std::optional<TimePoint>& since, Duration& span,
                       std::optional<TimePoint>& until) {
    if (!read_period({with_minutes(texts.since), ""}, since, span, until))
        return Error{Errc::bad_input, "--since: is '" + printable(texts.since, 60) +
                                          "'; expected a span such as 30min, 24h or 7d, or a date "
                                          "such as 2026-11-01 or 2026-11-01T12:30:00Z (UTC)"};
    const auto read = read_period({"", texts.until}, since, span, until);
    if (!read) return read.error();
    if (since && until && *since >= *until)
        return Error{Errc::bad_input, "--until: must be later than --since"};
    if (since && *since >= now()) return Error{Errc::bad_input, "--since: must be before now"};
    return {};
}

void add_history(CLI::App& app, Parsed& parsed) {
    CLI::App& history = *add_command(app, "history", help::history);
    history.require_subcommand(0, 1);
    add_history_limit(history, parsed.history);
    const std::string since = "From 30min, 24h, 7d ago or 2026-11-01T12:30:00Z";
    add_history_filters(history, parsed.history, since);
    CLI::App* const show = add_command(history, "show", help::history_show);
    show->add_option("ID", parsed.shown, "The request's id, or a server's id or name")
        ->required()
        ->type_name("");
    add_history_times(*add_command(history, "messages", help::history_messages), parsed.history,
                      since);
    CLI::App& victims = *add_command(history, "victims", help::history_victims);
    add_history_filters(victims, parsed.history, since + " (default: see above)");
    victims.add_flag("--planned", parsed.history.planned, "Those that dry runs would have deleted");
    add_command(history, "totals", help::history_totals)
        ->add_option("--since", parsed.history.since, since + " (default 24h)")
        ->type_name("WHEN");
    add_history_times(*add_command(history, "events", help::history_events), parsed.history, since);
    add_journal_option(history, parsed.history.journal);
    for (CLI::App* const view : history.get_subcommands([](const CLI::App*) { return true; }))
        add_journal_option(*view, parsed.history.journal);
}

void add_usage(CLI::App& app, Parsed& parsed) {
    CLI::App& usage = *add_command(app, "usage", help::usage);
    usage
        .add_option("--since", parsed.from,
                    "From 30min, 24h, 7d ago or 2026-11-01T12:30:00Z (default: this month)")
        ->type_name("WHEN");
    usage.add_option("--until", parsed.to, "Until then, UTC (default now)")->type_name("DATE");
    usage.add_option("--project", parsed.usage.project, "Only this project: id or name")
        ->type_name("PROJECT");
    usage.add_flag("--csv", parsed.list.csv, "The same as -o csv");
}

void add_risk(CLI::App& app, Parsed& parsed) {
    CLI::App& risk = *add_command(app, "risk", help::risk);
    risk.add_option("--since", parsed.from,
                    "From 30min, 24h, 7d ago or 2026-11-01T12:30:00Z (default: 28d)")
        ->type_name("WHEN");
    risk.add_option("--until", parsed.to, "Until then, UTC (default now)")->type_name("DATE");
    risk.add_option("--flavor", parsed.risk.flavor, "Only servers of this flavor, by its name")
        ->type_name("FLAVOR");
    risk.add_option("--zone,--az", parsed.risk.zone, "Only on hosts of this availability zone")
        ->type_name("AZ");
    risk.add_option("--aggregate", parsed.risk.aggregate, "Only on hosts of this aggregate")
        ->type_name("AGGREGATE");
}

void add_estimate(CLI::App& app, Parsed& parsed) {
    CLI::App& estimate = *add_command(app, "estimate", help::estimate);
    estimate
        .add_option("--since", parsed.estimate.since,
                    "From 30min, 24h, 7d before --until or 2026-11-01T12:30:00Z (default 7d)")
        ->type_name("WHEN");
    estimate.add_option("--until", parsed.estimate.until, "Until then, UTC (default now)")
        ->type_name("DATE");
    estimate.add_option("--step", parsed.estimate.step, "A reading every so often (default 1min)")
        ->type_name("SPAN");
    estimate
        .add_option("--estimator", parsed.estimate.estimators,
                    "NAME or NAME:param=value,...; may be repeated (default: all)")
        ->type_name("ESTIMATOR")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_replay(CLI::App& app, Parsed& parsed) {
    CLI::App& replay = *add_command(app, "replay", help::replay);
    replay.add_option("DIR", parsed.replay.directory, "The recording")->required()->type_name("");
    replay
        .add_option("--strategy", parsed.replay.strategy,
                    "NAME or NAME:key=value,...; see 'reaper strategies'")
        ->type_name("STRATEGY");
    replay
        .add_option("--set", parsed.replay.set,
                    "KEY=VALUE as the configuration has it; may be repeated")
        ->type_name("KEY=VALUE")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    add_period(replay, parsed.period,
               "From 2026-11-01 or 2026-11-01T12:30:00Z on (default: all of it)");

    CLI::App& report = *add_command(app, "report", help::report);
    report
        .add_option("DIR", parsed.report.directory,
                    "The recording (default: as configured, else the journal)")
        ->type_name("");
    add_period(report, parsed.period,
               "From 30min, 24h, 7d before --until or 2026-11-01T12:30:00Z (default 7d)");
}

Result<UsageCommand> finish_usage(const Parsed& parsed) {
    UsageCommand usage = parsed.usage;
    Duration span{};
    const auto period = read_past({parsed.from, parsed.to}, usage.from, span, usage.to);
    if (!period) return period.error();
    if (span != Duration{}) usage.span = span;
    return usage;
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
        return Error{Errc::bad_input,
                     "--since: a recording has a past of its own; expected a date "
                     "such as 2026-11-01 (UTC)"};
    return replay;
}

Result<ReportCommand> finish_report(const Parsed& parsed) {
    ReportCommand report = parsed.report;
    const auto period = read_past(parsed.period, report.since, report.span, report.until);
    if (!period) return period.error();
    return report;
}

}  // namespace reaper::cli
