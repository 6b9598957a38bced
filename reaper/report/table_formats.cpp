#include "reaper/report/table_formats.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <set>
#include <utility>

#include "reaper/model/time_text.hpp"

namespace reaper::report {
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
    std::string joined;
    if (const auto* const lines = std::get_if<Lines>(&cell))
        for (const std::string& line : *lines) joined += (joined.empty() ? "" : "; ") + safe(line);
    return joined;
}

std::string head_of(const Column& column) {
    std::string head = column.name;
    std::transform(head.begin(), head.end(), head.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return head;
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

/// The columns that have a place of their own in a line.
std::vector<std::size_t> columns_beside(const Table& table, bool wide, bool under) {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const auto place = table.columns[i].place;
        if (place == Column::Place::wide && !wide) continue;
        if (place == Column::Place::under && !under) continue;
        chosen.push_back(i);
    }
    return chosen;
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

/// `folded`: what is under its row stands there, and no cell is longer than people read.
TextTable text_table(const Table& table, const std::vector<std::size_t>& beside, bool folded) {
    constexpr std::size_t longest = 60;
    std::vector<TextTable::Column> heads;
    for (const std::size_t at : beside) heads.push_back(head_column(table.columns[at]));
    TextTable text{std::move(heads)};
    for (const auto& row : table.rows) {
        std::vector<std::string> cells;
        for (const std::size_t at : beside)
            cells.push_back(folded ? shortened(cell_text(row[at]), longest) : cell_text(row[at]));
        text.row(std::move(cells));
        for (std::size_t i = 0; folded && i < row.size(); ++i)
            if (table.columns[i].place == Column::Place::under) add_notes(text, row[i]);
    }
    return text;
}

constexpr std::size_t any_width = 1'000'000'000;

}  // namespace

std::string cell_text(const Cell& cell) {
    const std::string text = written(cell, 1);
    return text.empty() ? "-" : text;
}

std::string table_text(const Table& table, std::size_t width, const Paint& paint) {
    std::string text;
    if (!table.title.empty()) text += wrapped(table.title, 0, width);
    text +=
        table.rows.empty()
            ? wrapped(table.none, 0, width)
            : text_table(table, columns_beside(table, false, false), true).text(0, width, paint);
    if (!table.summary.empty()) text += "\n" + wrapped(table.summary, 0, width);
    return text;
}

std::string table_lines(const Table& table, bool all, const Paint& paint) {
    return text_table(table, columns_beside(table, all, true), false).text(0, any_width, paint);
}

std::string table_csv(const Table& table) {
    std::string text;
    for (std::size_t i = 0; i < table.columns.size(); ++i)
        text += (i == 0 ? "" : ",") + csv_field(table.columns[i].name);
    text += "\r\n";
    for (const auto& row : table.rows) {
        for (std::size_t i = 0; i < row.size(); ++i)
            text += (i == 0 ? "" : ",") + csv_field(row[i]);
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
