// `reaper apply`: has the running daemon carry out a plan that somebody looked at.
#include <nlohmann/json.hpp>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/cli/cloud/resolved_policy.hpp"
#include "reaper/cli/cloud/saved_plan.hpp"
#include "reaper/cli/daemon/operator_name.hpp"
#include "reaper/cli/daemon/request_progress.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/report/json_status.hpp"
#include "reaper/report/text.hpp"

namespace reaper::cli {
namespace {

using nlohmann::json;

json body_of(const SavedPlan& saved) {
    json body = saved.request;
    json victims = json::array();
    for (const Victim& victim : saved.plan.victims()) victims.push_back(victim.server.str());
    body["approved"] = {{"by", operator_name()},
                        {"planned_at", iso_time(saved.planned_at)},
                        {"victims", std::move(victims)}};
    return body;
}

std::string victims_text(const Plan& plan) {
    std::string text;
    for (const Victim& victim : plan.victims())
        text += "  " + report::safe(victim.server.str()) + "  " + report::safe(victim.name) +
                "  on " + report::safe(victim.host) + "\n";
    return text;
}

/// What the daemon would do with it now; nothing is done.
ExitCode check(DaemonApi& api, const SavedPlan& saved, const Terminal& terminal) {
    ExitCode code{};
    const auto answer = api.post("/v1/plan", body_of(saved), code, ExitCode::usage);
    if (!answer) return code;
    const json& said = *answer;
    if (!said.contains("stale")) {
        terminal.complain(api.name() + ": the answer does not say whether the plan is stale");
        return ExitCode::failed;
    }
    const auto paused =
        taken(report::pause_from_json(said.value("pause", json{})), api, terminal, code);
    if (!paused) return code;
    const json& stale = said.at("stale");
    if (wants_document(terminal)) answer_document(terminal, said);
    if (stale.is_string()) {
        terminal.complain(report::safe(stale.get<std::string>()));
        return ExitCode::stale;
    }
    const json& decision = said.at("decision");
    if (decision.value("decision", "plan") != "plan") {
        terminal.complain("no servers would be deleted: " +
                          report::safe(decision.value("reason", "the room is there")));
        return ExitCode::not_enough;
    }
    if (!wants_document(terminal))
        terminal.answer(
            "the plan holds: " + reaper::counted(saved.plan.victims().size(), "server") +
            " would be deleted\n" + victims_text(saved.plan));
    const auto no_help = said.value("no_help", json{});
    if (!*paused && !no_help.is_string()) return ExitCode::ok;
    std::vector<std::string> remarks = pause_remarks(*paused);
    if (!*paused) remarks.push_back("nothing would be done now: " + no_help.get<std::string>());
    if (!wants_document(terminal))
        for (const std::string& remark : remarks)
            terminal.answer("Remark: " + report::safe(remark) + ".\n");
    return ExitCode::not_enough;
}

}  // namespace

ExitCode apply_plan(const GlobalOptions& global, const ApplyCommand& command,
                    const Terminal& terminal) {
    const auto saved = read_saved_plan(command.file);
    if (!saved) return terminal.fail(ExitCode::usage, saved.error());
    auto api = daemon_api(global, terminal);
    if (!api) return ExitCode::usage;
    return command.dry_run ? check(*api, *saved, terminal)
                           : show_request(*api, body_of(*saved), terminal);
}

}  // namespace reaper::cli
