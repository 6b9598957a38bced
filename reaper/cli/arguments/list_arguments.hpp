// The options of commands that answer with a list: declared, and read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/error.hpp"

namespace reaper::cli {

// How a command that answers with a list was asked to show it.

enum class ListFormat { table, wide, json, yaml, csv, name };

struct ListOptions {
    ListFormat format = ListFormat::table;
    std::string sort;                  ///< as it was written; empty: as it comes
    std::vector<std::string> columns;  ///< empty: those of the format
};

}  // namespace reaper::cli

namespace CLI {
class App;
}

namespace reaper::cli {

/// The values as they were written; empty: not given.
struct ListTexts {
    std::string format, sort, columns;
    bool csv = false;  ///< `usage --csv`
};

/// To each command of `program` that answers with a list; their commands are there already.
void add_list_options(CLI::App& program, ListTexts& texts);

/// The words of a command line, the program's name first: those of `-o`, `--sort` and `--columns`
/// before the command are put at its end, where the command reads them, or refuses them.
std::vector<std::string> with_list_options_last(const CLI::App& program,
                                                std::vector<std::string> words);

/// Is it one of these options?
bool is_list_option(std::string_view word);

/// `bad_input` names the option. `json`: `--json` was given, which is `-o json`.
Result<ListOptions> list_options(const ListTexts& texts, bool json);

}  // namespace reaper::cli
