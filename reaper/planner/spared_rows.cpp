#include "reaper/planner/spared_rows.hpp"

#include <algorithm>

#include "reaper/planner/cloud_index.hpp"
#include "reaper/planner/eligibility.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/rooms/room.hpp"

namespace reaper {
namespace {

std::uint32_t hash_of_workload(const Workload& workload) {
    const std::uint64_t hash =
        hash_of(workload.project.str()) * 0x9e3779b97f4a7c15ULL ^ hash_of(workload.name);
    return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

Amount ms(TimePoint at) {
    return at.time_since_epoch().count();
}

}  // namespace

void SparedRows::clear() {
    *this = SparedRows{};
}

void SparedRows::drop_workload(const Workload& workload) {
    rows_of_workloads_.each(hash_of_workload(workload),
                            [&](std::uint32_t row) { until_[row] = unknown; });
}

void SparedRows::follow(const CloudIndex& cloud, const RunTimeFilter& filter) {
    const RunTimeRules& rules = filter.rules();
    const bool same = rules.horizon == rules_.horizon &&
                      rules.min_run_time == rules_.min_run_time &&
                      rules.workload_key == rules_.workload_key && cloud.width() == width_;
    if (!same || ms(filter.now()) < now_) clear();
    now_ = ms(filter.now());
    width_ = cloud.width();
    auto was = rules_.grace.begin();
    for (const auto& [workload, grace] : rules.grace) {
        while (was != rules_.grace.end() && was->first < workload) drop_workload((was++)->first);
        const bool known = was != rules_.grace.end() && was->first == workload;
        if (!known || was->second != grace) drop_workload(workload);
        if (known) ++was;
    }
    while (was != rules_.grace.end()) drop_workload((was++)->first);
    rules_ = rules;
}

void SparedRows::look(const CloudIndex& cloud, std::uint32_t row, const RunTimeFilter& filter,
                      const Ledger* ledger) {
    if (row >= until_.size()) {
        until_.resize(row + 1, unknown);
        spared_.resize(row + 1);
        young_.resize(row + 1);
    }
    spared_[row].reset();
    for (const std::uint32_t workload : young_[row]) rows_of_workloads_.erase(workload, row);
    young_[row].clear();
    until_[row] = forever;
    const HostRow& own = cloud.row(row);
    const Amount young = now_ - rules_.horizon.count();
    if (own.last_start <= young) return;

    const auto look = [&](const Server& server) {
        if (!server.revocable() || ms(start_of(server)) <= young || !may_be_victim(server) ||
            cloud.protection().protects(server) ||
            cloud.protection().protects_host(own.host->member_of) ||
            (ledger != nullptr ? comes_free(server, *ledger) || ledger->evicting(server.id) ||
                                     ledger->lender_of(server.id) != nullptr
                               : comes_free(server)))
            return;
        young_[row].push_back(hash_of_workload(workload_of(server, rules_.workload_key)));
        if (const auto until = filter.kept_until(server))
            until_[row] = std::min(until_[row], ms(*until));
    };
    for (const Server& server : own.host->servers) look(server);
    for (const Server& server : own.host->left_behind) look(server);
    std::sort(young_[row].begin(), young_[row].end());
    young_[row].erase(std::unique(young_[row].begin(), young_[row].end()), young_[row].end());
    for (const std::uint32_t workload : young_[row]) rows_of_workloads_.add(workload, row);
    if (until_[row] != forever)
        spared_[row] = std::make_unique<ReadRow>(cloud.read_under(row, &filter, ledger));
}

std::size_t SparedRows::bytes() const {
    std::size_t sum =
        until_.capacity() * sizeof(Amount) + spared_.capacity() * sizeof(std::unique_ptr<ReadRow>) +
        young_.capacity() * sizeof(std::vector<std::uint32_t>) + rows_of_workloads_.bytes();
    for (const auto& read : spared_)
        if (read)
            sum += sizeof(ReadRow) + read->classes.capacity() * sizeof(ClassRow) +
                   read->curves.capacity() * sizeof(WorkCurve);
    for (const auto& workloads : young_) sum += workloads.capacity() * sizeof(std::uint32_t);
    return sum;
}

}  // namespace reaper
