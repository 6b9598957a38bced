#include "reaper/cli/planning.hpp"

#include <boost/asio/this_coro.hpp>
#include <map>
#include <utility>

#include "reaper/cloud_reader/cache_refresher.hpp"
#include "reaper/decision/decide.hpp"
#include "reaper/model/text.hpp"
#include "reaper/requests/fresh_decision.hpp"
#include "reaper/rooms/room_keeper.hpp"

namespace reaper::cli {
namespace {

/// The requests that are described: those of a file, or the command's own.
std::vector<DescribedRequest> described_by(const PlanCommand& command, const Inputs& inputs) {
    if (!inputs.described.empty() || !command.notifications.empty()) return inputs.described;
    const DescribedRequest& only = command;
    return {only};
}

/// Each is decided as if the plans before it were carried out: their room is not counted again, and
/// their victims count against the limits.
void decide_in_turn(const CompiledPolicy& policy, const CloudView& cache, Ledger& ledger,
                    Safeguards& safeguards, std::vector<Answer>& requests) {
    for (Answer& answer : requests) {
        answer.decision = decide(policy, answer.request, cache, ledger, safeguards);
        if (const auto* plan = std::get_if<Plan>(&answer.decision))
            ledger.enter(answer.request, *plan, cache.snapshot.taken_at);
    }
}

void tell(const PlanningInputs& planning, std::string what) {
    if (planning.progress) planning.progress(std::move(what));
}

/// The same on the live cloud, read as the daemon reads it.
ResultTask<void> decide_on_cloud(PlanningInputs& planning, std::vector<Answer>& requests,
                                 Answers& answers) {
    const auto executor = co_await boost::asio::this_coro::executor;
    config::Cache settings;
    settings.events = false;
    CacheRefresher* reading = nullptr;
    CacheRefresher refresher{executor, planning.cloud, settings, planning.policy,
                             [&] { tell(planning, "reading the cloud: " + reading->status()); }};
    reading = &refresher;
    RoomKeeper rooms;
    rooms.restore(std::move(planning.ledger));
    FreshDecision decisions{refresher, planning.cloud.clock, rooms, planning.safeguards};
    const CloudCache& cache = refresher.cache();
    constexpr std::uint64_t any_build = 0;
    for (Answer& answer : requests) {
        std::map<ServerId, std::string> skipped;
        auto decision =
            co_await decisions.decide(planning.policy, answer.request, skipped, any_build);
        if (!decision) co_return decision.error();
        answer.decision = std::move(*decision);
        rooms.decided(answer.request, answer.decision, false, planning.cloud.clock.now(),
                      [&cache](const HostId& id) { return cache.find(id); });
    }
    answers.taken_at = cache.ages().built_at;
    answers.cloud_remarks = cache.remarks();
    co_return Result<void>{};
}

bool knows_project(const CloudView& cache, const ProjectId& project) {
    for (const auto& [tag, projects] : cache.tag_data.projects_by_tag)
        if (projects.contains(project)) return true;
    for (const Host& host : cache.snapshot.hosts)
        for (const Server& server : host.servers)
            if (server.project == project) return true;
    return false;
}

/// The requests to plan for, each with remarks; messages that make none go to `answers`.
ResultTask<std::vector<Answer>> gather(PlanningInputs& planning, Inputs inputs, Answers& answers) {
    std::vector<Answer> requests;
    answers.ignored = std::move(inputs.ignored);
    for (NoticeGroup& group : inputs.groups) {
        const std::string key = group.key.str();
        SchedulerRules rules = planning.policy->scheduler;
        auto completed =
            co_await complete_group(planning.cloud, std::move(group), std::move(rules));
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
    const auto described = described_by(planning.command, inputs);
    const TimePoint now = planning.cloud.clock.now();
    std::map<std::string, ProjectId> projects;  // Keystone is asked once about each
    for (std::size_t i = 0; i < described.size(); ++i) {
        const std::string& name = described[i].project;
        const std::size_t number = described.size() == 1 ? 0 : i + 1;
        Answer answer;
        if (const auto known = projects.find(name); known != projects.end()) {
            answer.request =
                request_of(described[i], id_of(described[i], now, number), known->second, now);
        } else {
            auto request =
                co_await described_request(planning.cloud.identity, described[i], now, number);
            if (!request) co_return request.error();
            projects.emplace(name, request->project);
            answer.request = std::move(*request);
        }
        requests.push_back(std::move(answer));
    }
    co_return requests;
}

}  // namespace

config::Policy effective_policy(config::Policy policy, const PlanCommand& command) {
    if (command.alternatives) policy.alternatives = *command.alternatives;
    if (command.strategy && *command.strategy != policy.strategy.name)
        policy.strategy = {*command.strategy, {}};
    return policy;
}

ResultTask<Answers> plan_requests(PlanningInputs& planning, Inputs inputs) {
    Answers answers;
    answers.listed = !inputs.described.empty();
    tell(planning, "asking Nova and Keystone about the request ...");
    auto requests = co_await gather(planning, std::move(inputs), answers);
    if (!requests) co_return requests.error();
    answers.taken_at = planning.cloud.clock.now();
    if (requests->empty()) co_return answers;

    auto decided = co_await decide_on_cloud(planning, *requests, answers);
    if (!decided) co_return decided.error();
    answers.planned = std::move(*requests);
    co_return answers;
}

Answers plan_offline(const OfflineCloud& cloud, const PlanCommand& command, Inputs inputs) {
    const CloudView& cache = cloud.cache;
    Answers answers;
    answers.listed = !inputs.described.empty();
    answers.ignored = std::move(inputs.ignored);
    answers.taken_at = cache.snapshot.taken_at;
    answers.cloud_remarks = cache.snapshot.remarks;
    for (NoticeGroup& group : inputs.groups) {
        const std::string key = group.key.str();
        auto completed =
            complete_group_offline(cache.snapshot, std::move(group), cloud.policy->scheduler);
        if (const auto* refused = std::get_if<Refused>(&completed.request)) {
            answers.ignored.push_back({key, "refused: " + refused->reason});
            continue;
        }
        Answer answer;
        answer.request = std::get<Request>(std::move(completed.request));
        answer.remarks = std::move(completed.remarks);
        answers.planned.push_back(std::move(answer));
    }
    const auto described = described_by(command, inputs);
    for (std::size_t i = 0; i < described.size(); ++i) {
        Answer answer;
        RequestId id = id_of(described[i], answers.taken_at, described.size() == 1 ? 0 : i + 1);
        answer.request = request_of(described[i], std::move(id), ProjectId{described[i].project},
                                    answers.taken_at);
        if (!knows_project(cache, answer.request.project))
            answer.remarks.push_back("the snapshot has no server of project '" +
                                     printable(described[i].project) +
                                     "'; it is to be named by its id");
        answers.planned.push_back(std::move(answer));
    }
    Ledger ledger = cloud.ledger;
    ledger.expire(cache.snapshot, answers.taken_at);
    Safeguards safeguards{cloud.policy->safeguards};  // a snapshot tells nothing of the past
    decide_in_turn(*cloud.policy, cache, ledger, safeguards, answers.planned);
    return answers;
}

}  // namespace reaper::cli
