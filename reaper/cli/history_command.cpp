// `reaper history`: reads the journal, also while the daemon writes it.
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <iterator>
#include <vector>

#include "clients/http/url.hpp"
#include "clients/journal/sqlite_journal.hpp"
#include "reaper/cli/commands.hpp"
#include "reaper/cli/daemon_api.hpp"
#include "reaper/cli/history_arguments.hpp"
#include "reaper/cli/history_follow.hpp"
#include "reaper/cli/list_output.hpp"
#include "reaper/cli/local_settings.hpp"
#include "reaper/cli/now.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/report/history_tables.hpp"
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
    return show_document(
        terminal, [&] { return report::to_json(*read); },
        [&] { return render(*read, terminal.render_options(now())); });
}

/// `rows`: of the JSON.
template <class Entries, class Table>
ExitCode answer_list(const Terminal& terminal, const Result<Entries>& read, Table table,
                     const char* rows) {
    if (!read) return failed(terminal, read.error());
    return show_list(terminal, {table(*read), [&read] { return report::to_json(*read); }, rows});
}

void warn_of_several(const std::string& server, const Terminal& terminal) {
    terminal.warn("several requests are about server " + in_quotes(server) +
                  "; this is the newest, and 'reaper history --server' lists them");
}

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

ExitCode show_record(boost::asio::io_context& io, Journal& journal, const std::string& id,
                     const Terminal& terminal) {
    auto record = run_task(io, journal.record(RequestId{id}));
    if (record && !record->has_value()) record = record_about(io, journal, id, terminal);
    if (record && !record->has_value()) {
        terminal.complain("the journal knows no request and no server " + in_quotes(id) +
                          "; 'reaper history' lists the requests that it knows");
        return ExitCode::failed;
    }
    if (!record) return failed(terminal, record.error());
    return answer(terminal, Result<RequestRecord>{**record}, report::render_record);
}

// By the daemon that --api names:

/// The newest requests that are looked for; none: why not was told.
std::optional<std::vector<RequestSummary>> remote_requests(DaemonApi& api, JournalQuery query,
                                                           const Terminal& terminal,
                                                           ExitCode& code) {
    const auto time = [](const std::optional<TimePoint>& at) {
        return at ? iso_time(*at) : std::string{};
    };
    const std::string outcome = query.under_way ? "none"
                                : query.outcome ? std::string{to_string(*query.outcome)}
                                                : "";
    const auto wanted = static_cast<std::size_t>(query.limit);
    std::vector<RequestSummary> all;
    for (bool more = true; more && all.size() < wanted;) {
        const std::size_t in_one = std::min<std::size_t>(wanted - all.size(), 1000);
        const std::string marker = all.empty() ? "" : all.back().request.id.str();
        const auto said = api.get(target_of("/v1/requests", {{"limit", std::to_string(in_one)},
                                                             {"marker", marker},
                                                             {"outcome", outcome},
                                                             {"project", query.project},
                                                             {"host", query.host},
                                                             {"flavor", query.flavor},
                                                             {"server", query.server},
                                                             {"since", time(query.since)},
                                                             {"until", time(query.until)}}),
                                  code);
        if (!said) return std::nullopt;
        auto page = taken(report::requests_from_json(said->value("requests", nlohmann::json{})),
                          api, terminal, code);
        if (!page) return std::nullopt;
        more = !page->empty() && said->contains("requests_links") &&
               !said->at("requests_links").empty();
        std::move(page->begin(), page->end(), std::back_inserter(all));
    }
    return all;
}

ExitCode show_remote_record(DaemonApi& api, const std::string& asked, const Terminal& terminal) {
    ExitCode code{};
    std::string id = asked;
    if (!asked.starts_with("req-")) {
        JournalQuery query;
        query.server = asked;
        query.limit = 2;
        const auto about = remote_requests(api, std::move(query), terminal, code);
        if (!about) return code;
        if (about->size() > 1) warn_of_several(asked, terminal);
        if (!about->empty()) id = about->front().request.id.str();
    }
    const auto said = api.get("/v1/requests/" + http::escape(id), code);
    if (!said) return code;
    auto record = taken(report::record_from_json(*said), api, terminal, code);
    if (!record) return code;
    return answer(terminal, Result<RequestRecord>{std::move(*record)}, report::render_record);
}

ExitCode show_remote_totals(DaemonApi& api, const JournalQuery& query, const Terminal& terminal) {
    ExitCode code{};
    const std::string since = query.since ? iso_time(*query.since) : "";
    const auto said = api.get(target_of("/v1/totals", {{"since", since}}), code);
    if (!said) return code;
    auto totals = taken(report::totals_from_json(said->value("totals", nlohmann::json{})), api,
                        terminal, code);
    if (!totals) return code;
    return answer(terminal, Result<JournalTotals>{std::move(*totals)}, report::render_totals);
}

ExitCode history_remotely(const GlobalOptions& global, const HistoryCommand& command,
                          const Terminal& terminal) {
    auto api = daemon_api(global, terminal);
    if (!api) return ExitCode::usage;
    const JournalQuery query = query_of(command, now());
    if (command.what == HistoryCommand::What::show)
        return show_remote_record(*api, command.request, terminal);
    if (command.what == HistoryCommand::What::totals)
        return show_remote_totals(*api, query, terminal);
    ExitCode code{};
    auto requests = remote_requests(*api, query, terminal, code);
    if (!requests) return code;
    return answer_list(terminal, Result<std::vector<RequestSummary>>{std::move(*requests)},
                       report::requests_table, "requests");
}

}  // namespace

ExitCode show_history(const GlobalOptions& global, const HistoryCommand& command,
                      const Terminal& terminal) {
    if (!global.api.url.empty()) return history_remotely(global, command, terminal);
    const auto settings = local_settings(global, terminal);
    if (!settings) return ExitCode::usage;
    boost::asio::io_context io{1};  // outlives the journal's thread, which posts to it
    auto journal = open_journal_for_reading(settings->journal.path);
    if (!journal) return failed(terminal, journal.error());
    if (command.follow) return follow_history(io, **journal, command, terminal);
    const JournalQuery query = query_of(command, now());
    switch (command.what) {
        case HistoryCommand::What::show:
            return show_record(io, **journal, command.request, terminal);
        case HistoryCommand::What::messages:
            return answer_list(terminal, run_task(io, (*journal)->messages(command.limit)),
                               report::messages_table, "messages");
        case HistoryCommand::What::victims:
            return answer_list(terminal, run_task(io, (*journal)->find_victims(query)),
                               report::victims_table, "victims");
        case HistoryCommand::What::totals:
            return answer(terminal,
                          run_task(io, (*journal)->totals(query.since.value_or(TimePoint{}))),
                          report::render_totals);
        case HistoryCommand::What::events:
            return answer_list(terminal, run_task(io, (*journal)->events(command.limit)),
                               report::events_table, "events");
        case HistoryCommand::What::list: break;
    }
    return answer_list(terminal, run_task(io, (*journal)->find_requests(query)),
                       report::requests_table, "requests");
}

}  // namespace reaper::cli
