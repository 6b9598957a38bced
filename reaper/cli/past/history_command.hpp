#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "reaper/cli/arguments/arguments.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/cli/output/terminal.hpp"
#include "reaper/cli/past/journals.hpp"
#include "reaper/model/text.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/report/history_tables.hpp"
#include "reaper/report/journal_news.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/render.hpp"

namespace reaper::cli {

// How `reaper history` answers, whoever told what it shows.

template <class Answer, class Render>
ExitCode answer_document(const Terminal& terminal, const Result<Answer>& read, Render render) {
    if (!read) return terminal.fail(ExitCode::failed, read.error());
    return show_document(
        terminal, [&] { return report::to_json(*read); },
        [&] { return render(*read, terminal.render_options(now())); });
}

/// `rows`: of the JSON.
template <class Entries, class Table>
ExitCode answer_list(const Terminal& terminal, const Result<Entries>& read, Table table,
                     const char* rows) {
    if (!read) return terminal.fail(ExitCode::failed, read.error());
    return show_list(terminal, {table(*read), [&read] { return report::to_json(*read); }, rows});
}

inline report::Table requests_now(const std::vector<RequestSummary>& requests) {
    return report::requests_table(requests, now());
}

/// `asked`: a server's id or name, or how the ids of several requests begin.
inline void warn_of_several(const std::string& asked, const RequestId& newest,
                            const Terminal& terminal) {
    const bool begins = newest.str().starts_with(asked);
    terminal.warn("several requests " +
                  std::string{begins ? "have an id that begins with " : "are about server "} +
                  in_quotes(asked) +
                  "; this is the newest, and 'reaper history --server' lists them");
}

// `reaper history --follow`: reads the journal again and again, and tells what is new.

/// Of the newest entries a look goes back over no more.
inline constexpr int followed_at_most = 20'000;
inline constexpr std::size_t all_news = std::numeric_limits<std::size_t>::max();

/// The last `most` of what is new, a line each.
void tell_news(std::vector<report::NewsLine> lines, std::size_t most, const Terminal& terminal);

/// Begins with the last lines that there are, as many as the query says. Ends on Ctrl-C.
ExitCode follow_history(boost::asio::io_context& io, JournalReader& journal,
                        HistoryCommand::What what, JournalQuery query, const Terminal& terminal);

}  // namespace reaper::cli
