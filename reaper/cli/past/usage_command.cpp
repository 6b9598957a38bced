// `reaper usage`: who used how much as what, from the cloud as it is, from what Nova still knows of
// those that ended, and from the journal; or from a daemon elsewhere. `reaper risk`: of the same,
// how often revocable servers were evicted.
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <iterator>
#include <utility>

#include "config/dry_run.hpp"
#include "reaper/api/server_runs.hpp"
#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/arguments/past_arguments.hpp"
#include "reaper/cli/channel/remote_cloud.hpp"
#include "reaper/cli/cloud/cloud_view.hpp"
#include "reaper/cli/daemon/local_settings.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/cli/past/replay_policies.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/model/time.hpp"
#include "reaper/recording/gzip_lines.hpp"
#include "reaper/recording/week.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/risk.hpp"
#include "reaper/report/usage.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
namespace {

/// Nova is asked for all that ended in the time, a thousand servers in one answer.
constexpr Duration longest_count = std::chrono::minutes{15};

/// All that is known; the first word on a server counts: Nova's before the journal's.
struct KnownUse {
    std::vector<ServerRun> runs;
    OversubscribedRooms oversubscribed;
    ProjectNames project_names;
    report::HostPlaces places;
    std::vector<std::string> remarks;
};

Result<KnownUse> all_use(boost::asio::io_context& io, const config::Settings& settings,
                         const Terminal& terminal, TimePoint since) {
    const auto policy = compile_policy(settings.policy);
    if (!policy) return policy.error();
    auto cloud = connect_cloud(io, settings);
    if (!cloud) return cloud.error();
    const auto cache = cloud_view(io, *cloud, **policy, terminal);
    if (!cache) return cache.error();
    KnownUse use;
    use.oversubscribed = oversubscribed_room(
        cache->snapshot,
        local_estimated_room(cache->snapshot, settings.admin.asked_socket(), terminal));
    use.project_names = cache->snapshot.project_names;
    std::vector<ServerRun>& runs = use.runs;
    for (const Host& host : cache->snapshot.hosts) {
        add_running(host, runs);
        use.places[host.service_host] = {host.availability_zone, host.aggregates};
    }
    const auto ended = run_task(io, cloud->ports().compute.ended_servers(since));
    if (!ended) return ended.error();
    add_ended(*ended, (*policy)->taggers, cache->tag_data, runs);
    if (settings.journal.in_file() && !std::filesystem::exists(settings.journal.path)) {
        terminal.warn("no journal at " + settings.journal.path +
                      ": nothing is counted as reclaimed; run it where the daemon runs");
        use.remarks = run_task(io, split_runs(cloud->ports().compute, {}, since, runs));
        return use;
    }
    auto journal = journal_to_read(settings.journal);
    if (!journal) return journal.error();
    auto killed = run_task(io, reclaimed_runs(**journal, *ended, since, now()));
    if (!killed) return killed.error();
    use.remarks = run_task(io, split_runs(cloud->ports().compute, *killed, since, runs));
    std::move(killed->begin(), killed->end(), std::back_inserter(runs));
    return use;
}

ExitCode show(const report::UsageReport& usage, const Terminal& terminal) {
    for (const auto& remark : usage.remarks) terminal.warn(remark);
    return show_list(terminal, {report::usage_table(usage),
                                [&usage] { return report::to_json(usage); }, "usage"});
}

ExitCode show(const report::RiskReport& risk, const Terminal& terminal) {
    for (const auto& remark : risk.remarks) terminal.warn(remark);
    return show_list(
        terminal, {report::risk_table(risk), [&risk] { return report::to_json(risk); }, "lines"});
}

/// By the daemon that --api names: on its cache and its journal.
template <class Read>
ExitCode show_remotely(const GlobalOptions& global, const std::string& path,
                       const UsageCommand& command,
                       std::vector<std::pair<std::string, std::string>> filters, Read read,
                       const Terminal& terminal) {
    auto api = daemon_api(global, terminal);
    if (!api) return ExitCode::usage;
    api->wait_for(longest_count);
    std::optional<TimePoint> since = command.from;
    if (!since && command.span) since = now() - *command.span;
    const auto written = [](const std::optional<TimePoint>& time) {
        return time ? iso_time(*time) : std::string{};
    };
    const std::pair<std::string, std::string> times[] = {{"since", written(since)},
                                                         {"until", written(command.to)}};
    filters.insert(filters.begin(), std::begin(times), std::end(times));
    ExitCode code{};
    const auto said = api->get(target_of(path, filters), code, ExitCode::unknown);
    if (!said) return code;
    const auto counted = taken(read(*said), *api, terminal, code);
    return counted ? show(*counted, terminal) : code;
}

Error since_now() {
    return {Errc::bad_input, "--since: must be before now"};
}

}  // namespace

