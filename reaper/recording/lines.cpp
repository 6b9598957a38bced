#include "reaper/recording/lines.hpp"

#include <algorithm>
#include <utility>

#include "reaper/model/time_text.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/snapshot_parts.hpp"

namespace reaper::recording {
namespace {

using nlohmann::json;
using report::NameChanger;
using report::NameKind;

/// Of what is in force, the newest victims that are recorded.
constexpr std::size_t max_history = 20'000;

json ids(const auto& all) {
    json array = json::array();
    for (const auto& id : all) array.push_back(id.str());
    return array;
}

json history_json(const std::vector<PastVictim>& history) {
    json array = json::array();
    for (const PastVictim& victim : history) {
        json one{{"at", iso_time(victim.at)},       {"request", victim.request.str()},
                 {"server", victim.server.str()},   {"name", victim.name},
                 {"project", victim.project.str()}, {"host", victim.host}};
        if (!victim.workload.empty()) one["workload"] = victim.workload;
        if (!victim.requester.empty()) one["for_project"] = victim.requester.str();
        array.push_back(std::move(one));
    }
    return array;
}

json skipped_json(const std::map<ServerId, std::string>& skipped) {
    json object = json::object();
    for (const auto& [server, why] : skipped) object[server.str()] = why;
    return object;
}

void change(Seen& seen, const NameChanger& changer) {
    changer.change(seen.request);
    changer.change(seen.ledger);
    changer.change(seen.skipped);
    for (ServerId& server : seen.given_up) server = changer.of(NameKind::consumer, server);
    for (PastVictim& victim : seen.history) {
        victim.request = changer.of(NameKind::request, victim.request);
        victim.server = changer.of(NameKind::consumer, victim.server);
        victim.name = changer.of(NameKind::server, victim.name);
        victim.project = changer.of(NameKind::project, victim.project);
        victim.host = changer.of(NameKind::machine, victim.host);
        victim.workload = changer.of(NameKind::value, victim.workload);
        if (!victim.requester.empty())
            victim.requester = changer.of(NameKind::project, victim.requester);
    }
    std::set<HostId> cooling;
    for (const HostId& host : seen.cooling) cooling.insert(changer.of(NameKind::provider, host));
    seen.cooling = std::move(cooling);
    seen.held_because.clear();
    if (seen.no_move) seen.no_move = "left out: anonymous";
}

void rename(RequestId& id, const NameChanger* changer) {
    if (changer != nullptr) id = changer->of(NameKind::request, id);
}

std::vector<std::string> all_of(const std::vector<std::string>& names, NameKind kind,
                                const NameChanger& changer) {
    std::vector<std::string> changed;
    for (const std::string& name : names) changed.push_back(changer.of(kind, name));
    return changed;
}

}  // namespace

Seen seen_by(const DecisionSight& sight, bool whole) {
    Seen seen;
    seen.request = sight.request;
    seen.at = sight.now;
    seen.whole = whole;
    seen.ledger = Ledger(sight.ledger.evictions(), sight.ledger.promises());
    seen.given_up = sight.ledger.all_given_up();
    seen.skipped = sight.skipped;
    bool reserved = !sight.request.role.empty() || sight.request.borrows;
    sight.ledger.each_reserved([&](const HostId&) { reserved = true; });
    seen.reserved = reserved || !sight.request.victims_among.empty();
    const Safeguards& safeguards = sight.safeguards;
    safeguards.history().each_since(
        TimePoint{}, [&](const PastVictim& victim) { seen.history.push_back(victim); });
    if (seen.history.size() > max_history)
        seen.history.erase(seen.history.begin(),
                           seen.history.end() - static_cast<std::ptrdiff_t>(max_history));
    for (const auto& [host, why] : safeguards.passed_over(sight.now)) seen.cooling.insert(host);
    if (auto held = safeguards.why_not_now(sight.request, sight.now)) {
        seen.held = held->safeguard;
        seen.held_because = std::move(held->reason);
    }
    seen.no_move = safeguards.why_no_move(sight.request);
    seen.several_cells = safeguards.several_cells();
    return seen;
}

json to_json(const Begin& begin) {
    return {{"line", "begin"},
            {"format", "reaper-recording"},
            {"version", recording_version},
            {"at", iso_time(begin.at)},
            {"run", begin.run},
            {"segment", begin.segment},
            {"follows", begin.follows},
            {"anonymous", begin.anonymous},
            {"dry_run", begin.dry_run},
            {"reaper", begin.version}};
}

json to_json(const PolicyLine& line) {
    json object{{"line", "policy"},
                {"configuration", line.configuration},
                {"project_ids", line.project_ids},
                {"revocable_classes", ids(line.revocable_classes)}};
    if (!line.protected_servers.empty()) object["protected_servers"] = line.protected_servers;
    return object;
}

json tags_line(TagData tag_data, const NameChanger* changer) {
    if (changer != nullptr) changer->change(tag_data);
    return {{"line", "tags"}, {"facts", report::tag_data_json(tag_data)}};
}

json host_line(Host host, const NameChanger* changer) {
    if (changer != nullptr) changer->change(host);
    json line{{"line", "host"}, {"host", report::host_json(host)}};
    if (host.placement_aggregates) line["placement_aggregates"] = *host.placement_aggregates;
    if (host.estimated) line["estimated"] = true;
    return line;
}

json gone_line(HostId id, const NameChanger* changer) {
    if (changer != nullptr) id = changer->of(NameKind::provider, id);
    return {{"line", "gone"}, {"host", id.str()}};
}

json whole_line() {
    return {{"line", "whole"}};
}

json seen_line(Seen seen, const NameChanger* changer) {
    if (changer != nullptr) change(seen, *changer);
    json line{{"line", "seen"},
              {"at", iso_time(seen.at)},
              {"request", report::to_json(seen.request)},
              {"whole", seen.whole},
              {"ledger", report::ledger_json(seen.ledger)}};
    if (!seen.request.res_type_traits.empty())
        line["res_type_traits"] = ids(seen.request.res_type_traits);
    if (seen.reserved) line["reserved"] = true;
    if (!seen.given_up.empty()) line["given_up"] = ids(seen.given_up);
    if (!seen.skipped.empty()) line["skipped"] = skipped_json(seen.skipped);
    if (!seen.history.empty()) line["history"] = history_json(seen.history);
    if (!seen.cooling.empty()) line["cooling"] = ids(seen.cooling);
    if (!seen.held.empty())
        line["held"] = {{"safeguard", seen.held}, {"reason", seen.held_because}};
    if (seen.no_move) line["no_move"] = *seen.no_move;
    if (seen.several_cells) line["several_cells"] = true;
    return line;
}

json request_line(Request request, TimePoint at, const NameChanger* changer) {
    if (changer != nullptr) changer->change(request);
    return {{"line", "request"}, {"at", iso_time(at)}, {"request", report::to_json(request)}};
}

json plan_line(RequestId id, PlanEntry plan, const NameChanger* changer) {
    rename(id, changer);
    if (changer != nullptr) changer->change(plan.decision);
    json line = report::to_json(plan);
    line["line"] = "plan";
    line["request"] = id.str();
    return line;
}

json step_line(RequestId id, StepEntry step, const NameChanger* changer) {
    rename(id, changer);
    if (changer != nullptr) {
        step.server = changer->of(NameKind::consumer, step.server);
        step.detail.clear();
    }
    return {{"line", "step"}, {"request", id.str()}, {"step", report::to_json(step)}};
}

json outcome_line(RequestId id, Outcome outcome, const NameChanger* changer) {
    rename(id, changer);
    if (changer != nullptr) outcome.reason.clear();
    return {{"line", "outcome"}, {"request", id.str()}, {"outcome", report::to_json(outcome)}};
}

json freed_line(RequestId id, FreedRoomResult result, const NameChanger* changer) {
    rename(id, changer);
    if (changer != nullptr) {
        result.reason.clear();
        for (HostId& host : result.untaken) host = changer->of(NameKind::provider, host);
    }
    return {{"line", "freed"}, {"request", id.str()}, {"freed_room", report::to_json(result)}};
}

config::Policy anonymous_policy(const config::Policy& policy, const NameChanger& changer) {
    config::Policy changed = policy;
    std::erase_if(changed.taggers, [](const config::Plugin& tagger) {
        return tagger.name != "project" && tagger.name != "resource";
    });
    for (config::Plugin& tagger : changed.taggers) {
        const auto tag = tagger.parameters.find("tag");
        if (tag == tagger.parameters.end()) continue;
        const auto* const name = std::get_if<std::string>(&tag->second);
        if (name != nullptr && *name != "preemptible")
            tag->second = changer.of(NameKind::project_tag, *name);
    }
    changed.scheduler.cells.clear();
    std::vector<std::string> watched;
    for (const std::string& shard : policy.scheduler.watched_aggregates) {
        std::string names;
        for (std::size_t at = 0; at <= shard.size();) {
            const std::size_t end = std::min(shard.find('|', at), shard.size());
            names += (names.empty() ? "" : "|") +
                     changer.of(NameKind::aggregate, shard.substr(at, end - at));
            at = end + 1;
        }
        watched.push_back(names);
    }
    changed.scheduler.watched_aggregates = watched;
    ProtectSettings& protect = changed.safeguards.protect;
    protect.tags = all_of(protect.tags, NameKind::tag, changer);
    protect.metadata = all_of(protect.metadata, NameKind::key, changer);
    protect.projects = all_of(protect.projects, NameKind::project, changer);
    protect.project_ids.clear();
    protect.flavors = all_of(protect.flavors, NameKind::flavor, changer);
    protect.aggregates = all_of(protect.aggregates, NameKind::aggregate, changer);
    auto& workload = changed.safeguards.thrash.workload_key;
    workload = changer.of(NameKind::key, workload);
    changed.strategy.parameters.erase("priorities");  // they name projects
    return changed;
}

}  // namespace reaper::recording
