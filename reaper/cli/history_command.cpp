// `reaper history`: reads the journal, also while the daemon writes it.
#include <boost/asio/io_context.hpp>
#include <utility>
#include <variant>
#include <vector>

#include "reaper/api/settled_query.hpp"
#include "reaper/cli/commands.hpp"
#include "reaper/cli/estimate_arguments.hpp"
#include "reaper/cli/history_answers.hpp"
#include "reaper/cli/history_arguments.hpp"
#include "reaper/cli/history_follow.hpp"
#include "reaper/cli/history_remote.hpp"
#include "reaper/cli/journals.hpp"
#include "reaper/cli/now.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/model/text.hpp"
#include "reaper/report/history_tables.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/render.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
namespace {

/// The newest request in which the server was chosen, or waited.
Result<std::optional<RequestRecord>> record_about(boost::asio::io_context& io, Journal& journal,
                                                  const std::string& server,
                                                  const Terminal& terminal) {
    JournalQuery query;
    query.server = server;
    query.limit = 2;
    const auto found = run_task(io, journal.find_requests(query));
    if (!found) return found.error();
    if (found->empty()) return std::optional<RequestRecord>{};
    if (found->size() > 1) warn_of_several(server, terminal);
    return run_task(io, journal.record(found->front().request.id));
}

/// By its id, or by that of a server or its name.
Result<std::optional<RequestRecord>> record_in(boost::asio::io_context& io, Journal& journal,
                                               const std::string& id, const Terminal& terminal) {
    auto record = run_task(io, journal.record(RequestId{id}));
    if (record && !record->has_value()) record = record_about(io, journal, id, terminal);
    return record;
}

ExitCode show_record(boost::asio::io_context& io, Journals& journals, const std::string& id,
                     const Terminal& terminal) {
    auto record = record_in(io, *journals.own, id, terminal);
    if (record && !record->has_value() && journals.other) {
        record = record_in(io, *journals.other, id, terminal);
        if (record && record->has_value())
            terminal.warn("told by the other journal, " + journals.other_path);
    }
    if (record && !record->has_value()) {
        terminal.complain("the journal knows no request and no server " + in_quotes(id) +
                          "; 'reaper history' lists the requests that it knows");
        return ExitCode::unknown;
    }
    if (!record) return terminal.fail(ExitCode::failed, record.error());
    return answer_document(terminal, Result<RequestRecord>{**record}, report::render_record);
}

/// The query with what it names found, in the journal or else in the cloud; or how the command
/// ends. Whoever may not read the configuration has no cloud to ask.
std::variant<JournalQuery, ExitCode> settled(boost::asio::io_context& io, Journal& journal,
                                             const GlobalOptions& global, JournalQuery query,
                                             const Terminal& terminal) {
    const bool names = !query.project.empty() || !query.host.empty() || !query.flavor.empty();
    if (!names) return query;
    const auto nobody = [](const std::string&) {};
    const auto settings = load_config(global.config_file, nobody, nobody);
    auto cloud = settings ? connect_cloud(io, *settings)
                          : Result<Cloud>{Error{Errc::bad_input, "no configuration"}};
    WhoKnows who;
    if (cloud) who = {cloud->parts.identity.get(), cloud->parts.compute.get()};
    auto found = run_task(io, settle(std::move(query), journal, who));
    if (!found) return terminal.fail(ExitCode::failed, found.error());
    if (found->ambiguous)
        return terminal.fail(ExitCode::usage,
                             Error{Errc::bad_input, "--project: " + *found->ambiguous});
    if (found->unknown)
        return terminal.fail(ExitCode::unknown, Error{Errc::not_found, *found->unknown});
    for (const std::string& line : found->not_asked) terminal.warn(line);
    return std::move(found->query);
}

}  // namespace

ExitCode show_history(const GlobalOptions& global, const HistoryCommand& command,
                      const Terminal& terminal) {
    if (const auto fits = check_span(command.span, command.until, now()); !fits)
        return terminal.fail(ExitCode::usage, fits.error());
    if (!global.api.url.empty()) return history_remotely(global, command, terminal);
    boost::asio::io_context io{1};  // outlives the journals' threads, which post to it
    auto opened = open_journals(global, command.journal, terminal);
    if (const auto* const code = std::get_if<ExitCode>(&opened)) return *code;
    Journals& journals = std::get<Journals>(opened);
    Journal& journal = *journals.own;
    const auto found = settled(io, journal, global, query_of(command, now()), terminal);
    if (const auto* const code = std::get_if<ExitCode>(&found)) return *code;
    const JournalQuery& query = std::get<JournalQuery>(found);
    if (command.what != HistoryCommand::What::show) tell_of_other(io, journals, terminal);
    if (command.follow) return follow_history(io, journal, command.what, query, terminal);
    switch (command.what) {
        case HistoryCommand::What::show:
            return show_record(io, journals, command.request, terminal);
        case HistoryCommand::What::messages:
            return answer_list(terminal, run_task(io, journal.find_messages(query)),
                               report::messages_table, "messages");
        case HistoryCommand::What::victims:
            return answer_list(terminal, victims_in(io, journals, query, terminal),
                               report::victims_table, "victims");
        case HistoryCommand::What::totals:
            return answer_document(terminal,
                                   run_task(io, journal.totals(query.since.value_or(TimePoint{}))),
                                   report::render_totals);
        case HistoryCommand::What::events:
            return answer_list(terminal, run_task(io, journal.find_events(query)),
                               report::events_table, "events");
        case HistoryCommand::What::list: break;
    }
    return answer_list(terminal, run_task(io, journal.find_requests(query)), report::requests_table,
                       "requests");
}

}  // namespace reaper::cli
