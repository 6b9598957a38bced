// `reaper reserve`, `reaper unreserve` and `reaper reservations`: they ask the running daemon.
#include <nlohmann/json.hpp>

#include "clients/http/local_client.hpp"
#include "clients/http/url.hpp"
#include "reaper/cli/commands.hpp"
#include "reaper/cli/list_output.hpp"
#include "reaper/cli/local_settings.hpp"
#include "reaper/cli/refused_answer.hpp"
#include "reaper/cli/reservations_table.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/text.hpp"

namespace reaper::cli {
namespace {

using nlohmann::json;

json body_of(const ReserveCommand& command) {
    json lists = json::array();
    for (const std::string& host : command.hosts) {
        json each = {{"host", host},
                     {"role", command.role},
                     {"labels", command.labels},
                     {"resources", report::to_json(command.resources)}};
        if (command.unreserve) {
            each["lent_too"] = command.lent_too;
        } else {
            if (!command.refines.empty())
                each["refines"] = {{"role", command.refines}, {"labels", command.refines_labels}};
            if (command.lend)
                each["lending"] = {{"lend", *command.lend},
                                   {"floor", report::to_json(command.floor)},
                                   {"longest_loan_s", command.longest_loan.count() / 1000}};
        }
        lists.push_back(std::move(each));
    }
    json body = {{"reservations", std::move(lists)}, {"dry_run", command.dry_run}};
    body["principal"] = command.principal;
    if (!command.key.empty()) body["key"] = command.key;
    return body;
}

ExitCode exit_code_of(int status) {
    if (status == 200 || status == 202) return ExitCode::ok;
    if (status == 400) return ExitCode::usage;
    return status == 409 ? ExitCode::not_enough : ExitCode::failed;
}

/// What the daemon says to a call; none, and told, if it refuses.
std::optional<json> answered(const Result<http::LocalAnswer>& answer, const Terminal& terminal,
                             ExitCode& code) {
    if (!answer) {
        code = terminal.fail(ExitCode::failed, answer.error());
        return std::nullopt;
    }
    code = exit_code_of(answer->status);
    json said = json::parse(answer->body, nullptr, false);
    if (code == ExitCode::ok && said.is_object()) return said;
    terminal.complain(why_refused(*answer));
    if (code == ExitCode::ok) code = ExitCode::failed;
    return std::nullopt;
}

std::optional<std::string> socket_of(const GlobalOptions& global, const Terminal& terminal) {
    const auto settings = local_settings(global, terminal);
    if (!settings) return std::nullopt;
    if (!settings->admin.socket.empty()) return settings->admin.socket;
    terminal.complain(global.config_file +
                      ": admin.socket is not set: the daemon listens on no socket");
    return std::nullopt;
}

}  // namespace

ExitCode change_reservations(const GlobalOptions& global, const ReserveCommand& command,
                             const Terminal& terminal) {
    const auto socket = socket_of(global, terminal);
    if (!socket) return ExitCode::usage;
    ExitCode code{};
    const auto said =
        answered(http::post_locally(*socket, command.unreserve ? "/v1/unreserve" : "/v1/reserve",
                                    body_of(command).dump()),
                 terminal, code);
    if (!said) return code;
    if (terminal.json()) {
        terminal.answer(report::dump(*said, 2) + "\n");
        return code;
    }
    for (const json& order : said->value("orders", json::array()))
        terminal.answer((command.dry_run ? "would " : "done: ") +
                        report::safe(order.get<std::string>()) + "\n");
    return code;
}

ExitCode show_reservations(const GlobalOptions& global, const ReservationsCommand& command,
                           const Terminal& terminal) {
    const auto socket = socket_of(global, terminal);
    if (!socket) return ExitCode::usage;
    std::string target = "/v1/reservations";
    char mark = '?';
    for (const auto& [name, value] : {std::pair{"role", command.role}, {"host", command.host}}) {
        if (value.empty()) continue;
        target += mark + std::string{name} + "=" + http::escape(value);
        mark = '&';
    }
    ExitCode code{};
    const auto said = answered(http::get_locally(*socket, target), terminal, code);
    if (!said) return code;
    return show_list(terminal,
                     {reservations_table(*said), [&said] { return *said; }, "reservations"});
}

}  // namespace reaper::cli
