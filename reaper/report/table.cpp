#include "reaper/report/table.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>

#include "reaper/model/text.hpp"

namespace reaper::report {
namespace {

std::optional<std::size_t> find_column(const Table& table, std::string_view name) {
    for (std::size_t i = 0; i < table.columns.size(); ++i)
        if (to_lower(table.columns[i].name) == to_lower(name)) return i;
    return std::nullopt;
}

Error no_column(const Table& table, const std::string& option, std::string_view name) {
    std::string known;
    for (const Column& each : table.columns)
        known += (known.empty() ? "" : ", ") + to_lower(each.name);
    return Error{Errc::bad_input, option + ": there is no column " +
                                      in_quotes(printable(name, 60)) + "; there are: " + known};
}

/// Of two cells of one column.
bool is_less(const Cell& a, const Cell& b) {
    if (a.index() != b.index()) return a.index() < b.index();
    return std::visit(
        [&b](const auto& held) {
            using Held = std::remove_cvref_t<decltype(held)>;
            if constexpr (std::is_same_v<Held, Decimal>)
                return held.value < std::get<Decimal>(b).value;
            else if constexpr (std::is_same_v<Held, Planned>)
                return held.count < std::get<Planned>(b).count;
            else
                return held < std::get<Held>(b);
        },
        a);
}

bool is_nothing(const Cell& cell) {
    return std::holds_alternative<std::monostate>(cell);
}

struct Sorting {
    std::string_view column;
    bool descending = false;
};

Sorting sorting_of(std::string_view how) {
    if (how.starts_with('-')) return {how.substr(1), true};
    if (how.ends_with(":desc")) return {how.substr(0, how.size() - 5), true};
    if (how.ends_with(":asc")) return {how.substr(0, how.size() - 4), false};
    return {how, false};
}

}  // namespace

Cell text_cell(std::string text) {
    return text.empty() ? Cell{} : Cell{std::move(text)};
}

Cell project_cell(const ProjectId& project, const std::string& name) {
    return text_cell(name.empty() ? project.str() : name);
}

Column column(std::string name) {
    return {std::move(name), Column::Place::always, false};
}

Column wide(std::string name) {
    return {std::move(name), Column::Place::wide, false};
}

Column under(std::string name) {
    return {std::move(name), Column::Place::under, false};
}

Column number(std::string name, Column::Place place) {
    return {std::move(name), place, true};
}

Result<std::vector<std::size_t>> order_of(const Table& table, std::string_view how) {
    const Sorting sorting = sorting_of(how);
    const auto at = find_column(table, sorting.column);
    if (!at) return no_column(table, "--sort", sorting.column);
    std::vector<std::size_t> order(table.rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const Cell& left = table.rows[a][*at];
        const Cell& right = table.rows[b][*at];
        if (is_nothing(left) || is_nothing(right)) return !is_nothing(left) && is_nothing(right);
        return sorting.descending ? is_less(right, left) : is_less(left, right);
    });
    return order;
}

Table ordered(Table table, const std::vector<std::size_t>& order) {
    std::vector<std::vector<Cell>> rows;
    rows.reserve(order.size());
    for (const std::size_t from : order) rows.push_back(std::move(table.rows[from]));
    table.rows = std::move(rows);
    return table;
}

Result<Table> with_columns(Table table, const std::vector<std::string>& names) {
    std::vector<std::size_t> chosen;
    for (const std::string& name : names) {
        const auto at = find_column(table, name);
        if (!at) return no_column(table, "--columns", name);
        chosen.push_back(*at);
    }
    std::vector<Column> columns;
    for (const std::size_t at : chosen) {
        columns.push_back(table.columns[at]);
        columns.back().place = Column::Place::always;
    }
    for (auto& row : table.rows) {
        std::vector<Cell> cells;
        for (const std::size_t at : chosen) cells.push_back(row[at]);
        row = std::move(cells);
    }
    table.columns = std::move(columns);
    table.key = 0;
    return table;
}

}  // namespace reaper::report
