// What `reaper history` was asked for: its filters, and which of them go with which view.
#pragma once

#include <optional>
#include <string>

#include "reaper/cli/arguments/arguments.hpp"
#include "reaper/cli/arguments/list_arguments.hpp"
#include "reaper/model/error.hpp"
#include "reaper/model/request_record.hpp"

namespace CLI {
class App;
}

namespace reaper::cli {

/// The values of its options as they were written; empty: not given.
struct HistoryTexts {
    std::string since, until, project, host, flavor, server, outcome, journal;
    int limit = 0;
    bool follow = false;
    bool planned = false;
};

/// `--journal`, of each command that reads a journal.
void add_journal_option(CLI::App& command, std::string& journal);

/// `--limit`, of each view that is a list.
void add_history_limit(CLI::App& command, HistoryTexts& texts);

/// The options of a view that has times alone: messages, events.
void add_history_times(CLI::App& command, HistoryTexts& texts, const std::string& since);

/// The options of a view that can be filtered: requests, victims.
void add_history_filters(CLI::App& command, HistoryTexts& texts, const std::string& since);

/// `app`: `history`, with the view that was chosen. `bad_input` names the option.
Result<HistoryCommand> history_command(const CLI::App& app, const std::string& shown,
                                       const HistoryTexts& texts);

/// What the journal is asked for; `now` is what spans end at.
JournalQuery query_of(const HistoryCommand& command, TimePoint now);

/// `--follow` tells lines as they come: they have no order, no other columns and no end.
std::optional<std::string> why_not_followed(const HistoryTexts& texts, const ListOptions& list);

}  // namespace reaper::cli
