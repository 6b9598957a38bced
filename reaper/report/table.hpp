// A list as data: columns, and rows of typed cells. Each format is made of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "reaper/model/error.hpp"
#include "reaper/model/ids.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/report/text.hpp"

namespace reaper::report {

// The order of names in lists.

using reaper::natural_less;

/// A number that is no whole one: people see one digit of its fraction, programs three.
struct Decimal {
    double value = 0;
};

/// So many are planned, and none is done: people see it in brackets, programs see none.
struct Planned {
    std::int64_t count = 0;
};

/// People see `4m`, programs see seconds.
struct Age {
    std::int64_t seconds = 0;
    friend auto operator<=>(const Age&, const Age&) = default;
};

/// Several texts; under a row, each has a line of its own.
using Lines = std::vector<std::string>;

/// What it holds is compared and written by its kind; nothing at all comes last.
using Cell = std::variant<std::monostate, std::string, Planned, std::int64_t, Decimal, TimePoint,
                          Age, Lines>;

/// Text, or nothing if it is empty.
Cell text_cell(std::string text);

/// Its name, or its id where the name is not known.
Cell project_cell(const ProjectId& project, const std::string& name);

struct Column {
    enum class Place {
        always,
        wide,       ///< in wide tables and for programs
        under,      ///< as lines under the row where a table is folded, else beside the others
        terminal,   ///< on a terminal alone
        elsewhere,  ///< everywhere but on a terminal
    };
    std::string name;  ///< letters, digits and _; tables have it in capitals
    Place place = Place::always;
    bool number = false;   ///< stands at the right
    bool shrinks = false;  ///< on a terminal: is shortened before other columns are folded
};

struct Table {
    std::vector<Column> columns;
    std::vector<std::vector<Cell>> rows;  ///< as many cells as columns
    std::size_t key = 0;                  ///< the column that names a row
    std::string none;                     ///< shown instead of an empty table
    std::string title, summary;           ///< shown above and below it; may be empty
    std::vector<std::string> remarks;     ///< distinguished from it
};

/// Small steps to put a table together.
Column column(std::string name);
Column wide(std::string name);
Column under(std::string name);
Column number(std::string name, Column::Place place = Column::Place::always);

/// The rows' numbers in the order that `how` names: `COLUMN` or `COLUMN:asc`, `-COLUMN` or
/// `COLUMN:desc`. Rows that are equal stay as they were. `bad_input` lists the columns.
Result<std::vector<std::size_t>> order_of(const Table& table, std::string_view how);

/// In that order.
Table ordered(Table table, const std::vector<std::size_t>& order);

/// Only these columns, in this order, each beside the others. Names as in tables; upper and lower
/// case are the same. `bad_input` lists the columns.
Result<Table> with_columns(Table table, const std::vector<std::string>& names);

// The formats of a list but JSON and YAML, which have a structure of their own.
//
// Texts are made safe in each of them: no control character of a name from outside gets through.

/// A cell as people read it; nothing: `-`.
std::string cell_text(const Cell& cell);

/// For a terminal of `width` columns: what does not fit goes under its row. Title and summary stand
/// around it; an empty table is the line that says so.
std::string table_text(const Table& table, std::size_t width, const Paint& paint);

/// A head and one line for each row, however long; `all`: with wide columns.
std::string table_lines(const Table& table, bool all, const Paint& paint);

/// RFC 4180: a head line with the columns' names, all columns, lines that end with CR LF; nothing
/// is an empty field. A text that a spreadsheet would take for a formula begins with an apostrophe.
std::string table_csv(const Table& table);

/// What names the rows, one on a line, each once.
std::string table_names(const Table& table);

}  // namespace reaper::report
