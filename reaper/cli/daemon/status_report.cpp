#include "reaper/cli/daemon/status_report.hpp"

#include <boost/asio/io_context.hpp>
#include <iterator>
#include <utility>

#include "reaper/cli/output/list_output.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/json/json_text.hpp"
#include "reaper/model/project_names.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/json_status.hpp"
#include "reaper/report/render_parts.hpp"
#include "reaper/report/text.hpp"
#include "reaper/runtime/run_task.hpp"
#include "reaper/runtime/system_clock.hpp"

namespace reaper::cli {
namespace {

constexpr Duration state_within{3'000};

}  // namespace

GatewayState read_gateway_state(const std::string& body) {
    const auto state = parse_bounded(body);
    if (!state.is_object() || !state.contains("passes_through"))
        return GatewayState{true, "it decides nothing: no 'reaper run' serves there"};
    const auto& why = state["passes_through"];
    GatewayState read{true, why.is_string() ? why.get<std::string>() : std::string{}};
    read.full = state.contains("full") && state["full"] == true;
    return read;
}

std::optional<GatewayState> gateway_state(const config::Gateway& gateway) {
    if (gateway.listen.empty()) return std::nullopt;
    boost::asio::io_context io{1};
    const auto clock = make_system_clock(io.get_executor());
    config::Http once;
    once.max_retries = 0;
    once.call_timeout = once.connect_timeout = state_within;
    config::Cloud trust;
    trust.verify_tls = false;  // no secret goes there, and nothing hangs on the answer
    const auto client = connect_http(io, trust, once, *clock);
    if (!client) return GatewayState{false, client.error().what};
    http::Request request;
    request.url =
        (gateway.cert_file.empty() ? "http://" : "https://") + gateway.listen + "/reaper-gateway";
    request.service = "gateway";
    const auto answer = run_task(io, (*client)->call(std::move(request)));
    if (!answer) return GatewayState{false, answer.error().what};
    return read_gateway_state(answer->body);
}

std::string to_text(const GatewayState& state, const config::Gateway& gateway) {
    const std::string where = "gateway: " + gateway.listen;
    if (!state.answers) return where + " does not answer: " + report::safe(state.why_not);
    if (state.why_not.empty())
        return where + " helps" +
               (state.full
                    ? "; overloaded: as many searches wait as may (gateway.max_held), others "
                      "pass through"
                    : "");
    return where + " passes everything through: " + report::safe(state.why_not);
}

std::optional<PauseNote> pause_in_force(const std::string& pause_file,
                                        const config::JournalSettings& journal) {
    const Switches switches = make_switches(pause_file, journal);
    auto note = switches.pause->note();
    return note ? note : switches.breaker->note();
}

std::vector<std::string> pause_remarks(const std::optional<PauseNote>& paused) {
    if (!paused) return {};
    return {"the reaper is paused " + printable(paused->line()) +
            ": the daemon deletes no server until 'reaper resume'"};
}

std::string resumed_text(const std::string& where, const std::optional<PauseNote>& paused,
                         const std::optional<PauseNote>& opened) {
    std::string text;
    if (paused) text = "resumed " + where + "; it was paused " + report::safe(paused->line());
    if (opened)
        text += (text.empty() ? "resumed " + where + "; it was stopped " : "; and stopped ") +
                report::safe(opened->line());
    return text.empty() ? "it was not paused " + where : text;
}

const char* const half_open_stays =
    "; its circuit breaker is half open, and stays so until the room of a cull is taken; to close "
    "it now: 'reaper pause', and 'reaper resume' when 'reaper history events' has the pause";

namespace {

/// `project web (77cb...): 3 slots in a row went unused; no servers are deleted for it until ...`
std::string left_alone_text(const std::vector<Safeguards::LeftAlone>& all) {
    std::string text;
    for (const auto& each : all) {
        text += "  project " + project_text(each.project, each.project_name);
        if (!each.what.empty()) text += ", " + report::safe(each.what);
        text += each.safeguard == safeguard::short_lived
                    ? ": it gave freed room back within minutes again and again; "
                    : ": " + reaper::counted(each.wasted, "slot") + " in a row went unused; ";
        text += each.state == CircuitState::half_open ? "one cull at a time is tried\n"
                : each.until ? "no servers are deleted for it until " + iso_time(*each.until) + "\n"
                             : "no servers are deleted for it until 'reaper resume'\n";
    }
    return text;
}

/// `web-1 (2c1f...) on compute-1: ends at ..., for request req-...`
std::string notices_text(const std::vector<Notice>& all) {
    std::string text;
    for (const Notice& each : all)
        text += "  " + report::safe(each.name) + " (" + report::safe(each.server.str()) + ") on " +
                report::safe(each.host) + ": ends at " + iso_time(each.until) + ", for request " +
                report::safe(each.request.str()) + "\n";
    return text;
}

/// The newest first; those that are not listed are counted.
std::string under_way_text(const Recorded& recorded, const report::RenderOptions& options) {
    using Align = report::TextTable::Align;
    report::TextTable table{{{"SINCE"}, {"REQUEST"}, {"FOR PROJECT"}, {"VICTIMS", Align::right}}};
    for (const RequestSummary& line : recorded.under_way) {
        const Request& request = line.request;
        const std::string& name = request.project_name;
        table.row({iso_time(line.received_at), request.id.str(),
                   name.empty() ? request.project.str() : name, std::to_string(line.victims)});
    }
    std::string text = table.text(0, report::width_of(options), report::Paint{options.color});
    const auto more = recorded.totals.under_way - std::ssize(recorded.under_way);
    if (more > 0)
        text += "  and " + std::to_string(more) + " more: reaper history --outcome none\n";
    return text;
}

nlohmann::json gateway_json(const std::optional<GatewayState>& state,
                            const config::Gateway& gateway) {
    if (!state) return nullptr;
    return {{"listen", gateway.listen},
            {"answers", state->answers},
            {"helps", state->answers && state->why_not.empty()},
            {"why_not", state->why_not},
            {"full", state->full}};
}

}  // namespace

JournalQuery requests_under_way() {
    JournalQuery query;
    query.under_way = true;
    query.limit = most_under_way;
    return query;
}

nlohmann::json json_of(const StatusReport& status) {
    const auto& recorded = status.recorded;
    return {
        {"version", report::json_version},
        {"machine", status.machine},
        {"daemon", to_json(status.daemon)},
        {"dry_run", to_json(status.daemon).at("dry_run")},
        {"active", to_json(status.activity)},
        {"paused", report::json_of(status.pause)},
        {"file", status.file.empty() ? nlohmann::json(nullptr) : nlohmann::json(status.file)},
        {"breaker", {{"state", to_string(status.circuit)}, {"reason", status.circuit_reason}}},
        {"left_alone", report::json_of(status.left_alone)},
        {"notices", report::json_of(status.notices)},
        {"gateway", gateway_json(status.gateway, status.gateway_settings)},
        {"since", iso_time(status.since)},
        {"totals", recorded ? report::to_json(recorded->totals) : nlohmann::json(nullptr)},
        {"under_way", recorded ? report::array_of(recorded->under_way) : nlohmann::json(nullptr)},
        {"holds", recorded ? report::array_of(recorded->holds) : nlohmann::json(nullptr)}};
}

std::string text_of(const StatusReport& status, const report::RenderOptions& options) {
    const std::string where = report::safe(status.where);
    std::string text = "not paused " + where + "\n";
    if (status.pause)
        text = "paused " + where + ' ' + report::safe(status.pause->line()) +
               "\nits reaper deletes no servers until " +
               (status.until_resume ? "'reaper resume'\n" : "then\n");
    if (status.circuit == CircuitState::half_open)
        text += "circuit breaker half open: one cull at a time is tried\n";
    text += to_text(status.daemon) + "\n";
    text += "active reaper: " + to_text(status.activity) + "\n";
    if (status.gateway) text += to_text(*status.gateway, status.gateway_settings) + "\n";
    if (!status.left_alone.empty()) text += "\nLeft alone\n" + left_alone_text(status.left_alone);
    if (!status.notices.empty()) text += "\nUnder notice\n" + notices_text(status.notices);
    const auto& recorded = status.recorded;
    if (recorded && !recorded->under_way.empty())
        text += "\nUnder way\n" + under_way_text(*recorded, options);
    if (recorded && !recorded->holds.empty())
        text += "\nRoom held for requests\n" + report::render_holds(recorded->holds, options);
    if (recorded)
        text += "\nThe last 24 hours, by the journal of " + report::safe(status.whose) + "\n" +
                report::render_totals(recorded->totals, options);
    return text;
}

ExitCode show_status_report(const StatusReport& status, const Terminal& terminal) {
    const ExitCode shown = show_document(
        terminal, [&] { return json_of(status); },
        [&] { return text_of(status, terminal.render_options(status.at)); });
    if (shown != ExitCode::ok) return shown;
    return status.pause ? ExitCode::attention : ExitCode::ok;
}

}  // namespace reaper::cli
