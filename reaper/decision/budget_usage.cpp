#include "reaper/decision/budget_usage.hpp"

#include <algorithm>

#include "reaper/model/project_names.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
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
    const auto at = std::ranges::find(host->servers, id, &Server::id);
    return at == host->servers.end() ? nullptr : &*at;
}

}  // namespace

BudgetUsage::BudgetUsage(const LimitSettings& limits, const SchedulerRules* scheduler,
                         const VictimHistory& history, const Request& request,
                         const CloudIndex& cloud, const Ledger& ledger, TimePoint now)
    : limits_{limits}, request_{request} {
    if (scheduler != nullptr)
        for (const auto& shard : scheduler->watched)
            left_.shards.emplace_back(to_string({shard}), shard);
    by_request_ = history.of_request(request.id);
    for (const auto& [project, servers] : cloud.fleets()) revocable_ += servers;
    count_past(history, now);
    count_planned(history, cloud, ledger);
    if (limits_.victims_per_aggregate > 0) sum_aggregates(cloud);
}

/// Does a limit count what is done for other requests too?
bool BudgetUsage::of_others() const {
    return limits_.victims_per_window > 0 || limits_.victims_per_project > 0 ||
           limits_.victims_per_aggregate > 0 || limits_.share_per_requester > 0 ||
           limits_.share_per_request > 0;
}

void BudgetUsage::count_past(const VictimHistory& history, TimePoint now) {
    if (!of_others()) return;
    history.each_since(now - limits_.window, [&](const PastVictim& victim) {
        ++in_window_;
        if (victim.requester == request_.project) ++by_requester_;
        if (limits_.victims_per_project > 0) ++by_project_[victim.project];
        if (limits_.victims_per_aggregate > 0) ++by_host_[victim.host];
    });
    revocable_ += in_window_;
}

/// Those that the history does not have yet, and that have not ended (unsent, so never).
void BudgetUsage::count_planned(const VictimHistory& history, const CloudIndex& cloud,
                                const Ledger& ledger) {
    const auto counted = [&](const Ledger::Eviction& eviction) {
        const Server* const server = find_server(cloud.find(eviction.host), eviction.server);
        return history.contains(eviction.server,
                                server == nullptr ? std::nullopt : server->launched);
    };
    for (const auto* const eviction : ledger.evictions_of(request_.id))
        if (!eviction->ended && !counted(*eviction)) ++by_request_;
    if (!of_others()) return;
    std::map<RequestId, bool> is_ours;  ///< for the same project
    ledger.each_under_way([&](const Ledger::Eviction& eviction) {
        if (counted(eviction)) return;
        ++in_window_;
        const auto [ours, first] = is_ours.try_emplace(eviction.request);
        if (first) {
            const auto promises = ledger.promises_of(eviction.request);
            ours->second = eviction.request == request_.id ||
                           (!promises.empty() && promises.front()->project == request_.project);
        }
        if (ours->second) ++by_requester_;
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

/// None if there is no such limit.
std::optional<Budget> BudgetUsage::of_share(long used, int percent, std::string_view safeguard,
                                            const std::string& where) const {
    if (percent <= 0) return std::nullopt;
    const long share = revocable_ * percent / 100;
    Budget left = budget(used, static_cast<int>(std::max<long>(share, limits_.share_least)),
                         safeguard, where);
    left.used += " (" + std::to_string(percent) + " % of " +
                 counted(revocable_, "revocable server") + ", at least " +
                 std::to_string(limits_.share_least) + ")";
    return left;
}

/// A person's word passes them.
void BudgetUsage::add_budgets_of_requester(Budgets& left) const {
    if (request_.approved) return;
    const std::string here = "for this request";
    std::optional<Budget> of_request;
    if (limits_.victims_per_request > 0)
        of_request =
            budget(by_request_, limits_.victims_per_request, safeguard::limit_request, here);
    // A request that takes back lent room, or corrects a host, asks for no more than that.
    const bool waits = is_awaited(request_.source);
    auto share =
        waits ? of_share(by_request_, limits_.share_per_request, safeguard::limit_request, here)
              : std::nullopt;
    if (share && (!of_request || share->left < of_request->left)) of_request = std::move(share);
    if (of_request) left.all.push_back(std::move(*of_request));
    if (!waits || request_.source == RequestSource::operator_ || request_.project.empty()) return;
    if (auto of_requester =
            of_share(by_requester_, limits_.share_per_requester, safeguard::limit_requester,
                     "for project " + project_text(request_.project, request_.project_name) +
                         " in the last " + format_duration(limits_.window)))
        left.all.push_back(std::move(*of_requester));
}

Budgets BudgetUsage::left() const {
    const std::string lately = "in the last " + format_duration(limits_.window);
    Budgets left = left_;
    add_budgets_of_requester(left);
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
