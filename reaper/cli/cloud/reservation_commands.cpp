// `reaper reserve`, `unreserve`, `reservations` and `reapers`: they ask the running daemon.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/cli/output/room_tables.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/text.hpp"

namespace reaper::cli {
namespace {

using nlohmann::json;

/// Asked for again under it, an order is done once.
std::string new_key() {
    std::random_device random;
    char text[40];
    std::snprintf(text, sizeof text, "cli-%08x%08x%08x", random(), random(), random());
    return text;
}

json body_of(const ReserveCommand& command, const std::string& key) {
    json lists = json::array();
    for (const std::string& host : command.hosts) {
        json each = {{"host", host},
                     {"role", command.role},
                     {"labels", command.labels},
                     {"resources", report::to_json(command.resources)}};
        if (command.unreserve) {
            each["lent_too"] = command.lent_too;
            if (command.reserver) each["reserver"] = *command.reserver;
            if (command.returns_to)
                each["refines"] = {{"role", *command.returns_to},
                                   {"labels", command.refines_labels}};
        } else {
            if (!command.refines.empty())
                each["refines"] = {{"role", command.refines}, {"labels", command.refines_labels}};
            if (command.lend)
                each["lending"] = {{"lend", *command.lend},
                                   {"floor", report::to_json(command.floor)}};
            if (command.longest_loan)
                each["lending"]["longest_loan_s"] = command.longest_loan->count() / 1000;
        }
        lists.push_back(std::move(each));
    }
    json body = {{"reservations", std::move(lists)}, {"dry_run", command.dry_run}};
    body["principal"] = command.principal;
    body["key"] = key;
    return body;
}

}  // namespace

ExitCode carry_out(const GlobalOptions& global, const ReserveCommand& command,
                   const Terminal& terminal) {
    auto api = daemon_api(global, terminal);
    if (!api) return ExitCode::usage;
    ExitCode code{};
    const std::string key = command.key.empty() ? new_key() : command.key;
    const auto said = api->post(command.unreserve ? "/v1/unreserve" : "/v1/reserve",
                                body_of(command, key), code, ExitCode::unknown);
    if (!said && code == ExitCode::failed && !command.dry_run && api->heard())
        terminal.warn("it may have been done anyway; with --key " + key +
                      " it is done once, however often it is asked for");
    if (!said) return code;
    if (wants_document(terminal)) {
        answer_document(terminal, *said);
        return text_in(*said, "state") == "failed" ? ExitCode::failed : code;
    }
    const std::string state = text_in(*said, "state");
    // Under a key that was given before, it may have failed since.
    const bool failed = state == "failed";
    const std::string how = command.dry_run      ? "would "
                            : failed             ? "failed: "
                            : state == "waiting" ? "waits for tenants to go: "
                                                 : "done: ";
    if (const auto orders = said->find("orders"); orders != said->end())
        for (const json& order : *orders)
            if (order.is_string())
                terminal.answer(how + report::safe(order.get<std::string>()) + "\n");
    if (!failed) return code;
    terminal.warn(report::safe(text_in(*said, "reason")) + "; give the order under another key");
    return ExitCode::failed;
}

ExitCode carry_out(const GlobalOptions& global, const ReservationsCommand& command,
                   const Terminal& terminal) {
    auto api = daemon_api(global, terminal);
    if (!api) return ExitCode::usage;
    ExitCode code{};
    const auto said =
        api->get(target_of("/v1/reservations", {{"role", command.role}, {"host", command.host}}),
                 code, ExitCode::usage);
    if (!said) return code;
    return show_list(terminal,
                     {reservations_table(*said), [&said] { return *said; }, "reservations"});
}

ExitCode carry_out(const GlobalOptions& global, const ReapersCommand&, const Terminal& terminal) {
    auto api = daemon_api(global, terminal);
    if (!api) return ExitCode::usage;
    ExitCode code{};
    const auto said = api->get("/v1/reapers", code);
    if (!said) return code;
    const ExitCode shown =
        show_list(terminal, {reapers_table(*said), [&said] { return *said; }, "reapers"});
    const bool known = text_in(*said, "unknown").empty();
    return shown == ExitCode::ok && !known ? ExitCode::failed : shown;
}

// `reaper oversubscription`: it asks the running daemon.

ExitCode carry_out(const GlobalOptions& global, const OversubscriptionCommand&,
                   const Terminal& terminal) {
    auto api = daemon_api(global, terminal);
    if (!api) return ExitCode::usage;
    ExitCode code{};
    // 404: the configuration has it off.
    const auto said = api->get("/v1/oversubscription", code, ExitCode::usage);
    if (!said) return code;
    return show_list(terminal, {oversubscription_table(*said), [&said] { return *said; }, "hosts"});
}

}  // namespace reaper::cli
