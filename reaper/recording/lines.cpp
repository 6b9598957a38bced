#include "reaper/recording/lines.hpp"

#include <algorithm>
#include <utility>

namespace reaper::recording {
namespace {

using report::NameChanger;
using report::NameKind;

/// Of what is in force, the newest victims that are recorded.
constexpr std::size_t max_history = 20'000;

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
