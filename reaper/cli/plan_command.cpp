// `reaper plan`: the daemon's way from a message to a plan, once, without the deed.
#include <optional>
#include <spdlog/spdlog.h>
#include <utility>

#include "clients/journal/sqlite_journal.hpp"
#include "reaper/cli/commands.hpp"
#include "reaper/cli/composition.hpp"
#include "reaper/cli/plan_input.hpp"
#include "reaper/cli/plan_ledger.hpp"
#include "reaper/cli/run_task.hpp"
#include "reaper/planner/planner.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/render.hpp"
#include "reaper/service/policy.hpp"

namespace reaper::cli {
namespace {

/// What came of one request.
struct Answer {
    Request request;
    Decision decision;
    std::vector<std::string> remarks;
};

struct Answers {
    std::vector<Answer> planned;
    std::vector<NoRequest> ignored;
    TimePoint taken_at{};
};

/// All that the planning needs; references to what the command holds.
struct Desk {
    CloudPorts cloud;
    const PlanCommand& command;
    const CompiledPolicy& policy;
    Ledger ledger;
    const Terminal& terminal;
};

/// The same dice for the same request as in the daemon.
std::uint64_t seed_of(const RequestId& id) {
    std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
    for (const char c : id.str()) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    return hash;
}

/// Command line over configuration. A strategy of another name has its own parameters: standards.
config::Policy effective_policy(config::Policy policy, const PlanCommand& command) {
    if (command.alternatives) policy.alternatives = *command.alternatives;
    if (command.strategy && *command.strategy != policy.strategy.name)
        policy.strategy = {*command.strategy, {}};
    return policy;
}

Decision decide(Desk& desk, const Request& request, const Picture& picture) {
    if (auto why = why_revocable(request, desk.policy.taggers, picture.facts)) {
        NothingToDo refused;
        refused.reason = "the requester is revocable itself: " + *why;
        return refused;
    }
    PlanOptions options;
    options.alternatives = desk.policy.alternatives;
    options.seed = seed_of(request.id);
    return make_plan(request, picture.snapshot, desk.ledger, *desk.policy.strategy,
                     desk.policy.strategy_name, options);
}

/// The requests to plan for, each with remarks; messages that make none go to `answers`.
ResultTask<std::vector<Answer>> gather(Desk& desk, Inputs inputs, Answers& answers) {
    std::vector<Answer> requests;
    answers.ignored = std::move(inputs.ignored);
    for (NoticeGroup& group : inputs.groups) {
        const std::string key = group.key.str();
        auto completed = co_await complete_group(desk.cloud.compute, std::move(group));
        if (!completed) co_return completed.error();
        if (const auto* refused = std::get_if<Refused>(&completed->request)) {
            answers.ignored.push_back({key, "refused: " + refused->reason});
            continue;
        }
        Answer answer;
        answer.request = std::get<Request>(std::move(completed->request));
        answer.remarks = std::move(completed->remarks);
        requests.push_back(std::move(answer));
    }
    if (desk.command.notifications.empty()) {
        const TimePoint now = desk.cloud.clock.now();
        auto request = co_await described_request(desk.cloud.identity, desk.command, now);
        if (!request) co_return request.error();
        Answer answer;
        answer.request = std::move(*request);
        requests.push_back(std::move(answer));
    }
    co_return requests;
}

ResultTask<Answers> plan_all(Desk& desk, Inputs inputs) {
    Answers answers;
    desk.terminal.progress("asking Nova and Keystone about the request ...");
    auto requests = co_await gather(desk, std::move(inputs), answers);
    if (!requests) co_return requests.error();
    answers.taken_at = desk.cloud.clock.now();
    if (requests->empty()) co_return answers;

    std::function<void(std::size_t, std::size_t)> progress = [&desk](std::size_t done,
                                                                     std::size_t total) {
        desk.terminal.progress("reading the cloud: " + std::to_string(done) + " of " +
                               std::to_string(total) + " resource providers");
    };
    desk.terminal.progress("reading the cloud: servers, hosts, projects ...");
    auto picture = co_await read_picture(desk.cloud, desk.policy.taggers, std::move(progress));
    if (!picture) co_return picture.error();
    answers.taken_at = picture->snapshot.taken_at;
    desk.ledger.expire(picture->snapshot, answers.taken_at);
    for (const std::string& remark : picture->snapshot.remarks) spdlog::warn("{}", remark);
    for (Answer& answer : *requests) {
        answer.decision = decide(desk, answer.request, *picture);
        // The next request must not count the room of this one.
        if (const auto* plan = std::get_if<Plan>(&answer.decision))
            desk.ledger.enter(answer.request, *plan, answers.taken_at);
    }
    answers.planned = std::move(*requests);
    co_return answers;
}

nlohmann::json to_json(const Answers& answers) {
    nlohmann::json plans = nlohmann::json::array();
    for (const Answer& answer : answers.planned)
        plans.push_back({{"request", report::to_json(answer.request)},
                         {"decision", report::to_json(answer.decision)},
                         {"remarks", answer.remarks}});
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
    Desk desk{cloud->ports(), command, **policy, std::move(ledger), terminal};
    auto answers = run_task(io, plan_all(desk, std::move(*inputs)));
    terminal.end_progress();
    if (!answers) return fail(ExitCode::failed, answers.error(), terminal);
    print(*answers, terminal);
    return verdict(*answers);
}

}  // namespace reaper::cli