ExitCode carry_out(const GlobalOptions& global, const UsageCommand& command,
                   const Terminal& terminal) {
    if (const auto fits = check_span(command.span, command.to, now()); !fits)
        return terminal.fail(ExitCode::usage, fits.error());
    if (!global.api.url.empty())
        return show_remotely(global, "/v1/usage", command, {{"project", command.project}},
                             report::usage_from_json, terminal);
    const UsagePeriod period = usage_period(command.from, command.span, command.to, now());
    if (period.from >= period.to) return terminal.fail(ExitCode::usage, since_now());
    const auto settings = settings_for_looking(global, terminal);
    if (!settings) return ExitCode::usage;
    report::UsageReport usage;
    usage.from = period.from;
    boost::asio::io_context io{1};
    auto use = all_use(io, *settings, terminal, usage.from);
    if (!use) return terminal.fail(use.error());
    std::vector<ServerRun>& runs = use->runs;
    usage.oversubscribed = std::move(use->oversubscribed);
    usage.remarks = std::move(use->remarks);
    std::string project = command.project;
    if (!project.empty()) {
        auto cloud = connect_cloud(io, *settings);
        if (!cloud) return terminal.fail(ExitCode::usage, cloud.error());
        if (const auto code = find_project(io, *cloud, project, terminal)) return *code;
        std::erase_if(runs, [&](const ServerRun& run) { return run.project.str() != project; });
    }
    usage.to = std::min(command.to.value_or(now()), now());
    usage.lines = usage_of(runs, usage.from, usage.to);
    add_names(use->project_names, usage.lines);
    return show(usage, terminal);
}

ExitCode carry_out(const GlobalOptions& global, const RiskCommand& command,
                   const Terminal& terminal) {
    UsageCommand when = command.when;
    if (!when.from && !when.span) when.span = report::usual_risk_span;
    if (const auto fits = check_span(when.span, when.to, now()); !fits)
        return terminal.fail(ExitCode::usage, fits.error());
    if (!global.api.url.empty())
        return show_remotely(
            global, "/v1/risk", when,
            {{"flavor", command.flavor}, {"zone", command.zone}, {"aggregate", command.aggregate}},
            report::risk_from_json, terminal);
    const UsagePeriod period = usage_period(when.from, when.span, when.to, now());
    if (period.from >= period.to) return terminal.fail(ExitCode::usage, since_now());
    const auto settings = settings_for_looking(global, terminal);
    if (!settings) return ExitCode::usage;
    boost::asio::io_context io{1};
    auto use = all_use(io, *settings, terminal, period.from);
    if (!use) return terminal.fail(use.error());
    UsageSum sum{period.from, period.to};
    for (ServerRun& run : use->runs) sum.add(std::move(run));
    report::RiskSum risk{period.from,
                         period.to,
                         {command.flavor, command.zone, command.aggregate},
                         std::move(use->places)};
    for (const ServerRun& run : sum.runs()) risk.add(run);
    report::RiskReport counted = risk.report();
    counted.remarks = std::move(use->remarks);
    return show(counted, terminal);
}

// `reaper report`: what switching on would have meant, by a recording, or else by the journal.

