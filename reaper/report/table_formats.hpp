// The formats of a list but JSON and YAML, which have a structure of their own.
//
// Texts are made safe in each of them: no control character of a name from outside gets through.
#pragma once

#include <cstddef>
#include <string>

#include "reaper/report/table.hpp"
#include "reaper/report/text.hpp"

namespace reaper::report {

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
