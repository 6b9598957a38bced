#include "reaper/decision/budget_usage.hpp"

#include <algorithm>

#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/planner/constraint_checker.hpp"
#include "reaper/safeguards/safeguards.hpp"

namespace reaper {
namespace {

Budget budget(long used, int limit, std::string_view safeguard, const std::string& where) {
    return {std::max<Amount>(limit - used, 0), std::string{safeguard},
            std::to_string(used) + " of " + counted(limit, "victim") + " " + where};
}

const Server* find_server(const Host* host, const ServerId& id) {
    if (host == nullptr) return nullptr;
    const auto at = std::find_if(host->servers.begin(), host->servers.end(),
                                 [&](const Server& server) { return server.id == id; });
    return at == host->servers.end() ? nullptr : &*at;
}

}  // namespace

BudgetUsage::BudgetUsage(const LimitSettings& limits, const SchedulerRules* scheduler,
                         const VictimHistory& history, const RequestId& request,
                         const CloudIndex& cloud, const Ledger& ledger, TimePoint now)
    : limits_{limits} {
    if (scheduler != nullptr)
        for (const auto& shard : scheduler->watched)
            left_.shards.emplace_back(to_string({shard}), shard);
    by_request_ = history.of_request(request);
    count_past(history, now);
    count_planned(history, request, cloud, ledger);
    if (limits_.victims_per_aggregate > 0) sum_aggregates(cloud);
}

/// Does a limit count what is done for other requests too?
bool BudgetUsage::of_others() const {
    return limits_.victims_per_window > 0 || limits_.victims_per_project > 0 ||
           limits_.victims_per_aggregate > 0;
}

void BudgetUsage::count_past(const VictimHistory& history, TimePoint now) {
    if (!of_others()) return;
    history.each_since(now - limits_.window, [&](const PastVictim& victim) {
        ++in_window_;
        if (limits_.victims_per_project > 0) ++by_project_[victim.project];
        if (limits_.victims_per_aggregate > 0) ++by_host_[victim.host];
    });
}

/// Those that the history does not have yet, and that have not ended (unsent, so never).
void BudgetUsage::count_planned(const VictimHistory& history, const RequestId& request,
                                const CloudIndex& cloud, const Ledger& ledger) {
    for (const auto* const eviction : ledger.evictions_of(request))
        if (!eviction->ended && !history.contains(eviction->server)) ++by_request_;
    if (!of_others()) return;
    ledger.each_under_way([&](const Ledger::Eviction& eviction) {
        if (history.contains(eviction.server)) return;
        ++in_window_;
        const Host* const host = cloud.find(eviction.host);
        if (host != nullptr) ++by_host_[host->service_host];
        if (const Server* const server = find_server(host, eviction.server))
            ++by_project_[server->project];
    });
}

void BudgetUsage::sum_aggregates(const CloudIndex& cloud) {
    if (by_host_.empty()) return;
    for (const std::uint32_t row : cloud.order()) {
        const Host& host = *cloud.row(row).host;
        const auto at = by_host_.find(host.service_host);
        if (at == by_host_.end()) continue;
        left_.any_aggregate(host, [&](const std::string& aggregate) {
            by_aggregate_[aggregate] += at->second;
            return false;
        });
        by_host_.erase(at);  // several hypervisors of one service are in the same aggregates
    }
}

Budgets BudgetUsage::left() const {
    const std::string lately = "in the last " + format_duration(limits_.window);
    Budgets left = left_;
    if (limits_.victims_per_request > 0)
        left.all.push_back(budget(by_request_, limits_.victims_per_request,
                                  safeguard::limit_request, "for this request"));
    if (limits_.victims_per_window > 0)
        left.all.push_back(
            budget(in_window_, limits_.victims_per_window, safeguard::limit_window, lately));
    if (limits_.victims_per_project > 0) {
        const auto of = [&](long used) {
            return budget(used, limits_.victims_per_project, safeguard::limit_project, lately);
        };
        left.each_project = of(0);
        for (const auto& [project, used] : by_project_) left.projects.emplace(project, of(used));
    }
    if (limits_.victims_per_aggregate > 0) {
        const auto of = [&](long used) {
            return budget(used, limits_.victims_per_aggregate, safeguard::limit_aggregate, lately);
        };
        left.each_aggregate = of(0);
        for (const auto& [name, used] : by_aggregate_) left.aggregates.emplace(name, of(used));
    }
    return left;
}

}  // namespace reaper
