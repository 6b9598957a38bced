// Are Nova's cells told, and told right?
#include <algorithm>
#include <map>
#include <set>

#include "reaper/cli/check/checks.hpp"
#include "reaper/cloud_cache/cells_seen.hpp"
#include "reaper/cloud_cache/host_parts.hpp"
#include "reaper/model/text.hpp"
#include "reaper/planner/cells.hpp"

namespace reaper::cli {
namespace {

constexpr const char* how_to_learn =
    "'nova-manage cell_v2 list_hosts' tells which host is in which, and 'list_cells' which are "
    "disabled";

class CellCheck {
public:
    CellCheck(const std::vector<Cell>& cells, const Report& report)
        : cells_{cells}, report_{report} {}

    void add(const HypervisorRecord& hypervisor, const std::vector<AggregateRecord>& aggregates) {
        Host host;
        host.name = hypervisor.name;
        host.service_host = hypervisor.service_host;
        in_allowed_aggregates(host, aggregates);
        const auto found = cell_of(host, cells_);
        if (const auto* const why = std::get_if<std::string>(&found)) {
            lost_.push_back(in_quotes(host.name) + " " + *why);
            return;
        }
        const std::string& name = std::get<const Cell*>(found)->name;
        ++hosts_[name];
        by_service_.emplace(host.service_host, name);
        by_name_.emplace(host.name, name);
    }

    void tell(const HostNumbers& numbers, const std::vector<AggregateRecord>& aggregates) const {
        for (const auto& cell : cells_) tell(cell, aggregates);
        if (!lost_.empty()) {
            std::string some;
            for (std::size_t i = 0; i < std::min<std::size_t>(lost_.size(), 5); ++i)
                some += (i == 0 ? "" : "; ") + lost_[i];
            report_({Verdict::fail, "cells",
                     counted(lost_.size(), "host", "hosts") +
                         " can't be told the cell of, so that no room is "
                         "freed there for servers that are moved (" +
                         some + "); " + how_to_learn});
        }
        tell_contradiction(numbers.services, by_service_);
        tell_contradiction(numbers.hypervisors, by_name_);
    }

private:
    void tell(const Cell& cell, const std::vector<AggregateRecord>& aggregates) const {
        for (const auto& wanted : cell.aggregates)
            if (std::none_of(aggregates.begin(), aggregates.end(), [&](const auto& aggregate) {
                    return aggregate.name == wanted || aggregate.uuid == wanted;
                }))
                report_({Verdict::fail, "cells",
                         "Nova has no aggregate " + in_quotes(wanted) + " (cell " +
                             in_quotes(cell.name) + ")"});
        const auto at = hosts_.find(cell.name);
        const std::string detail = in_quotes(cell.name) + ": " +
                                   counted(at == hosts_.end() ? 0 : at->second, "host", "hosts") +
                                   (cell.disabled ? ", disabled: builds skip it" : "");
        report_({at == hosts_.end() ? Verdict::warn : Verdict::ok, "cells", detail});
    }

    /// A cell gives each number once.
    void tell_contradiction(const std::vector<HostNumbers::Numbered>& numbered,
                            const std::map<std::string, std::string>& cells) const {
        std::map<std::pair<std::string, std::int64_t>, std::string> seen;
        for (const auto& each : numbered) {
            const auto cell = cells.find(each.host);
            if (cell == cells.end()) continue;
            const auto [at, is_new] = seen.emplace(std::pair(cell->second, each.number), each.host);
            if (is_new || at->second == each.host) continue;
            report_({Verdict::fail, "cells",
                     in_quotes(at->second) + " and " + in_quotes(each.host) +
                         " can't both be in cell " + in_quotes(cell->second) +
                         ": Nova gave them the same number; " + how_to_learn});
            return;
        }
    }

    const std::vector<Cell>& cells_;
    const Report& report_;
    std::vector<std::string> lost_;
    std::map<std::string, std::size_t> hosts_;       // by cell
    std::map<std::string, std::string> by_service_;  // cells by service host, ...
    std::map<std::string, std::string> by_name_;     // ... and by hypervisor
};

void tell_untold(const HostNumbers& numbers, const Report& report) {
    const auto why = why_several_cells(numbers);
    if (!why)
        return report(
            {Verdict::ok, "cells",
             "nothing shows more than one (Nova's API can't tell that there is only one)"});
    report(
        {Verdict::warn, "cells",
         "Nova has several (" + *why +
             "), and scheduler.cells does not tell which host is in which: a server that is moved "
             "stays in its cell, so room may be freed for it in the wrong one; once that happened, "
             "no more is for a while. " +
             how_to_learn});
}

}  // namespace

Task<void> check_cells(CloudPorts cloud, SchedulerRules scheduler, const Report& report) {
    auto numbers = co_await cloud.compute.host_numbers();
    if (!numbers) {
        report({Verdict::warn, "cells",
                "whether Nova has several can't be told: " + numbers.error().what});
        numbers = HostNumbers{};
        if (scheduler.cells.empty()) co_return;
    }
    if (scheduler.cells.empty()) {
        tell_untold(*numbers, report);
        co_return;
    }
    auto hypervisors = co_await cloud.compute.hypervisors();
    auto aggregates = co_await cloud.compute.aggregates();
    if (!hypervisors || !aggregates) co_return;  // told already
    CellCheck check{scheduler.cells, report};
    for (const auto& hypervisor : *hypervisors) check.add(hypervisor, *aggregates);
    check.tell(*numbers, *aggregates);
}

}  // namespace reaper::cli
