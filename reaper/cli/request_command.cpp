// `reaper request`: asks the running daemon for room, and shows what it does.
#include <nlohmann/json.hpp>
#include <optional>

#include "clients/http/local_client.hpp"
#include "reaper/cli/commands.hpp"
#include "reaper/cli/local_settings.hpp"
#include "reaper/cli/refused_answer.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/text.hpp"

namespace reaper::cli {
namespace {

using nlohmann::json;

/// In the words of the list of `reaper plan --requests`.
json body_of(const RequestCommand& command) {
    json body = {{"project", command.project},
                 {"resources", report::to_json(command.resources)},
                 {"slots", command.slots}};
    json traits = json::array();
    for (const auto& trait : command.required_traits) traits.push_back(trait + "=required");
    for (const auto& trait : command.forbidden_traits) traits.push_back(trait + "=forbidden");
    if (!traits.empty()) body["traits"] = std::move(traits);
    json groups = json::array();
    for (const auto& group : command.groups) groups.push_back(written(group));
    if (!groups.empty()) body["groups"] = std::move(groups);
    if (command.group_policy) body["group_policy"] = std::string{to_string(*command.group_policy)};
    if (command.availability_zone) body["zone"] = *command.availability_zone;
    if (!command.res_type.empty()) body["res_type"] = command.res_type;
    if (!command.id.empty()) body["id"] = command.id;
    return body;
}

ExitCode exit_code_of(const std::string& outcome) {
    if (outcome == "freed" || outcome == "already-there" || outcome == "revocable-room" ||
        outcome == "dry-run")
        return ExitCode::ok;
    if (outcome == "not-enough" || outcome == "revocable-only" || outcome == "refused")
        return ExitCode::not_enough;
    return ExitCode::failed;
}

/// Shows what the daemon tells, line by line.
class ProgressPrinter {
public:
    explicit ProgressPrinter(const Terminal& terminal) : terminal_(terminal) {}

    void on_line(const std::string& line) {
        const json told = json::parse(line, nullptr, false);
        if (!told.is_object()) return;
        const std::string event = told.value("event", "");
        if (event == "outcome") outcome_ = told.value(json::json_pointer{"/outcome/kind"}, "");
        if (terminal_.json())
            terminal_.answer(line + "\n");
        else
            show(event, told);
    }
    std::optional<std::string> outcome() const { return outcome_; }

private:
    void show(const std::string& event, const json& told) {
        const auto text = [&](const char* path) {
            return told.value(json::json_pointer{path}, std::string{});
        };
        if (event == "accepted") {
            terminal_.answer("request " + report::safe(text("/id")) + "\n");
        } else if (event == "plan") {
            show_plan(told);
        } else if (event == "step") {
            const std::string detail = text("/step/detail");
            terminal_.answer(text("/step/step") + "  " + report::safe(text("/step/server")) +
                             (detail.empty() ? "" : "  " + report::safe(detail)) + "\n");
        } else if (event == "outcome") {
            terminal_.answer(text("/outcome/kind") + ": " + report::safe(text("/outcome/reason")) +
                             "\n");
        }
    }
    void show_plan(const json& told) {
        const json decision = told.value(json::json_pointer{"/plan/decision"}, json::object());
        if (decision.value("decision", "") != "plan") {
            terminal_.answer("plan: " + report::safe(decision.value("decision", "")) + "\n");
            return;
        }
        std::string lines;
        std::size_t count = 0;
        for (const auto& host : decision.value("hosts", json::array()))
            for (const auto& victim : host.value("victims", json::array())) {
                ++count;
                lines += "  " + report::safe(victim.value("server", "")) + "  " +
                         report::safe(victim.value("name", "")) + "  on " +
                         report::safe(victim.value("host", "")) + "\n";
            }
        terminal_.answer("plan: " + std::to_string(count) + (count == 1 ? " server" : " servers") +
                         " to delete\n" + lines);
    }

    const Terminal& terminal_;
    std::optional<std::string> outcome_;
};

}  // namespace

ExitCode request_room(const GlobalOptions& global, const RequestCommand& command,
                      const Terminal& terminal) {
    const auto settings = local_settings(global, terminal);
    if (!settings) return ExitCode::usage;
    if (settings->admin.socket.empty()) {
        terminal.complain(global.config_file +
                          ": admin.socket is not set: the daemon listens on no socket");
        return ExitCode::usage;
    }
    ProgressPrinter printer{terminal};
    const auto answer =
        http::post_locally(settings->admin.socket, "/v1/requests", body_of(command).dump(),
                           [&](const std::string& line) { printer.on_line(line); });
    if (!answer) return terminal.fail(ExitCode::failed, answer.error());
    if (answer->status != 200) {
        terminal.complain(why_refused(*answer));
        return answer->status == 400 ? ExitCode::usage : ExitCode::failed;
    }
    if (!printer.outcome()) {
        terminal.complain(
            "the daemon ended before the outcome; it goes on at its next start: reaper history");
        return ExitCode::failed;
    }
    return exit_code_of(*printer.outcome());
}

}  // namespace reaper::cli
