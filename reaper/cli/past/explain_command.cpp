// `reaper explain`: why a server went, from the journal alone.
#include <boost/asio/io_context.hpp>

#include "clients/http/url.hpp"
#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/cli/past/journals.hpp"
#include "reaper/cli/past/now.hpp"
#include "reaper/report/explanation.hpp"
#include "reaper/report/json.hpp"

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
    if (said->contains("never_chosen"))
        return show_document(
            terminal, [&said] { return *said; },
            [&said] { return report::safe(said->value("never_chosen", "")) + "\n"; });
    const auto told = taken(report::explanation_from_json(*said), *api, terminal, code);
    return told ? answer_with(*told, terminal) : code;
}

}  // namespace

ExitCode show_explanation(const GlobalOptions& global, const ExplainCommand& command,
                          const Terminal& terminal) {
    if (!global.api.url.empty()) return explain_remotely(global, command, terminal);
    boost::asio::io_context io{1};  // outlives the journals' threads, which post to it
    auto opened = open_journals(global, command.journal, terminal);
    if (const auto* const code = std::get_if<ExitCode>(&opened)) return *code;
    const auto told = explained_in(io, std::get<Journals>(opened), command.asked, terminal);
    if (!told) return terminal.fail(ExitCode::failed, told.error());
    if (!*told) {
        terminal.complain(report::not_explained(command.asked));
        return ExitCode::unknown;
    }
    return answer_with(**told, terminal);
}

}  // namespace reaper::cli
