// `reaper plan`: the daemon's way from a message to a plan, once, without the deed.
#include <spdlog/spdlog.h>
#include <utility>

#include "clients/journal/sqlite_journal.hpp"
#include "reaper/cli/commands.hpp"
#include "reaper/cli/composition.hpp"
#include "reaper/cli/planning.hpp"
#include "reaper/cli/run_task.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/render.hpp"
#include "reaper/service/journalled_ledger.hpp"

namespace reaper::cli {
namespace {

/// The decision, with what it is for and what is to be known about it.
nlohmann::json to_json(const Answer& answer, const Answers& answers) {
    nlohmann::json json = report::to_json(answer.decision);
    json["asked"] = report::to_json(answer.request);
    json["remarks"] = answer.remarks;
    json["doubts"] = answers.doubts;
    return json;
}

/// One request (what operators mostly ask for) is the decision itself; else a list of them.
nlohmann::json to_json(const Answers& answers) {
    if (answers.planned.size() == 1 && answers.ignored.empty())
        return to_json(answers.planned.front(), answers);
    nlohmann::json plans = nlohmann::json::array();
    for (const Answer& answer : answers.planned) plans.push_back(to_json(answer, answers));
    nlohmann::json ignored = nlohmann::json::array();
    for (const NoRequest& message : answers.ignored)
        ignored.push_back({{"source", message.source}, {"reason", message.reason}});
    return {{"version", report::json_version}, {"plans", plans}, {"no_request", ignored}};
}

void print(const Answers& answers, const Terminal& terminal) {
    if (terminal.json()) return terminal.answer(report::dump(to_json(answers), 2) + "\n");
    for (const NoRequest& message : answers.ignored)
        terminal.answer(message.source + ": nothing to plan: " + message.reason + "\n");
    const auto options = terminal.render_options(answers.taken_at);
    for (const Answer& answer : answers.planned) {
        if (&answer != &answers.planned.front() || !answers.ignored.empty()) terminal.answer("\n");
        for (const std::string& remark : answer.remarks)
            terminal.answer("Remark: " + remark + ".\n");
        terminal.answer(report::render_decision(answer.decision, answer.request, options));
    }
}

ExitCode verdict(const Answers& answers) {
    for (const Answer& answer : answers.planned)
        if (std::holds_alternative<NotEnough>(answer.decision)) return ExitCode::not_enough;
    return ExitCode::ok;
}

/// What the journal knows of room in the making; without a journal the plan counts without it.
Ledger known_ledger(boost::asio::io_context& io, const config::Settings& settings, TimePoint now) {
    auto journal = open_journal_for_reading(settings.journal.path);
    if (!journal) {
        if (journal.error().code != Errc::not_found)
            spdlog::warn("planned without the journal: {}", journal.error().what);
        return {};
    }
    auto ledger = run_task(io, read_ledger(**journal, now, settings.cull.promise));
    if (ledger) return std::move(*ledger);
    spdlog::warn("planned without the journal: {}", ledger.error().what);
    return {};
}

Result<Inputs> read_inputs(const PlanCommand& command) {
    std::vector<std::pair<std::string, std::string>> messages;
    for (const std::string& path : command.notifications) {
        auto body = read_input(path);
        if (!body) return body.error();
        messages.emplace_back(path == "-" ? "stdin" : path, std::move(*body));
    }
    return sort_messages(messages);
}

ExitCode fail(ExitCode code, const Error& error, const Terminal& terminal) {
    terminal.complain(error.what);
    return error.code == Errc::bad_input ? ExitCode::usage : code;
}

}  // namespace

ExitCode show_plan(const GlobalOptions& global, const PlanCommand& command,
                   const Terminal& terminal) {
    const auto complain = [&](const std::string& line) { terminal.complain(line); };
    // `check` tells warnings; here they would only stand in the way.
    const auto hint = [](const std::string& line) { spdlog::info("{}", line); };
    const auto settings = load_config(global.config_file, complain, hint);
    if (!settings) return ExitCode::usage;
    auto policy = compile_policy(effective_policy(settings->policy, command));
    if (!policy) return fail(ExitCode::usage, policy.error(), terminal);
    auto inputs = read_inputs(command);
    if (!inputs) return fail(ExitCode::usage, inputs.error(), terminal);

    boost::asio::io_context io{1};
    auto cloud = connect_cloud(io, *settings);
    if (!cloud) return fail(ExitCode::usage, cloud.error(), terminal);
    Ledger ledger = known_ledger(io, *settings, cloud->clock->now());
    std::function<void(std::string)> progress = [&](const std::string& what) {
        terminal.progress(what);
    };
    PlanningDesk desk{cloud->ports(), command, **policy, std::move(ledger), std::move(progress)};
    auto answers = run_task(io, plan_requests(desk, std::move(*inputs)));
    terminal.end_progress();
    if (!answers) return fail(ExitCode::failed, answers.error(), terminal);
    for (const std::string& doubt : answers->doubts) spdlog::warn("{}", doubt);
    print(*answers, terminal);
    return verdict(*answers);
}

}  // namespace reaper::cli
