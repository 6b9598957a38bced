// `reaper plan`: the daemon's way from a message to a plan, once, without the deed.
#include <algorithm>
#include <optional>
#include <utility>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/cli/cloud/cloud_view.hpp"
#include "reaper/cli/cloud/offline.hpp"
#include "reaper/cli/cloud/planning.hpp"
#include "reaper/cli/cloud/saved_plan.hpp"
#include "reaper/cli/daemon/request_progress.hpp"
#include "reaper/cli/daemon/status_report.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/json_status.hpp"
#include "reaper/report/render.hpp"
#include "reaper/report/text.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/run_task.hpp"
#include "reaper/triggers/described_requests.hpp"

namespace reaper::cli {
namespace {

/// The decision, with what it is for and what is to be known about it.
nlohmann::json to_json(const Answer& answer, const Answers& answers) {
    nlohmann::json document = report::to_json(answer.decision);
    document["asked"] = report::to_json(answer.request);
    document["paused"] = report::json_of(answers.paused);
    document["remarks"] = answers.remarks;
    for (const std::string& remark : answer.remarks) document["remarks"].push_back(remark);
    document["cloud_remarks"] = answers.cloud_remarks;
    return document;
}

/// What came of all requests of a file.
struct Sum {
    int requests = 0, plans = 0, nothing_to_do = 0, not_enough = 0, refused = 0, slots_freed = 0;
    std::size_t victims = 0;

