#include "reaper/planner/cells.hpp"

#include <algorithm>

#include "reaper/model/text.hpp"
#include "reaper/planner/cloud_index.hpp"

namespace reaper {
namespace {

bool named_by(const Cell& cell, const std::string& service_host, const std::string& hypervisor) {
    return std::any_of(cell.hosts.begin(), cell.hosts.end(), [&](const std::string& pattern) {
        return matches_glob(pattern, service_host) || matches_glob(pattern, hypervisor);
    });
}

bool has_aggregate_of(const Cell& cell, const HostAggregates& aggregates) {
    return std::any_of(
        cell.aggregates.begin(), cell.aggregates.end(), [&](const std::string& wanted) {
            return std::any_of(aggregates.begin(), aggregates.end(), [&](const auto& each) {
                return each.first == wanted || each.second.name == wanted;
            });
        });
}

/// The one of the cells for which `has` is true.
template <class Has>
std::variant<const Cell*, std::string> only_one(const std::vector<Cell>& cells, Has has) {
    const Cell* found = nullptr;
    for (const auto& cell : cells) {
        if (!has(cell)) continue;
        if (found != nullptr)
            return "is in two cells by scheduler.cells, " + in_quotes(found->name) + " and " +
                   in_quotes(cell.name);
        found = &cell;
    }
    if (found == nullptr) return std::string{"is in no cell of scheduler.cells"};
    return found;
}

}  // namespace

const Host* host_by_service(const std::string& name, const CloudIndex& cloud) {
    for (const std::uint32_t row : cloud.order())
        if (cloud.row(row).host->service_host == name) return cloud.row(row).host;
    return nullptr;
}

bool stays_in_cell(const Request& request, const SchedulerRules& rules) {
    const bool may_cross =
        request.operation == Operation::resize || request.operation == Operation::migrate;
    return is_move(request.operation) && !(may_cross && rules.cross_cell_resize);
}

std::variant<const Cell*, std::string> cell_of(const Host& host, const std::vector<Cell>& cells) {
    return only_one(cells, [&](const Cell& cell) {
        return named_by(cell, host.service_host, host.name) ||
               has_aggregate_of(cell, host.member_of);
    });
}

std::variant<const Cell*, std::string> cell_of_server(const Request& request,
                                                      const std::vector<Cell>& cells,
                                                      const CloudIndex& cloud) {
    if (request.from_host.empty())
        return std::string{"is on no host, and its last host is unknown"};
    const std::string where = "was last on " + in_quotes(request.from_host) + ", which ";
    const Host* const host = host_by_service(request.from_host, cloud);
    auto found = host != nullptr ? cell_of(*host, cells) : only_one(cells, [&](const Cell& cell) {
        return named_by(cell, request.from_host, request.from_host);
    });
    if (const auto* const why = std::get_if<std::string>(&found)) return where + *why;
    return found;
}

std::optional<std::string> why_cell_unknown(const Request& request, const SchedulerRules& rules,
                                            const CloudIndex& cloud) {
    if (rules.cells.empty() || !stays_in_cell(request, rules)) return std::nullopt;
    const auto found = cell_of_server(request, rules.cells, cloud);
    const auto* const why = std::get_if<std::string>(&found);
    if (why == nullptr) return std::nullopt;
    return "its server stays in its cell, and " + *why;
}

}  // namespace reaper
