// `reaper history`: reads the journal, also while the daemon writes it.
#include <boost/asio/io_context.hpp>
#include <chrono>

#include "clients/journal/sqlite_journal.hpp"
#include "reaper/cli/commands.hpp"
#include "reaper/cli/local_settings.hpp"
#include "reaper/cli/now.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/render.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
namespace {

ExitCode failed(const Terminal& terminal, const Error& error) {
    terminal.complain(error.what);
    return ExitCode::failed;
}

template <class Answer, class Render>
ExitCode answer(const Terminal& terminal, const Result<Answer>& read, Render render) {
    if (!read) return failed(terminal, read.error());
    terminal.answer(terminal.json() ? report::dump(report::to_json(*read), 2) + "\n"
                                    : render(*read, terminal.render_options(now())));
    return ExitCode::ok;
}

ExitCode show_record(boost::asio::io_context& io, Journal& journal, const std::string& id,
                     const Terminal& terminal) {
    auto record = run_task(io, journal.record(RequestId{id}));
    if (record && !record->has_value()) {
        terminal.complain("the journal knows no request '" + id +
                          "'; 'reaper history' lists those that it knows");
        return ExitCode::failed;
    }
    if (!record) return failed(terminal, record.error());
    return answer(terminal, Result<RequestRecord>{**record}, report::render_record);
}

}  // namespace

ExitCode show_history(const GlobalOptions& global, const HistoryCommand& command,
                      const Terminal& terminal) {
    const auto settings = local_settings(global, terminal);
    if (!settings) return ExitCode::usage;
    boost::asio::io_context io{1};  // outlives the journal's thread, which posts to it
    auto journal = open_journal_for_reading(settings->journal.path);
    if (!journal) return failed(terminal, journal.error());
    switch (command.what) {
        case HistoryCommand::What::show:
            return show_record(io, **journal, command.request, terminal);
        case HistoryCommand::What::messages:
            return answer(terminal, run_task(io, (*journal)->messages(command.limit)),
                          report::render_messages);
        case HistoryCommand::What::victims:
            return answer(terminal, run_task(io, (*journal)->victims_since(now() - command.since)),
                          report::render_victims);
        case HistoryCommand::What::totals:
            return answer(terminal, run_task(io, (*journal)->totals(now() - command.since)),
                          report::render_totals);
        case HistoryCommand::What::events:
            return answer(terminal, run_task(io, (*journal)->events(command.limit)),
                          report::render_events);
        case HistoryCommand::What::list: break;
    }
    return answer(terminal, run_task(io, (*journal)->list(command.limit)),
                  report::render_record_lines);
}

}  // namespace reaper::cli
