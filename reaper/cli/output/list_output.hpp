// Answers a command with a list, or with one thing, in the format that was asked for.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "reaper/cli/output/terminal.hpp"
#include "reaper/model/error.hpp"
#include "reaper/report/table.hpp"
#include "reaper/report/text.hpp"

namespace reaper::cli {

struct List {
    report::Table table;
    std::function<nlohmann::json()> document;  ///< asked for JSON and YAML
    /// The array of the document whose items are the table's rows; empty: the document has no
    /// order.
    std::string rows;
};

/// What a list is shown on.
struct Page {
    bool interactive = false;  ///< a terminal: what does not fit is folded
    std::size_t width = 100;
    report::Paint paint{false};
};

/// The whole answer. `bad_input`: a column that is not there, or an order that can't be.
Result<std::string> list_text(List list, const ListOptions& options, const Page& page);

/// Its remarks go to stderr, unless the document has them.
ExitCode show_list(const Terminal& terminal, List list);

// Of what a daemon answers; absent, or something else: empty, or false.
std::string text_in(const nlohmann::json& object, const char* name);
bool is_true(const nlohmann::json& object, const char* name);

/// JSON or YAML is wanted.
bool wants_document(const Terminal& terminal);

/// In the one of the two that is wanted.
void answer_document(const Terminal& terminal, const nlohmann::json& document);

/// One thing that is no list: JSON, YAML, or `text` for people.
ExitCode show_document(const Terminal& terminal, const std::function<nlohmann::json()>& document,
                       const std::function<std::string()>& text);

/// A JSON document as YAML: the same structure, and the same values when it is read.
std::string yaml_text(const nlohmann::json& document);

}  // namespace reaper::cli
