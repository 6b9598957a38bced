#include "reaper/api/server_runs.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "reaper/model/text.hpp"
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
    run.created = server.created;
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
                                victim.flavor, victim.host, victim.created});
            }
        }
    }
}

struct Ends {
    TimePoint first = TimePoint::max(), last = TimePoint::min();
};

std::map<ServerId, Ends> ends_of(const std::vector<ServerRun>& reclaimed) {
    std::map<ServerId, Ends> all;
    for (const ServerRun& run : reclaimed) {
        Ends& ends = all[run.server];
        ends = {std::min(ends.first, *run.until), std::max(ends.last, *run.until)};
    }
    return all;
}

/// The launch began the run only if the server came back then.
void begin_at_creation(ServerRun& run, const Ends& ends) {
    if (ends.first > run.from) run.from = std::min(run.from, run.created);
}

/// What a server took to be built.
constexpr Duration longest_build = std::chrono::minutes{5};
constexpr int most_histories = 2000;

bool ended_on_the_shelf(const ServerRun& run) {
    return run.until && run.host.empty();
}

/// The whole of a server's life without its times on the shelf.
std::vector<ServerRun> off_the_shelf(const ServerRun& whole,
                                     const std::vector<ActionRecord>& newest_first) {
    std::vector<ServerRun> parts{whole};
    parts.back().from = std::min(whole.from, whole.created);
    parts.back().until.reset();
    for (auto action = newest_first.rbegin(); action != newest_first.rend(); ++action) {
        if (action->failed) continue;
        ServerRun& last = parts.back();
        if ((action->name == "shelve" && !last.until) || action->name == "shelveOffload") {
            last.until = action->started;
        } else if (action->name == "unshelve" && last.until) {
            parts.push_back(whole);
            parts.back().from = action->started;
            parts.back().until.reset();
        }
    }
    // One that still has a host did not leave it.
    if (!ended_on_the_shelf(whole) || !parts.back().until) parts.back().until = whole.until;
    return parts;
}

/// Servers whose runs' ends, or only beginnings, Nova does not tell.
struct NotTold {
    int ends = 0, begins = 0;
    std::string why{};  ///< of those after an error; empty: it has no record
};

std::vector<std::string> remarks_of(const NotTold& not_told) {
    const std::string why = " (" + (not_told.why.empty() ? "it has no record" : not_told.why) + ")";
    std::vector<std::string> remarks;
    if (not_told.ends > 0)
        remarks.push_back("left out, as Nova does not tell when they were shelved: " +
                          counted(not_told.ends, "server") + why);
    if (not_told.begins > 0)
        remarks.push_back(
            "counted from their creation, as Nova does not tell whether they were "
            "shelved since: " +
            counted(not_told.begins, "server") + why);
    return remarks;
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
        run.created = server.created;
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
    const auto ends = ends_of(runs);
    for (ServerRun& run : runs) begin_at_creation(run, ends.at(run.server));
    std::erase_if(runs, [&](const ServerRun& run) {
        return run.until && *run.until < since && !shelved.contains(run.server);
    });
    co_return runs;
}

Task<std::vector<std::string>> split_runs(Compute& compute, const std::vector<ServerRun>& reclaimed,
                                          TimePoint since, std::vector<ServerRun>& runs) {
    auto ends = ends_of(reclaimed);
    std::vector<ServerRun> split;
    NotTold not_told;
    int asked = 0;
    for (ServerRun& run : runs) {
        const bool shelved = ended_on_the_shelf(run) && ends[run.server].last <= run.from;
        const bool again = run.from > since && run.from - run.created > longest_build;
        std::vector<ServerRun> parts{run};
        if (shelved || again) {
            if (not_told.why.empty() && asked++ == most_histories)
                not_told.why = "it was asked about " + std::to_string(most_histories) + " others";
            parts.clear();
        }
        if (parts.empty() && not_told.why.empty()) {
            ServerId server = run.server;
            const auto actions = co_await compute.actions(std::move(server));
            if (!actions)
                not_told.why = actions.error().what;
            else if (!actions->empty())
                parts = off_the_shelf(run, *actions);
        }
        if (parts.empty()) {
            ++(shelved ? not_told.ends : not_told.begins);
            begin_at_creation(run, ends[run.server]);
            if (!shelved) parts.push_back(run);
        }
        std::ranges::move(parts, std::back_inserter(split));
    }
    runs = std::move(split);
    co_return remarks_of(not_told);
}

}  // namespace reaper
