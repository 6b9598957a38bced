#include "reaper/cli/daemon/request_progress.hpp"

#include <map>
#include <optional>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/json/json_text.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/text.hpp"
#include "reaper/safeguards/safeguards.hpp"

namespace reaper::cli {
namespace {

using nlohmann::json;

/// `refused_by`: a word, or null.
ExitCode exit_code_of(const std::string& outcome, const json& refused_by) {
    if (outcome == "refused" && refused_by == json(safeguard::stale_plan)) return ExitCode::stale;
    if (outcome == "freed" || outcome == "already-there" || outcome == "revocable-room")
        return ExitCode::ok;
    if (outcome == "not-enough" || outcome == "revocable-only" || outcome == "refused" ||
        outcome == "dry-run")
        return ExitCode::not_enough;
    return ExitCode::failed;
}

/// Shows what the daemon tells, line by line.
class ProgressPrinter {
public:
    explicit ProgressPrinter(const Terminal& terminal) : terminal_(terminal) {}

    void on_line(const std::string& line) {
        const json told = parse_bounded(line);
        if (!told.is_object()) return;
        const std::string event = told.value("event", "");
        if (event == "outcome")
            ended_ = exit_code_of(told.value(json::json_pointer{"/outcome/kind"}, ""),
                                  told.value(json::json_pointer{"/outcome/safeguard"}, json{}));
        if (terminal_.json())
            terminal_.answer(line + "\n");
        else if (wants_document(terminal_))
            terminal_.answer("---\n" + yaml_text(told));
        else
            show(event, told);
    }
    /// None before the outcome.
    std::optional<ExitCode> ended() const { return ended_; }

private:
    /// `name (id)`, as a plan told it; else the id alone.
    std::string named(const std::string& server) const {
        const auto known = names_.find(server);
        const std::string id = report::safe(server);
        return known == names_.end() || known->second.empty()
                   ? id
                   : report::safe(known->second) + " (" + id + ")";
    }
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
            terminal_.answer(text("/step/step") + "  " + named(text("/step/server")) +
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
                names_[victim.value("server", "")] = victim.value("name", "");
                lines += "  " + report::safe(victim.value("server", "")) + "  " +
                         report::safe(victim.value("name", "")) + "  on " +
                         report::safe(victim.value("host", "")) + "\n";
            }
        terminal_.answer("plan: " + std::to_string(count) + (count == 1 ? " server" : " servers") +
                         " to delete\n" + lines);
    }

    const Terminal& terminal_;
    std::map<std::string, std::string> names_;  ///< by server
    std::optional<ExitCode> ended_;
};

}  // namespace

json body_of(const DescribedRequest& described) {
    json body = {{"project", described.project}, {"slots", described.slots}};
    if (described.flavor.empty())
        body["resources"] = report::to_json(described.resources);
    else
        body["flavor"] = described.flavor;
    json traits = json::array();
    for (const auto& trait : described.required_traits) traits.push_back(trait + "=required");
    for (const auto& trait : described.forbidden_traits) traits.push_back(trait + "=forbidden");
    if (!traits.empty()) body["traits"] = std::move(traits);
    json groups = json::array();
    for (const auto& group : described.groups) groups.push_back(written(group));
    if (!groups.empty()) body["groups"] = std::move(groups);
    if (described.group_policy)
        body["group_policy"] = std::string{to_string(*described.group_policy)};
    if (described.availability_zone) body["zone"] = *described.availability_zone;
    if (!described.res_type.empty()) body["res_type"] = described.res_type;
    if (!described.id.empty()) body["id"] = described.id;
    return body;
}

ExitCode show_request(DaemonApi& api, const json& body, const Terminal& terminal) {
    ProgressPrinter printer{terminal};
    ExitCode code{};
    const bool answered = api.post_lines(
        "/v1/requests", body, [&](const std::string& line) { printer.on_line(line); }, code,
        ExitCode::unknown);
    // A conflict is another request of that id, not too little room.
    if (!answered) return code == ExitCode::not_enough ? ExitCode::failed : code;
    if (printer.ended()) return *printer.ended();
    terminal.complain(
        api.remote()
            ? api.name() +
                  ": the answer ended before the outcome; the daemon may go on: reaper history"
            : "the daemon ended before the outcome; it goes on at its next start: reaper history");
    return ExitCode::failed;
}

// `reaper request`: asks the running daemon for room, and shows what it does.

ExitCode carry_out(const GlobalOptions& global, const RequestCommand& command,
                   const Terminal& terminal) {
    auto api = daemon_api(global, terminal);
    if (!api) return ExitCode::usage;
    return show_request(*api, body_of(command), terminal);
}

}  // namespace reaper::cli
