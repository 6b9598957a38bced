#include "reaper/api/server_runs.hpp"

#include <chrono>
#include <set>
#include <utility>
#include <variant>

#include "reaper/planner/eligibility.hpp"
#include "reaper/request_spec/request_builder.hpp"

namespace reaper {
namespace {

/// From its first deletion to the last server that is gone.
constexpr Duration longest_cull = std::chrono::days{1};

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

/// Requests for which a deletion was sent since then, in pages: each goes on at the time of the
/// last victim of the one before.
ResultTask<std::set<RequestId>> culled_since(Journal& journal, TimePoint since, int page) {
    std::set<RequestId> culled;
    JournalQuery query;
    query.since = since;
    query.limit = page;
    while (true) {
        JournalQuery asked = query;
        auto victims = co_await journal.find_victims(std::move(asked));
        if (!victims) co_return victims.error();
        for (const VictimEntry& victim : *victims) culled.insert(victim.request);
        if (static_cast<int>(victims->size()) < query.limit) break;
        const TimePoint until = victims->back().at + Duration{1};
        if (query.until && until >= *query.until) query.limit *= 2;  // all of one moment
        query.until = until;
    }
    co_return culled;
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
        runs.push_back(std::move(run));
    }
}

void add_ended(const std::vector<ServerRecord>& records, const Taggers& taggers,
               const TagData& tag_data, std::vector<ServerRun>& runs) {
    for (const ServerRecord& record : records)
        if (auto run = ended(record, taggers, tag_data)) runs.push_back(std::move(*run));
}

ResultTask<std::vector<ServerRun>> reclaimed_runs(Journal& journal, TimePoint since, int page) {
    auto culled = co_await culled_since(journal, since - longest_cull, page);
    if (!culled) co_return culled.error();
    std::vector<ServerRun> runs;
    auto unfinished = co_await journal.unfinished();
    if (!unfinished) co_return unfinished.error();
    for (const RequestRecord& record : *unfinished) {
        culled->erase(record.request.id);
        add_reclaimed(record, runs);
    }
    for (const RequestId& each : *culled) {
        RequestId id = each;
        auto record = co_await journal.record(std::move(id));
        if (!record) co_return record.error();
        if (*record) add_reclaimed(**record, runs);
    }
    co_return runs;
}

}  // namespace reaper
