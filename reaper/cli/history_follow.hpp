// `reaper history --follow`: reads the journal again and again, and tells what is new.
#pragma once

#include <boost/asio/io_context.hpp>

#include "reaper/cli/arguments.hpp"
#include "reaper/cli/terminal.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper::cli {

/// Begins with the last lines that there are, as many as the command says. Ends on Ctrl-C.
ExitCode follow_history(boost::asio::io_context& io, Journal& journal,
                        const HistoryCommand& command, const Terminal& terminal);

}  // namespace reaper::cli
