// How a command that answers with a list was asked to show it.
#pragma once

#include <string>
#include <vector>

namespace reaper::cli {

enum class ListFormat { table, wide, json, yaml, csv, name };

struct ListOptions {
    ListFormat format = ListFormat::table;
    std::string sort;                  ///< as it was written; empty: as it comes
    std::vector<std::string> columns;  ///< empty: those of the format
};

}  // namespace reaper::cli
