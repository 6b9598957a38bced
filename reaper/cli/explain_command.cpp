// `reaper explain`: why a server went, from the journal alone.
#include <boost/asio/io_context.hpp>

#include "clients/http/url.hpp"
#include "clients/journal/sqlite_journal.hpp"
#include "reaper/cli/commands.hpp"
#include "reaper/cli/daemon_api.hpp"
#include "reaper/cli/list_output.hpp"
#include "reaper/cli/local_settings.hpp"
#include "reaper/cli/now.hpp"
#include "reaper/report/explanation.hpp"
#include "reaper/report/json.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
namespace {

ExitCode answer_with(const report::Explanation& told, const Terminal& terminal) {
    return show_document(
        terminal, [&] { return report::to_json(told); },
        [&] { return report::render_explanation(told, terminal.render_options(now())); });
}

/// By the daemon that --api names.
ExitCode explain_remotely(const GlobalOptions& global, const ExplainCommand& command,
                          const Terminal& terminal) {
    auto api = daemon_api(global, terminal);
    if (!api) return ExitCode::usage;
    ExitCode code{};
    const auto said =
        api->get("/v1/explain/" + http::escape(command.asked), code, ExitCode::unknown);
    if (!said) return code;
    const auto told = taken(report::explanation_from_json(*said), *api, terminal, code);
    return told ? answer_with(*told, terminal) : code;
}

}  // namespace

ExitCode show_explanation(const GlobalOptions& global, const ExplainCommand& command,
                          const Terminal& terminal) {
    if (!global.api.url.empty()) return explain_remotely(global, command, terminal);
    const auto settings = local_settings(global, terminal);
    if (!settings) return ExitCode::usage;
    boost::asio::io_context io{1};  // outlives the journal's thread, which posts to it
    auto journal = open_journal_for_reading(settings->journal.path);
    if (!journal) return terminal.fail(ExitCode::failed, journal.error());
    const auto told = run_task(io, report::find_explanation(**journal, command.asked));
    if (!told) return terminal.fail(ExitCode::failed, told.error());
    if (!*told) {
        terminal.complain(report::not_explained(command.asked));
        return ExitCode::unknown;
    }
    return answer_with(**told, terminal);
}

}  // namespace reaper::cli
