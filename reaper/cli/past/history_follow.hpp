// `reaper history --follow`: reads the journal again and again, and tells what is new.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <limits>
#include <vector>

#include "reaper/cli/arguments/arguments.hpp"
#include "reaper/cli/output/terminal.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/report/journal_news.hpp"

namespace reaper::cli {

/// Of the newest entries a look goes back over no more.
inline constexpr int followed_at_most = 20'000;
inline constexpr std::size_t all_news = std::numeric_limits<std::size_t>::max();

/// The last `most` of what is new, a line each.
void tell_news(std::vector<report::NewsLine> lines, std::size_t most, const Terminal& terminal);

/// Begins with the last lines that there are, as many as the query says. Ends on Ctrl-C.
ExitCode follow_history(boost::asio::io_context& io, JournalReader& journal,
                        HistoryCommand::What what, JournalQuery query, const Terminal& terminal);

}  // namespace reaper::cli
