#include "reaper/api/server_runs.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include "reaper/planner/suitable_hosts.hpp"
#include "reaper/request_spec/request_builder.hpp"

namespace reaper {
namespace {

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
    run.flavor = server.flavor_name;
    run.host = server.host;
    return run;
}

constexpr int most_readings = 1000;
/// Before the time that is asked for, for servers that were shelved then.
constexpr Duration longest_back = std::chrono::days{93};

/// Those that the record's plans chose and that are gone.
void add_reclaimed(const RequestRecord& record, std::vector<ServerRun>& runs) {
    for (const StepEntry& step : record.steps) {
        if (step.step != Step::gone) continue;
        for (const PlanEntry& entry : record.plans) {
            const auto* const plan = std::get_if<Plan>(&entry.decision);
            if (plan == nullptr) continue;
            for (const Victim& victim : plan->victims()) {
                if (victim.server != step.server) continue;
                runs.push_back({victim.server, victim.project, victim.resources,
                                victim.launched.value_or(victim.created), step.at, true, true,
                                victim.flavor, victim.host});
            }
        }
    }
}

}  // namespace

void add_running(const Host& host, std::vector<ServerRun>& runs) {
    for (const Server& server : host.servers) {
        if (server.being_deleted() && server.project.str().empty()) continue;  // Nova tells its end
        ServerRun run;
        run.server = server.id;
        run.project = server.project;
        run.holds = server.resources();
        run.from = server.launched.value_or(server.created);
        run.revocable = server.revocable();
        run.flavor = server.flavor_name;
        run.host = server.host;
        runs.push_back(std::move(run));
    }
}

void add_ended(const std::vector<ServerRecord>& records, const Taggers& taggers,
               const TagData& tag_data, std::vector<ServerRun>& runs) {
    for (const ServerRecord& record : records)
        if (auto run = ended(record, taggers, tag_data)) runs.push_back(std::move(*run));
}

ResultTask<std::vector<ServerRun>> reclaimed_runs(JournalReader& journal,
                                                  const std::vector<ServerRecord>& ended,
                                                  TimePoint since, TimePoint now) {
    TimePoint begin = since;
    std::set<ServerId> shelved;
    for (const ServerRecord& record : ended) {
        const auto& launched = record.server.launched;
        if (!record.server.host.empty() || !launched || *launched >= since) continue;
        shelved.insert(record.server.id);
        begin = std::min(begin, *launched);
    }
    begin = std::max(begin, since - longest_back);
    const Duration step = std::max<Duration>(std::chrono::days{1}, (now - begin) / most_readings);
    std::vector<ServerRun> runs;
    // Before the finished ones: what ends meanwhile comes twice, and counts once.
    auto unfinished = co_await journal.unfinished();
    if (!unfinished) co_return unfinished.error();
    for (TimePoint from = begin; from < TimePoint::max();) {
        const TimePoint until = now - from > step ? from + step : TimePoint::max();
        auto records = co_await journal.culls_between(from, until);
        if (!records) co_return records.error();
        for (const RequestRecord& record : *records) add_reclaimed(record, runs);
        from = until;
    }
    for (const RequestRecord& record : *unfinished) add_reclaimed(record, runs);
    std::erase_if(runs, [&](const ServerRun& run) {
        return run.until && *run.until < since && !shelved.contains(run.server);
    });
    co_return runs;
}

}  // namespace reaper
