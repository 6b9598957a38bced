// `reaper report`: what switching on would have meant, by a recording, or else by the journal.
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <utility>

#include "clients/journal/sqlite_journal.hpp"
#include "config/dry_run.hpp"
#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/daemon/local_settings.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/cli/past/now.hpp"
#include "reaper/cli/past/replay_policies.hpp"
#include "reaper/recording/segments.hpp"
#include "reaper/recording/week.hpp"
#include "reaper/report/json.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
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
    auto journal = open_journal_for_reading(settings.journal.path);
    if (!journal) return journal.error();
    auto records = run_task(io, records_since(**journal, since));
    if (!records) return records.error();
    recording::WeekInput input = recording::week_of(*records);
    input.source = "journal " + settings.journal.path;
    input.limits = settings.safeguards.limits;
    return input;
}

/// One that is there and can't be read is told.
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
    if (!settings) return Error{Errc::cancelled, ""};  // it was told
    if (holds_recording(settings->record.directory, terminal))
        return by_recording(settings->record.directory, since, until);
    const std::string of_dry_run =
        config::kept_by_dry_run(settings->journal, settings->record).record.directory;
    if (of_dry_run != settings->record.directory && holds_recording(of_dry_run, terminal))
        terminal.warn("this is by the journal of the daemon; a dry run is told by 'reaper report " +
                      of_dry_run + "'");
    return by_journal(*settings, since);
}

}  // namespace

ExitCode show_report(const GlobalOptions& global, const ReportCommand& command,
                     const Terminal& terminal) {
    const TimePoint until = command.until.value_or(now());
    const TimePoint since = command.since.value_or(until - command.span);
    if (since >= until)
        return terminal.fail(ExitCode::usage,
                             Error{Errc::bad_input, "--until: must be later than --since"});
    auto input = week_input(global, command, terminal, since, until);
    if (!input && input.error().code == Errc::cancelled) return ExitCode::usage;
    if (!input)
        return terminal.fail(
            input.error().code == Errc::bad_input ? ExitCode::usage : ExitCode::failed,
            input.error());
    input->since = since;
    input->until = until;
    const auto week = recording::report_week(std::move(*input));
    return show_document(
        terminal, [&] { return recording::to_json(week); },
        [&] { return recording::render_week(week, terminal.render_options(until)); });
}

}  // namespace reaper::cli
