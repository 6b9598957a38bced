// `reaper pause`, `reaper resume`, `reaper status`: pausing deletions. They need no
// daemon (`protect` does).
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/cli/channel/remote_switch.hpp"
#include "reaper/cli/daemon/active_reaper.hpp"
#include "reaper/cli/daemon/local_settings.hpp"
#include "reaper/cli/daemon/status_report.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/cli/past/journals.hpp"
#include "reaper/controllers/safeguards/safeguards_journal.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/json_status.hpp"
#include "reaper/report/text.hpp"
#include "reaper/runtime/machine.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
namespace {

constexpr std::chrono::hours status_span{24};

void answer(const Terminal& terminal, const nlohmann::json& document, const std::string& text) {
    if (wants_document(terminal)) return answer_document(terminal, document);
    terminal.answer(text + "\n");
}

/// None if it can't be read.
std::optional<Recorded> recorded_in(const config::LocalSettings& settings, Safeguards& safeguards,
                                    const Terminal& terminal) {
    boost::asio::io_context io{1};  // outlives the journal's thread, which posts to it
    auto journal = journal_to_read(settings.journal);
    if (!journal) {
        terminal.warn(journal.error().what);
        return std::nullopt;
    }
    auto totals = run_task(io, (*journal)->totals(now() - status_span));
    auto holds = run_task(io, (*journal)->holds());
    auto under_way = run_task(io, (*journal)->find_requests(requests_under_way()));
    auto known = run_task(io, read_safeguards(**journal, settings.safeguards, now()));
    auto unfinished = run_task(io, (*journal)->unfinished());
    if (totals && holds && under_way && known && unfinished) {
        safeguards = std::move(known->safeguards);
        for (const RequestRecord& each : *unfinished) safeguards.notices().read_back(each);
        return Recorded{std::move(*totals), std::move(*holds), std::move(*under_way)};
    }
    terminal.warn(!totals      ? totals.error().what
                  : !holds     ? holds.error().what
                  : !under_way ? under_way.error().what
                  : !known     ? known.error().what
                               : unfinished.error().what);
    return std::nullopt;
}

/// Is the circuit breaker half open, for all that the journal tells? It has no file then.
bool tries_a_cull(const config::LocalSettings& settings) {
    boost::asio::io_context io{1};  // outlives the journal's thread, which posts to it
    auto journal = journal_to_read(settings.journal);
    if (!journal) return false;
    const auto known = run_task(io, read_safeguards(**journal, settings.safeguards, now()));
    return known && known->safeguards.breaker().state(now()) == CircuitState::half_open;
}

/// The pause still stands, for a daemon that is no dry run later.
void warn_of_dry_run(const DaemonHealth& daemon, const Terminal& terminal) {
    if (daemon.dry_run) terminal.warn("the daemon here is a dry run: it deletes no servers anyway");
}

/// A pause of a reaper that only stands by pauses nothing.
void warn_if_elsewhere(const Activity& activity, const Terminal& terminal) {
    if (activity.here) return;
    if (!activity.active)
        return terminal.warn(not_known_text(activity.unknown) +
                             "; if it is another one, pause it there too");
    terminal.warn("the active reaper is " + to_text(activity) +
                  ": it goes on deleting; pause it there");
}

}  // namespace

ExitCode carry_out(const GlobalOptions& global, const PauseCommand& command,
                   const Terminal& terminal) {
    if (!global.api.url.empty()) return pause_remotely(global, command, terminal);
    const auto settings = local_settings(global, terminal);
    if (!settings) {
        terminal.complain(
            "nothing is paused; until the configuration is fixed, make the file of "
            "its pause_file by hand (default: touch " +
            config::Settings{}.pause_file + ")");
        return ExitCode::usage;
    }
    const std::string& file = settings->pause_file;
    const auto& journal = acting_journal(*settings);
    const bool shared = !journal.in_file();
    const auto pause = make_switches(file, journal).pause;
    const auto before = pause->note();
    if (const auto done = pause->pause(operator_name(), command.reason); !done) {
        if (shared)
            terminal.complain("nothing is paused; 'touch " + file +
                              "' pauses the reaper of this machine at once");
        return terminal.fail(ExitCode::failed, done.error());
    }
    const auto after = pause->note();
    // The pause stands; whom it holds for is asked after that.
    const Activity activity = activity_of(*settings);
    const nlohmann::json document = {
        {"version", report::json_version},  {"paused", report::json_of(after)},
        {"was_paused", before.has_value()}, {"machine", machine_name()},
        {"active", to_json(activity)},      {"file", file}};
    answer(terminal, document,
           before   ? "already paused " + before->line() + "; that stays as it is"
           : shared ? "paused " + reach_of_switch(journal) +
                          ": they delete no servers until 'reaper resume'"
                    : "paused: the reaper of this machine (" + machine_name() +
                          ") deletes no servers until 'reaper resume' (" + file + ")");
    warn_of_dry_run(local_health(*settings), terminal);
    if (!shared) warn_if_elsewhere(activity, terminal);
    return ExitCode::ok;
}

