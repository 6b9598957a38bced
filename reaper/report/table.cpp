#include "reaper/report/table.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <optional>
#include <set>
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
    const std::string known =
        joined(table.columns, ", ", [](const Column& each) { return to_lower(each.name); });
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
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
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

namespace {

std::string with_digits(double value, int digits) {
    std::array<char, 400> text{};
    std::snprintf(text.data(), text.size(), "%.*f", digits, value);
    return text.data();
}

/// `digits`: of a fraction.
std::string written(const Cell& cell, int digits) {
    if (const auto* const text = std::get_if<std::string>(&cell)) return safe(*text);
    if (const auto* const whole = std::get_if<std::int64_t>(&cell)) return std::to_string(*whole);
    if (const auto* const planned = std::get_if<Planned>(&cell))
        return "(" + std::to_string(planned->count) + ")";
    if (const auto* const part = std::get_if<Decimal>(&cell))
        return with_digits(part->value, digits);
    if (const auto* const time = std::get_if<TimePoint>(&cell)) return iso_time(*time);
    if (const auto* const age = std::get_if<Age>(&cell)) return std::to_string(age->seconds);
    const auto* const lines = std::get_if<Lines>(&cell);
    return lines ? joined(*lines, "; ", [](const auto& line) { return safe(line); }) : "";
}

std::string head_of(const Column& column) {
    return to_upper(column.name);
}

/// Quoted where it must be.
std::string csv_field(const Cell& cell) {
    if (std::holds_alternative<Planned>(cell)) return "0";
    std::string plain = written(cell, 3);
    const bool text =
        std::holds_alternative<std::string>(cell) || std::holds_alternative<Lines>(cell);
    if (text && !plain.empty() && std::string_view{"=+-@"}.find(plain[0]) != std::string_view::npos)
        plain.insert(plain.begin(), '\'');
    if (plain.find_first_of(",\"") == std::string::npos) return plain;
    std::string quoted = "\"";
    for (const char c : plain) quoted += c == '"' ? std::string{"\"\""} : std::string{c};
    return quoted + "\"";
}

/// The columns of these places, which are beside each other in a line.
std::vector<std::size_t> columns_of(const Table& table, const std::set<Column::Place>& places) {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < table.columns.size(); ++i)
        if (places.contains(table.columns[i].place)) chosen.push_back(i);
    return chosen;
}

/// All but what only a terminal has.
std::vector<std::size_t> columns_for_programs(const Table& table) {
    using enum Column::Place;
    return columns_of(table, {always, wide, under, elsewhere});
}

TextTable::Column head_column(const Column& column) {
    return {head_of(column), column.number ? TextTable::Align::right : TextTable::Align::left};
}

void add_notes(TextTable& text, const Cell& cell) {
    if (const auto* const lines = std::get_if<Lines>(&cell))
        for (const std::string& line : *lines) text.note(line);
    else
        text.note(written(cell, 1));
}

/// `folded`: what is under its row stands there. No cell is longer than `longest`, and none of
/// those that shrink than `shrunk`.
TextTable text_table(const Table& table, const std::vector<std::size_t>& beside, bool folded,
                     std::size_t longest, std::size_t shrunk) {
    std::vector<TextTable::Column> heads;
    for (const std::size_t at : beside) heads.push_back(head_column(table.columns[at]));
    TextTable text{std::move(heads)};
    for (const auto& row : table.rows) {
        std::vector<std::string> cells;
        for (const std::size_t at : beside)
            cells.push_back(
                shortened(cell_text(row[at]), table.columns[at].shrinks ? shrunk : longest));
        text.row(std::move(cells));
        for (std::size_t i = 0; folded && i < row.size(); ++i)
            if (table.columns[i].place == Column::Place::under) add_notes(text, row[i]);
    }
    return text;
}

constexpr std::size_t any_width = 1'000'000'000;

/// No cell is longer than people read.
TextTable table_on_terminal(const Table& table, std::size_t width) {
    using enum Column::Place;
    constexpr std::size_t longest = 60;
    constexpr std::size_t shortest = 8;
    const auto beside = columns_of(table, {always, terminal});
    TextTable text = text_table(table, beside, true, longest, longest);
    const bool shrinks =
        std::ranges::any_of(beside, [&](std::size_t at) { return table.columns[at].shrinks; });
    for (std::size_t most = longest - 1; shrinks && most >= shortest; --most) {
        if (text.width() <= width) break;
        text = text_table(table, beside, true, longest, most);
    }
    return text;
}

}  // namespace

std::string cell_text(const Cell& cell) {
    if (const auto* const age = std::get_if<Age>(&cell)) {
        const std::string units = format_duration(std::chrono::seconds{age->seconds});
        return units.substr(0, units.find(' '));
    }
    const std::string text = written(cell, 1);
    return text.empty() ? "-" : text;
}

std::string table_text(const Table& table, std::size_t width, const Paint& paint) {
    std::string text;
    if (!table.title.empty()) text += wrapped(table.title, 0, width);
    text += table.rows.empty() ? wrapped(table.none, 0, width)
                               : table_on_terminal(table, width).text(0, width, paint);
    if (!table.summary.empty()) text += "\n" + wrapped(table.summary, 0, width);
    return text;
}

std::string table_lines(const Table& table, bool all, const Paint& paint) {
    using enum Column::Place;
    const auto beside =
        all ? columns_for_programs(table) : columns_of(table, {always, under, elsewhere});
    return text_table(table, beside, false, any_width, any_width).text(0, any_width, paint);
}

std::string table_csv(const Table& table) {
    const auto columns = columns_for_programs(table);
    std::string text;
    for (const std::size_t at : columns)
        text += (at == columns.front() ? "" : ",") + csv_field(table.columns[at].name);
    text += "\r\n";
    for (const auto& row : table.rows) {
        for (const std::size_t at : columns)
            text += (at == columns.front() ? "" : ",") + csv_field(row[at]);
        text += "\r\n";
    }
    return text;
}

std::string table_names(const Table& table) {
    std::set<std::string> told;
    std::string text;
    for (const auto& row : table.rows) {
        const std::string name = written(row[table.key], 1);
        if (!name.empty() && told.insert(name).second) text += name + "\n";
    }
    return text;
}

}  // namespace reaper::report
