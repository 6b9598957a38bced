// `reaper usage`: who used how much as what, from the cloud as it is, from what Nova still knows of
// those that ended, and from the journal.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "clients/journal/sqlite_journal.hpp"
#include "reaper/cli/cloud_view.hpp"
#include "reaper/cli/commands.hpp"
#include "reaper/cli/estimated_room.hpp"
#include "reaper/cli/list_output.hpp"
#include "reaper/cli/now.hpp"
#include "reaper/cloud_reader/cloud_reader.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/planner/eligibility.hpp"
#include "reaper/report/usage.hpp"
#include "reaper/request_spec/request_builder.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
namespace {

namespace chrono = std::chrono;

TimePoint first_of_month(TimePoint time) {
    const chrono::year_month_day day{chrono::floor<chrono::days>(time)};
    return TimePoint{chrono::sys_days{day.year() / day.month() / 1}};
}

std::vector<ServerRun> running(const Snapshot& snapshot) {
    std::vector<ServerRun> runs;
    for (const Host& host : snapshot.hosts)
        for (const Server& server : host.servers) {
            ServerRun run;
            run.server = server.id;
            run.project = server.project;
            run.holds = server.resources();
            run.from = server.launched.value_or(server.created);
            run.revocable = server.revocable();
            runs.push_back(std::move(run));
        }
    return runs;
}

/// Placement has forgotten what it held: its flavor tells.
std::optional<ServerRun> ended(const ServerRecord& record, const Taggers& taggers,
                               const TagData& tag_data) {
    if (!record.server.launched || !record.terminated) return std::nullopt;
    const auto held = resources_of(record.flavor, record.boot_from_volume);
    const auto* const resources = std::get_if<Resources>(&held);
    if (resources == nullptr) return std::nullopt;
    Server server = record.server;
    server.allocations = {{ProviderId{"its flavor"}, *resources}};
    ServerRun run;
    run.server = server.id;
    run.project = server.project;
    run.holds = *resources;
    run.from = *server.launched;
    run.until = record.terminated;
    run.revocable = why_revocable(server, taggers, tag_data).has_value();
    return run;
}

/// Those that the record's plans chose and that are gone.
void add_reclaimed(const RequestRecord& record, std::vector<ServerRun>& runs) {
    for (const StepEntry& step : record.steps) {
        if (step.step != Step::gone) continue;
        for (const PlanEntry& entry : record.plans) {
            const auto* const plan = std::get_if<Plan>(&entry.decision);
            if (plan == nullptr) continue;
            for (const Victim& victim : plan->victims()) {
                if (victim.server != step.server) continue;
                runs.push_back({victim.server, victim.project, victim.resources, victim.created,
                                step.at, true, true});
            }
        }
    }
}

ResultTask<std::vector<ServerRun>> reclaimed(Journal& journal, TimePoint since) {
    auto records = co_await journal.culls_since(since);
    if (!records) co_return records.error();
    auto unfinished = co_await journal.unfinished();
    if (!unfinished) co_return unfinished.error();
    std::vector<ServerRun> runs;
    for (const RequestRecord& record : *records) add_reclaimed(record, runs);
    for (const RequestRecord& record : *unfinished) add_reclaimed(record, runs);
    co_return runs;
}

ResultTask<std::vector<ServerRun>> ended_runs(CloudPorts cloud, const CompiledPolicy& policy,
                                              TimePoint since) {
    auto records = co_await cloud.compute.ended_servers(since);
    if (!records) co_return records.error();
    TaggerInputs tagger_inputs = policy.tagger_inputs();
    auto tag_data = co_await read_tag_data(cloud, std::move(tagger_inputs));
    if (!tag_data) co_return tag_data.error();
    std::vector<ServerRun> runs;
    for (const ServerRecord& record : *records)
        if (auto run = ended(record, policy.taggers, *tag_data)) runs.push_back(std::move(*run));
    co_return runs;
}

/// All that is known; the first word on a server counts: Nova's before the journal's.
struct KnownUse {
    std::vector<ServerRun> runs;
    OversubscribedRooms oversubscribed;
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
        cache->snapshot, local_estimated_room(cache->snapshot, settings.admin.socket, terminal));
    std::vector<ServerRun>& runs = use.runs;
    runs = running(cache->snapshot);
    auto gone = run_task(io, ended_runs(cloud->ports(), **policy, since));
    if (!gone) return gone.error();
    std::move(gone->begin(), gone->end(), std::back_inserter(runs));
    if (!std::filesystem::exists(settings.journal.path)) {
        terminal.warn("no journal at " + settings.journal.path +
                      ": nothing is counted as reclaimed; run it where the daemon runs");
        return use;
    }
    auto journal = open_journal_for_reading(settings.journal.path);
    if (!journal) return journal.error();
    auto killed = run_task(io, reclaimed(**journal, since));
    if (!killed) return killed.error();
    std::move(killed->begin(), killed->end(), std::back_inserter(runs));
    return use;
}

}  // namespace

ExitCode show_usage(const GlobalOptions& global, const UsageCommand& command,
                    const Terminal& terminal) {
    const auto settings = settings_for_looking(global, terminal);
    if (!settings) return ExitCode::usage;
    report::UsageReport usage;
    usage.to = command.to.value_or(now());
    const TimePoint by_span =
        command.span ? now() - *command.span : first_of_month(usage.to - Duration{1});
    usage.from = command.from.value_or(by_span);
    boost::asio::io_context io{1};
    auto use = all_use(io, *settings, terminal, usage.from);
    if (!use) return terminal.fail(use.error());
    std::vector<ServerRun>& runs = use->runs;
    usage.oversubscribed = std::move(use->oversubscribed);
    std::string project = command.project;
    if (!project.empty()) {
        auto cloud = connect_cloud(io, *settings);
        if (!cloud) return terminal.fail(ExitCode::usage, cloud.error());
        if (const auto code = find_project(io, *cloud, project, terminal)) return *code;
        std::erase_if(runs, [&](const ServerRun& run) { return run.project.str() != project; });
    }
    usage.to = std::min(usage.to, now());
    usage.lines = usage_of(runs, usage.from, usage.to);
    return show_list(terminal, {report::usage_table(usage),
                                [&usage] { return report::to_json(usage); }, "usage"});
}

}  // namespace reaper::cli
