// `reaper protect`: servers that an operator keeps from going, by the running daemon.
#include <nlohmann/json.hpp>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/cli/daemon/operator_name.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/text.hpp"

namespace reaper::cli {
namespace {

using nlohmann::json;

std::string told_text(const json& object, const char* name) {
    const auto at = object.find(name);
    return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

report::Table protections_table(const json& said) {
    using report::column;
    report::Table table;
    table.columns = {column("server"), column("id"),     column("until"),
                     column("by"),     column("reason"), report::wide("since")};
    table.key = 1;
    table.none = "No server is protected by an operator.";
    const auto time_cell = [](const json& each, const char* name) -> report::Cell {
        const auto time = parse_time(told_text(each, name));
        return time ? report::Cell{*time} : report::Cell{};
    };
    const json list = said.value("protections", json::array());
    for (const json& each : list)
        if (each.is_object())
            table.rows.push_back(
                {report::text_cell(told_text(each, "name")),
                 report::text_cell(told_text(each, "server")), time_cell(each, "until"),
                 report::text_cell(told_text(each, "by")),
                 report::text_cell(told_text(each, "reason")), time_cell(each, "since")});
    return table;
}

std::string protected_server_text(const json& protection) {
    const std::string name = told_text(protection, "name");
    const std::string id = report::safe(told_text(protection, "server"));
    return name.empty() ? id : report::safe(name) + " (" + id + ")";
}

/// Each reaper protects by its own journal.
void warn_if_protects_elsewhere(DaemonApi& api, const Terminal& terminal) {
    const auto said = api.get_if_there("/v1/reapers");
    if (!said) return;
    const json reapers = said->value("reapers", json::array());
    for (const json& each : reapers)
        if (each.is_object() && each.value("serves", json{}) == json(true) &&
            each.value("here", json{}) != json(true))
            terminal.warn("the active reaper is on " + report::safe(told_text(each, "machine")) +
                          ", and protects by its own journal: do it there too");
}

json body_of(const ProtectCommand& command) {
    json body = {{"server", command.server}, {"by", operator_name()}};
    if (command.remove) return body;
    if (!command.reason.empty()) body["reason"] = command.reason;
    if (command.until) body["until"] = iso_time(*command.until);
    if (command.span) body["for"] = exact_duration(*command.span);
    return body;
}

std::string protection_answer(const ProtectCommand& command, const json& said) {
    const json protection = said.value(command.remove ? "was" : "protection", json::object());
    if (!protection.is_object()) return "it is not protected";
    if (command.remove)
        return "no operator protects " + protected_server_text(protection) + " any more";
    const std::string until = told_text(protection, "until");
    return protected_server_text(protection) + " is protected " +
           (until.empty() ? "until 'reaper protect --remove'" : "until " + report::safe(until));
}

}  // namespace

ExitCode protect_server(const GlobalOptions& global, const ProtectCommand& command,
                        const Terminal& terminal) {
    auto api = daemon_api(global, terminal);
    if (!api) return ExitCode::usage;
    ExitCode code{};
    if (command.server.empty()) {
        const auto said = api->get("/v1/protections", code);
        if (!said) return code;
        return show_list(terminal,
                         {protections_table(*said), [&said] { return *said; }, "protections"});
    }
    const char* const route = command.remove ? "/v1/unprotect" : "/v1/protect";
    const auto said = api->post(route, body_of(command), code, ExitCode::unknown);
    if (!said) return code;
    if (wants_document(terminal))
        answer_document(terminal, *said);
    else
        terminal.answer(protection_answer(command, *said) + "\n");
    warn_if_protects_elsewhere(*api, terminal);
    return ExitCode::ok;
}

}  // namespace reaper::cli