ExitCode carry_out(const GlobalOptions& global, const ResumeCommand&, const Terminal& terminal) {
    if (!global.api.url.empty()) return resume_remotely(global, terminal);
    const auto settings = local_settings(global, terminal);
    if (!settings) return ExitCode::usage;
    const std::string& file = settings->pause_file;
    const auto& journal = acting_journal(*settings);
    const Switches switches = make_switches(file, journal);
    const auto before = switches.pause->note();
    const auto opened = switches.breaker->note();
    for (Switch* const each : {switches.pause.get(), switches.breaker.get()}) {
        const auto done = each->resume();
        if (!done) return terminal.fail(ExitCode::failed, done.error());
    }
    const std::string here = reach_of_switch(journal);
    const nlohmann::json document = {{"version", report::json_version},
                                     {"was", report::json_of(before ? before : opened)},
                                     {"breaker_was", report::json_of(opened)},
                                     {"file", file}};
    std::string text = resumed_text(here, before, opened);
    if (!before && !opened)
        text += journal.in_file() ? " (no " + file + ")"
                                  : "; a circuit breaker that is open at the active one is closed";
    if (!before && !opened && tries_a_cull(*settings)) text += half_open_stays;
    answer(terminal, document, text);
    return ExitCode::ok;
}

ExitCode carry_out(const GlobalOptions& global, const StatusCommand&, const Terminal& terminal) {
    if (!global.api.url.empty()) return show_status_remotely(global, terminal);
    const auto settings = local_settings(global, terminal);
    if (!settings) return ExitCode::usage;
    const auto& journal = acting_journal(*settings);
    const Switches switches = make_switches(settings->pause_file, journal);
    StatusReport status;
    status.machine = machine_name();
    status.where = reach_of_switch(journal);
    status.whose = journal.in_file() ? "this machine" : journal.url;
    status.pause = pause_in_force(settings->pause_file, journal);
    status.until_resume = switches.pause->note().has_value();
    status.file = settings->pause_file;
    Safeguards safeguards;
    status.recorded = recorded_in(*settings, safeguards, terminal);
    tell_of_other(*settings, terminal);
    status.at = now();
    status.since = status.at - status_span;
    const auto opened = switches.breaker->note();
    const bool tries =
        status.recorded && safeguards.breaker().state(status.at) == CircuitState::half_open;
    status.circuit = opened  ? CircuitState::open
                     : tries ? CircuitState::half_open
                             : CircuitState::closed;
    if (opened) status.circuit_reason = opened->reason;
    if (status.recorded) status.left_alone = safeguards.left_alone(status.at);
    status.notices = safeguards.notices().told();
    status.daemon = local_health(*settings);
    status.activity = status.daemon.dry_run ? no_active_reaper() : activity_of(*settings);
    status.gateway = gateway_state(settings->gateway);
    status.gateway_settings = settings->gateway;
    return show_status_report(status, terminal);
}

// `reaper protect`: servers that an operator keeps from going, by the running daemon.

namespace {

using nlohmann::json;

report::Table protections_table(const json& said) {
    using report::column;
    report::Table table;
    table.columns = {column("server"), column("id"),     column("until"),
                     column("by"),     column("reason"), report::wide("since")};
    table.key = 1;
    table.none = "No server is protected by an operator.";
    const auto time_cell = [](const json& each, const char* name) -> report::Cell {
        const auto time = parse_time(text_in(each, name));
        return time ? report::Cell{*time} : report::Cell{};
    };
    const json list = said.value("protections", json::array());
    for (const json& each : list)
        if (each.is_object())
            table.rows.push_back({report::text_cell(text_in(each, "name")),
                                  report::text_cell(text_in(each, "server")),
                                  time_cell(each, "until"), report::text_cell(text_in(each, "by")),
                                  report::text_cell(text_in(each, "reason")),
                                  time_cell(each, "since")});
    return table;
}

std::string protected_server_text(const json& protection) {
    const std::string name = text_in(protection, "name");
    const std::string id = report::safe(text_in(protection, "server"));
    return name.empty() ? id : report::safe(name) + " (" + id + ")";
}

/// Reapers with one journal protect alike, and have names in it.
void warn_if_protects_elsewhere(DaemonApi& api, const Terminal& terminal) {
    const auto said = api.get_if_there("/v1/reapers");
    if (!said) return;
    if (const std::string unknown = text_in(*said, "unknown"); !unknown.empty())
        terminal.warn(not_known_text(unknown) +
                      "; if it is another one, with a journal of its own, do it there too");
    const json reapers = said->value("reapers", json::array());
    for (const json& each : reapers)
        if (is_true(each, "serves") && !is_true(each, "here") && text_in(each, "name").empty())
            terminal.warn("the active reaper is on " + report::safe(text_in(each, "machine")) +
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
    if (command.remove) return "no operator protects " + protected_server_text(protection) + " now";
    const std::string until = text_in(protection, "until");
    return protected_server_text(protection) + " is protected " +
           (until.empty() ? "until 'reaper protect --remove'" : "until " + report::safe(until));
}

}  // namespace

ExitCode carry_out(const GlobalOptions& global, const ProtectCommand& command,
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