    explicit Sum(const Answers& answers) {
        for (const Answer& answer : answers.planned) {
            ++requests;
            nothing_to_do += std::holds_alternative<NothingToDo>(answer.decision);
            not_enough += std::holds_alternative<NotEnough>(answer.decision);
            refused += std::holds_alternative<Refused>(answer.decision);
            const auto* const plan = std::get_if<Plan>(&answer.decision);
            if (plan == nullptr) continue;
            ++plans;
            slots_freed += plan->slots_freed;
            victims += plan->victims().size();
        }
    }
    nlohmann::json json() const {
        return {{"requests", requests},     {"plans", plans},     {"nothing_to_do", nothing_to_do},
                {"not_enough", not_enough}, {"refused", refused}, {"slots_freed", slots_freed},
                {"victims", victims}};
    }
    std::string text() const {
        const auto count = [](auto number, const std::string& thing) {
            return std::to_string(number) + " " + thing + (number == 1 ? "" : "s");
        };
        return "Sum of " + count(requests, "request") + ": " + count(plans, "plan") + " of " +
               count(victims, "victim") + " for " + count(slots_freed, "slot") + ", " +
               std::to_string(nothing_to_do) + " with nothing to do, " +
               (refused == 0 ? "" : std::to_string(refused) + " refused, ") +
               std::to_string(not_enough) +
               " for which not enough can be freed; each was planned as if those before it had "
               "their room\n";
    }
};

/// One request (what operators mostly ask for) is the decision itself; else a list of them.
nlohmann::json to_json(const Answers& answers) {
    if (answers.planned.size() == 1 && answers.ignored.empty() && !answers.listed)
        return to_json(answers.planned.front(), answers);
    nlohmann::json plans = nlohmann::json::array();
    for (const Answer& answer : answers.planned) plans.push_back(to_json(answer, answers));
    nlohmann::json ignored = nlohmann::json::array();
    for (const NoRequest& message : answers.ignored)
        ignored.push_back({{"source", message.source}, {"reason", message.reason}});
    nlohmann::json all{
        {"version", report::json_version}, {"plans", plans}, {"no_request", ignored}};
    if (answers.listed) all["sum"] = Sum(answers).json();
    return all;
}

void print(const Answers& answers, const Terminal& terminal) {
    if (wants_document(terminal)) return answer_document(terminal, to_json(answers));
    for (const NoRequest& message : answers.ignored)
        terminal.answer(message.source + ": nothing to plan: " + message.reason + "\n");
    for (const std::string& remark : answers.remarks)
        terminal.answer("Remark: " + report::safe(remark) + ".\n");
    const auto options = terminal.render_options(answers.taken_at);
    for (const Answer& answer : answers.planned) {
        if (&answer != &answers.planned.front() || !answers.ignored.empty()) terminal.answer("\n");
        for (const std::string& remark : answer.remarks)
            terminal.answer("Remark: " + report::safe(remark) + ".\n");
        terminal.answer(report::render_decision(answer.decision, answer.request, options));
    }
    if (answers.listed) terminal.answer("\n" + Sum(answers).text());
}

ExitCode verdict(const Answers& answers) {
    for (const Answer& answer : answers.planned)
        if (std::holds_alternative<NotEnough>(answer.decision) ||
            std::holds_alternative<Refused>(answer.decision))
            return ExitCode::not_enough;
    return ExitCode::ok;
}

/// What is to be planned for; none if it can't be used: then every mistake was printed.
std::optional<Inputs> read_inputs(const PlanCommand& command, const Terminal& terminal) {
    const auto complain = [&](const Error& error) {
        terminal.complain(error.what);
        return std::nullopt;
    };
    std::vector<std::pair<std::string, std::string>> messages;
    for (const std::string& path : command.notifications) {
        auto body = read_input(path);
        if (!body) return complain(body.error());
        messages.emplace_back(path == "-" ? "stdin" : path, std::move(*body));
    }
    auto inputs = sort_messages(messages);
    if (!inputs) return complain(inputs.error());
    if (command.requests_file.empty()) return std::move(*inputs);

    const auto text = read_input(command.requests_file);
    if (!text) return complain(text.error());
    const bool from_stdin = command.requests_file == "-";
    auto listed = read_requests(from_stdin ? "stdin" : command.requests_file, *text);
    if (const auto* errors = std::get_if<std::vector<std::string>>(&listed)) {
        for (const std::string& line : *errors) terminal.complain(line);
        return std::nullopt;
    }
    inputs->described = std::get<std::vector<DescribedRequest>>(std::move(listed));
    return std::move(*inputs);
}

/// Of a doubtful cloud, or a strange file, the first ones tell enough; --json has all.
void warn_of(const std::vector<std::string>& remarks) {
    constexpr std::size_t most = 100;
    for (std::size_t i = 0; i < std::min(most, remarks.size()); ++i) spdlog::warn("{}", remarks[i]);
    if (remarks.size() > most) spdlog::warn("and {} more remarks", remarks.size() - most);
}

/// The plan in a file; where there is no server to delete, there is nothing to approve.
ExitCode save(const Answers& answers, const PlanCommand& command, const Terminal& terminal) {
    const Answer& answer = answers.planned.front();
    const auto* const plan = std::get_if<Plan>(&answer.decision);
    if (plan == nullptr || plan->victims().empty()) {
        terminal.complain(command.save_file +
                          " is not written: no servers would be deleted, so there is nothing to "
                          "approve");
        return ExitCode::not_enough;
    }
    const auto saved =
        save_plan(command.save_file, command, answer.request, *plan, operator_name());
    return saved ? ExitCode::ok : terminal.fail(ExitCode::failed, saved.error());
}

ExitCode show(const Answers& answers, const PlanCommand& command, const Terminal& terminal) {
    for (const std::string& line : answers.unknown) terminal.complain(line);
    if (!answers.unknown.empty()) return ExitCode::unknown;
    warn_of(answers.cloud_remarks);
    print(answers, terminal);
    return command.save_file.empty() ? verdict(answers) : save(answers, command, terminal);
}

/// What the daemon answers.
Result<Answers> planned_by(const nlohmann::json& said) {
    return report::read_json(said, "plan", [](const JsonPlace& in) {
        Answers answers;
        answers.planned.push_back(
            {report::request_in(in["request"]), report::decision_in(in["decision"]), {}});
        answers.remarks = in["remarks"].texts();
        answers.taken_at = in["taken_at"].time();
        answers.paused = report::part_in(in, in["pause"].value(), report::pause_from_json);
        return answers;
    });
}

ExitCode plan_on_file(const GlobalOptions& global, const PlanCommand& command,
                      const Terminal& terminal) {
    auto policy = offline_policy(global, [&](const std::string& line) { terminal.complain(line); });
    if (!policy) return ExitCode::usage;
    auto inputs = read_inputs(command, terminal);
    if (!inputs) return ExitCode::usage;
    for (const DescribedRequest& each : inputs->described)
        if (!each.flavor.empty()) {
            terminal.complain("flavor " + in_quotes(each.flavor) +
                              " goes with the cloud: a snapshot has no flavors; say resources");
            return ExitCode::usage;
        }
    auto effective = effective_policy(std::move(*policy), command);
    if (!effective) return terminal.fail(ExitCode::usage, effective.error());
    const auto cloud =
        open_snapshot(command.snapshot_file, std::move(*effective), global.config_given);
    if (!cloud) return terminal.fail(ExitCode::usage, cloud.error());
    const auto answers = plan_offline(*cloud, command, std::move(*inputs));
    return answers ? show(*answers, command, terminal)
                   : terminal.fail(ExitCode::usage, answers.error());
}

/// By the daemon that --api names: on its cache, by its policy.
ExitCode plan_remotely(const GlobalOptions& global, const PlanCommand& command,
                       const Terminal& terminal) {
    auto api = daemon_api(global, terminal);
    if (!api) return ExitCode::usage;
    DescribedRequest described = command;
    described.id = id_of(described, now()).str();
    ExitCode code{};
    nlohmann::json body = body_of(described);
    if (!command.save_file.empty())
        body["approved"] = {{"by", operator_name()},
                            {"planned_at", iso_time(now())},
                            {"victims", nlohmann::json::array()}};
    const auto said = api->post("/v1/plan", std::move(body), code, ExitCode::unknown);
    if (!said) return code;
    const auto answers = taken(planned_by(*said), *api, terminal, code);
    return answers ? show(*answers, command, terminal) : code;
}

}  // namespace

ExitCode carry_out(const GlobalOptions& global, const PlanCommand& given,
                   const Terminal& terminal) {
    if (!given.snapshot_file.empty()) return plan_on_file(global, given, terminal);
    if (!global.api.url.empty()) return plan_remotely(global, given, terminal);
    PlanCommand command = given;
    // It is for a person to look at: what limits the requests of users does not limit it.
    if (!command.save_file.empty()) command.approved = Approval{operator_name(), now(), {}};
    auto settings = settings_for_looking(global, terminal);
    if (!settings) return ExitCode::usage;
    auto effective = effective_policy(settings->policy, command);
    if (!effective) return terminal.fail(ExitCode::usage, effective.error());
    settings->policy = std::move(*effective);
    if (auto wrong = compile_policy(settings->policy); !wrong)
        return terminal.fail(ExitCode::usage, wrong.error());
    auto inputs = read_inputs(command, terminal);
    if (!inputs) return ExitCode::usage;

    boost::asio::io_context io{1};
    // Messages that make no request need no cloud.
    const bool asks =
        command.notifications.empty() || !inputs->groups.empty() || !inputs->described.empty();
    const auto reached = cloud_to_look_at(io, *settings, terminal, asks);
    if (const auto* const code = std::get_if<ExitCode>(&reached)) return *code;
    const CloudToLookAt& look = std::get<CloudToLookAt>(reached);
    settings->policy = look.policy->resolved;
    auto paused = pause_in_force(settings->pause_file, settings->journal);
    std::vector<std::string> remarks = pause_remarks(paused);
    remarks.insert(remarks.end(), look.remarks.begin(), look.remarks.end());
    Ledger ledger = known_ledger(io, *settings, look.cloud.clock->now(), "planned");
    std::function<void(std::string)> progress = [&](const std::string& what) {
        terminal.progress(what);
    };
    Safeguards safeguards = known_safeguards(io, *settings, look.cloud.clock->now(), "planned");
    const auto journal = no_journal();
    if (!journal) return terminal.fail(journal.error());
    PlanningInputs planning{look.cloud.ports(),
                            command,
                            look.policy,
                            std::move(ledger),
                            std::move(safeguards),
                            std::move(progress),
                            settings->reservations,
                            **journal};
    auto answers = run_task(io, plan_requests(planning, std::move(*inputs)));
    terminal.end_progress();
    if (!answers) return terminal.fail(answers.error());
    answers->remarks = std::move(remarks);
    answers->paused = std::move(paused);
    return show(*answers, command, terminal);
}

}  // namespace reaper::cli