namespace {

/// As many as the journal is asked for.
constexpr int most_requests = 100'000;

Result<recording::WeekInput> by_recording(const std::string& directory, TimePoint since,
                                          TimePoint until) {
    ReplayPolicies policies("", "", {});
    const recording::PolicyFor as_recorded = [&](const recording::PolicyLine& line) {
        return policies.recorded(line);
    };
    const auto replayed = recording::replay(directory, as_recorded, as_recorded, {since, until});
    if (!replayed) return replayed.error();
    recording::WeekInput input = recording::week_of(*replayed);
    input.source = "recording " + directory;
    input.policy = policies.recorded_policy();
    if (input.policy) input.limits = input.policy->safeguards.limits;
    return input;
}

ResultTask<std::vector<RequestRecord>> records_since(JournalReader& journal, TimePoint since) {
    auto lines = co_await journal.list(most_requests);
    if (!lines) co_return lines.error();
    std::vector<RequestRecord> records;
    for (const RequestSummary& line : *lines) {
        if (line.received_at < since) continue;
        RequestId id = line.request.id;
        auto record = co_await journal.record(std::move(id));
        if (!record) co_return record.error();
        if (*record) records.push_back(std::move(**record));
    }
    co_return records;
}

Result<recording::WeekInput> by_journal(const config::LocalSettings& settings, TimePoint since) {
    boost::asio::io_context io{1};
    auto journal = journal_to_read(settings.journal);
    if (!journal) return journal.error();
    auto records = run_task(io, records_since(**journal, since));
    if (!records) return records.error();
    recording::WeekInput input = recording::week_of(*records);
    input.source = "journal " + settings.journal.place();
    input.limits = settings.safeguards.limits;
    return input;
}

/// A warning names one that is there and can't be read.
bool holds_recording(const std::string& directory, const Terminal& terminal) {
    std::error_code unknown;
    if (directory.empty() || !std::filesystem::exists(directory, unknown)) {
        if (unknown && unknown != std::errc::no_such_file_or_directory)
            terminal.warn(directory + " can't be read (" + unknown.message() + ")");
        return false;
    }
    const auto segments = recording::segments_in(directory);
    if (!segments) terminal.warn(segments.error().what);
    return segments && !segments->empty();
}

Result<recording::WeekInput> week_input(const GlobalOptions& global, const ReportCommand& command,
                                        const Terminal& terminal, TimePoint since,
                                        TimePoint until) {
    if (!command.directory.empty()) return by_recording(command.directory, since, until);
    const auto settings = local_settings(global, terminal);
    if (!settings) return Error{Errc::cancelled, ""};  // it was printed
    if (holds_recording(settings->record.directory, terminal))
        return by_recording(settings->record.directory, since, until);
    const std::string of_dry_run =
        config::kept_by_dry_run(settings->journal, settings->record).record.directory;
    if (of_dry_run != settings->record.directory && holds_recording(of_dry_run, terminal))
        terminal.warn("this is by the journal of the daemon; for a dry run, see 'reaper report " +
                      of_dry_run + "'");
    return by_journal(*settings, since);
}

}  // namespace

ExitCode carry_out(const GlobalOptions& global, const ReportCommand& command,
                   const Terminal& terminal) {
    const TimePoint until = command.until.value_or(now());
    const TimePoint since = command.since.value_or(until - command.span);
    if (since >= until)
        return terminal.fail(ExitCode::usage,
                             Error{Errc::bad_input, "--until: must be later than --since"});
    auto input = week_input(global, command, terminal, since, until);
    if (!input && input.error().code == Errc::cancelled) return ExitCode::usage;
    if (!input) return terminal.fail(input.error());
    input->since = since;
    input->until = until;
    const auto week = recording::report_week(std::move(*input));
    return show_document(
        terminal, [&] { return recording::to_json(week); },
        [&] { return recording::render_week(week, terminal.render_options(until)); });
}

}  // namespace reaper::cli
