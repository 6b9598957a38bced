#include <optional>
#include <set>

#include "config/sections.hpp"
#include "config/values.hpp"

namespace reaper::config {
namespace {

std::optional<Cell> read_cell(const YAML::Node& node, const std::string& key, Findings& findings) {
    Cell cell;
    const EntryMembers members{
        {"name", member(read_entry_text, cell.name, findings)},
        {"hosts", member(read_entry_texts, cell.hosts, findings)},
        {"aggregates", member(read_entry_texts, cell.aggregates, findings)},
        {"disabled", member(read_entry_flag, cell.disabled, findings)},
    };
    if (!read_entry(node, key, cells_expected, members, findings)) return std::nullopt;
    const auto missing = [&](const char* what) {
        findings.error(key, what, cells_expected);
        return std::nullopt;
    };
    if (cell.name.empty()) return missing("has no name");
    if (cell.hosts.empty() && cell.aggregates.empty()) return missing("has no hosts");
    return cell;
}

}  // namespace

std::vector<Cell> read_cells(const YAML::Node& node, const std::string& key, Findings& findings) {
    std::vector<Cell> cells;
    std::set<std::string> names;
    for_each_entry(node, key, cells_expected, findings,
                   [&](const YAML::Node& item, const std::string& full) {
                       auto cell = read_cell(item, full, findings);
                       if (!cell) return;
                       if (!names.insert(cell->name).second)
                           findings.error(full + ".name", "is there twice", "another name");
                       cells.push_back(std::move(*cell));
                   });
    return cells;
}

}  // namespace reaper::config
