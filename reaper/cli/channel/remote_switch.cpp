#include "reaper/cli/channel/remote_switch.hpp"

#include <utility>
#include <vector>

#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/cli/daemon/status_report.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/json/fields.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/json_status.hpp"
#include "reaper/report/text.hpp"

namespace reaper::cli {
namespace {

using nlohmann::json;

/// What /v1/status tells.
Result<StatusReport> status_in(const json& said) {
    return report::read_json(said, "status", [](const JsonPlace& in) {
        StatusReport status;
        status.machine = in["machine"].text();
        status.where = "on " + status.machine;
        status.whose = status.machine;
        status.pause = report::part_in(in, in["pause"].value(), report::pause_from_json);
        status.until_resume = in.has("paused");
        const JsonPlace circuit = in["circuit"];
        JsonWords{circuit_state_from}.read(circuit["state"], status.circuit);
        status.circuit_reason = circuit["reason"].text();
        status.left_alone =
            report::part_in(in, in["left_alone"].value(), report::left_alone_from_json);
        if (in.has("notices"))
            status.notices = report::part_in(in, in["notices"].value(), report::notices_from_json);
        status.daemon.dry_run = in["dry_run"].boolean();
        const bool ready = in["ready"].boolean();
        status.daemon.state = ready ? DaemonHealth::State::ready : DaemonHealth::State::not_ready;
        if (!ready) status.daemon.why = report::safe(in["line"].text());
        if (status.daemon.dry_run)
            status.held_back = "it is a dry run: it deletes no servers";
        else if (!status.pause && !in["no_help"].is_null())
            status.held_back = "no request can be helped now: " + in["no_help"].text();
        status.at = in["now"].is_null() ? now() : in["now"].time();
        return status;
    });
}

/// What /v1/reapers tells.
Result<Activity> activity_in(const json& said) {
    return report::read_json(said, "list of reapers", [](const JsonPlace& in) {
        Activity activity;
        activity.unknown = in.text_or_empty("unknown");
        if (!activity.unknown.empty()) return activity;
        activity.unknown = "none serves the queue";
        in["reapers"].each([&](const JsonPlace& each) {
            if (!each["serves"].boolean()) return;
            activity.active = ActiveReaper{each["machine"].text(), each["journal"].text()};
            activity.here = each["here"].boolean();
            activity.one_journal = each.has("name");
        });
        return activity;
    });
}

/// What /v1/totals tells.
Result<std::pair<TimePoint, Recorded>> recorded_by(const json& said) {
    return report::read_json(said, "totals", [](const JsonPlace& in) {
        Recorded recorded;
        recorded.totals = report::part_in(in, in["totals"].value(), report::totals_from_json);
        in["holds"].each([&](const JsonPlace& each) {
            recorded.holds.push_back(report::part_in(each, each.value(), report::hold_from_json));
        });
        return std::pair{in["since"].time(), std::move(recorded)};
    });
}

/// How the daemon is, and which one acts; none: the reason was printed.
std::optional<StatusReport> status_of(DaemonApi& api, const Terminal& terminal, ExitCode& code) {
    const auto said = api.get("/v1/status", code);
    if (!said) return std::nullopt;
    auto status = taken(status_in(*said), api, terminal, code);
    if (!status) return std::nullopt;
    const auto reapers = api.get("/v1/reapers", code);
    if (!reapers) return std::nullopt;
    auto activity = taken(activity_in(*reapers), api, terminal, code);
    if (!activity) return std::nullopt;
    status->activity = std::move(*activity);
    return status;
}

/// What /v1/requests tells.
std::optional<std::vector<RequestSummary>> under_way_at(DaemonApi& api, const Terminal& terminal,
                                                        ExitCode& code) {
    const auto said = api.get(
        target_of("/v1/requests", {{"limit", std::to_string(most_under_way)}, {"outcome", "none"}}),
        code);
    if (!said) return std::nullopt;
    return taken(report::requests_from_json(said->value("requests", json{})), api, terminal, code);
}

void answer_switch(const Terminal& terminal, const json& document, const std::string& text) {
    if (wants_document(terminal)) return answer_document(terminal, document);
    terminal.answer(text + "\n");
}

/// None, also of a daemon that is older than this program.
std::optional<PauseNote> note_in(const json& said, const char* name) {
    const auto at = said.find(name);
    if (at == said.end()) return std::nullopt;
    auto note = report::pause_from_json(*at);
    return note ? std::move(*note) : std::nullopt;
}

std::string paused_text(const json& said, const std::optional<PauseNote>& note,
                        const std::string& whose) {
    if (is_true(said, "was_paused"))
        return "already paused " + (note ? report::safe(note->line()) : "at " + whose) +
               "; that stays as it is";
    return "paused: the reaper of " + report::safe(whose) +
           " deletes no servers until 'reaper resume'";
}

json pause_json(const std::optional<PauseNote>& note, bool was_paused,
                const std::optional<StatusReport>& status) {
    return {{"version", report::json_version},
            {"paused", report::json_of(note)},
            {"was_paused", was_paused},
            {"machine", status ? json(status->machine) : json(nullptr)},
            {"active", status ? to_json(status->activity) : json(nullptr)},
            {"file", nullptr}};
}

void warn_if_active_elsewhere(const Activity& activity, const Terminal& terminal) {
    if (activity.here || activity.one_journal) return;
    if (!activity.active)
        return terminal.warn(
            not_known_text(activity.unknown) +
            "; if it is another one, with a journal of its own, pause it there too");
    terminal.warn("the active reaper is on " + report::safe(activity.active->machine) +
                  ": it goes on deleting; pause it there");
}

constexpr const char* dry_run_remark =
    "the daemon there is a dry run: it deletes no servers anyway";

/// A daemon in a dry run refuses to be paused or resumed; nothing is wrong with that. Its status;
/// none, and told, if it is none.
std::optional<StatusReport> dry_run_that_refused(DaemonApi& api, const std::string& why,
                                                 const Terminal& terminal) {
    ExitCode code{};
    auto status = status_of(api, terminal, code);
    if (status && status->daemon.dry_run) return status;
    terminal.complain(why);
    return std::nullopt;
}

ExitCode pause_refused(DaemonApi& api, const std::string& why, const Terminal& terminal) {
    const auto status = dry_run_that_refused(api, why, terminal);
    if (!status) return ExitCode::failed;
    answer_switch(terminal, pause_json(std::nullopt, false, status),
                  "nothing is paused on " + report::safe(status->machine));
    terminal.warn(dry_run_remark);
    warn_if_active_elsewhere(status->activity, terminal);
    return ExitCode::ok;
}

ExitCode resume_refused(DaemonApi& api, const std::string& why, const Terminal& terminal) {
    const auto status = dry_run_that_refused(api, why, terminal);
    if (!status) return ExitCode::failed;
    const json document = {{"version", report::json_version},
                           {"was", nullptr},
                           {"breaker_was", nullptr},
                           {"file", nullptr}};
    answer_switch(terminal, document, "nothing was paused on " + report::safe(status->machine));
    terminal.warn(dry_run_remark);
    return ExitCode::ok;
}

}  // namespace

ExitCode pause_remotely(const GlobalOptions& global, const PauseCommand& command,
                        const Terminal& terminal) {
    auto api = daemon_api(global, terminal);
    if (!api) return ExitCode::usage;
    ExitCode code{};
    std::string why;
    api->complain_to([&why](const std::string& line) { why = line; });
    const auto said = api->post("/v1/pause", {{"reason", command.reason}}, code);
    api->complain_to({});
    if (!said && code == ExitCode::not_enough) return pause_refused(*api, why, terminal);
    if (!said) {
        terminal.complain(why);
        return code;
    }
    const auto note = note_in(*said, "pause");
    // The pause stands, whether or not it is known now which daemon it holds for.
    const auto status = status_of(*api, terminal, code);
    answer_switch(terminal, pause_json(note, is_true(*said, "was_paused"), status),
                  paused_text(*said, note, status ? status->machine : api->name()));
    if (!status) terminal.warn("which reaper is the active one could not be asked");
    if (status) warn_if_active_elsewhere(status->activity, terminal);
    return ExitCode::ok;
}

ExitCode resume_remotely(const GlobalOptions& global, const Terminal& terminal) {
    auto api = daemon_api(global, terminal);
    if (!api) return ExitCode::usage;
    ExitCode code{};
    std::string why;
    api->complain_to([&why](const std::string& line) { why = line; });
    const auto said = api->post("/v1/resume", json::object(), code);
    api->complain_to({});
    if (!said && code == ExitCode::not_enough) return resume_refused(*api, why, terminal);
    if (!said) {
        terminal.complain(why);
        return code;
    }
    const auto was = note_in(*said, "was");
    const auto opened = note_in(*said, "breaker_was");
    const json document = {{"version", report::json_version},
                           {"was", report::json_of(was)},
                           {"breaker_was", report::json_of(opened)},
                           {"file", nullptr}};
    const std::string where = "at " + api->name();
    // What was in force is the operator's pause, or else the breaker's.
    const bool by_operator = was && !(opened && opened->line() == was->line());
    std::string text = resumed_text(where, by_operator ? was : std::nullopt, opened);
    if (!was && is_true(*said, "was_paused")) text = "resumed " + where;
    if (!was && text_in(*said, "circuit") == "half-open") text += half_open_stays;
    answer_switch(terminal, document, text);
    return ExitCode::ok;
}

ExitCode show_status_remotely(const GlobalOptions& global, const Terminal& terminal) {
    auto api = daemon_api(global, terminal);
    if (!api) return ExitCode::usage;
    ExitCode code{};
    auto status = status_of(*api, terminal, code);
    if (!status) return code;
    if (status->daemon.dry_run) status->activity = no_active_reaper();
    const auto said = api->get("/v1/totals?since=24h", code);
    if (!said) return code;
    auto recorded = taken(recorded_by(*said), *api, terminal, code);
    if (!recorded) return code;
    auto under_way = under_way_at(*api, terminal, code);
    if (!under_way) return code;
    recorded->second.under_way = std::move(*under_way);
    status->since = recorded->first;
    status->recorded = std::move(recorded->second);
    if (!status->held_back.empty()) terminal.warn(status->held_back);
    return show_status_report(*status, terminal);
}

}  // namespace reaper::cli
