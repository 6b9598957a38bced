#include "reaper/cli/planning.hpp"

#include <map>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/decision/decide.hpp"

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
void decide_in_turn(const CompiledPolicy& policy, const Picture& picture, Ledger& ledger,
                    Brakes& brakes, std::vector<Answer>& requests) {
    for (Answer& answer : requests) {
        answer.decision = decide(policy, answer.request, picture, ledger, brakes);
        if (const auto* plan = std::get_if<Plan>(&answer.decision))
            ledger.enter(answer.request, *plan, picture.snapshot.taken_at);
    }
}

bool knows_project(const Picture& picture, const ProjectId& project) {
    for (const auto& [tag, projects] : picture.facts.projects_by_tag)
        if (projects.contains(project)) return true;
    for (const Host& host : picture.snapshot.hosts)
        for (const Server& server : host.servers)
            if (server.project == project) return true;
    return false;
}

/// The requests to plan for, each with remarks; messages that make none go to `answers`.
ResultTask<std::vector<Answer>> gather(PlanningDesk& desk, Inputs inputs, Answers& answers) {
    std::vector<Answer> requests;
    answers.ignored = std::move(inputs.ignored);
    for (NoticeGroup& group : inputs.groups) {
        const std::string key = group.key.str();
        auto completed = co_await complete_group(desk.cloud, std::move(group));
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
    const auto described = described_by(desk.command, inputs);
    const TimePoint now = desk.cloud.clock.now();
    std::map<std::string, ProjectId> projects;  // Keystone is asked once about each
    for (std::size_t i = 0; i < described.size(); ++i) {
        const std::string& name = described[i].project;
        const std::size_t number = described.size() == 1 ? 0 : i + 1;
        Answer answer;
        if (const auto known = projects.find(name); known != projects.end()) {
            answer.request = request_of(described[i], known->second, now, number);
        } else {
            auto request =
                co_await described_request(desk.cloud.identity, described[i], now, number);
            if (!request) co_return request.error();
            projects.emplace(name, request->project);
            answer.request = std::move(*request);
        }
        requests.push_back(std::move(answer));
    }
    co_return requests;
}

void tell(const PlanningDesk& desk, std::string what) {
    if (desk.progress) desk.progress(std::move(what));
}

}  // namespace

config::Policy effective_policy(config::Policy policy, const PlanCommand& command) {
    if (command.alternatives) policy.alternatives = *command.alternatives;
    if (command.strategy && *command.strategy != policy.strategy.name)
        policy.strategy = {*command.strategy, {}};
    return policy;
}

ResultTask<Answers> plan_requests(PlanningDesk& desk, Inputs inputs) {
    Answers answers;
    answers.listed = !inputs.described.empty();
    tell(desk, "asking Nova and Keystone about the request ...");
    auto requests = co_await gather(desk, std::move(inputs), answers);
    if (!requests) co_return requests.error();
    answers.taken_at = desk.cloud.clock.now();
    if (requests->empty()) co_return answers;

    std::function<void(std::size_t, std::size_t)> progress = [&desk](std::size_t done,
                                                                     std::size_t total) {
        tell(desk, "reading the cloud: " + std::to_string(done) + " of " + std::to_string(total) +
                       " resource providers");
    };
    tell(desk, "reading the cloud: servers, hosts, projects ...");
    auto picture = co_await read_picture(desk.cloud, desk.policy.taggers, std::move(progress));
    if (!picture) co_return picture.error();
    answers.taken_at = picture->snapshot.taken_at;
    desk.ledger.expire(picture->snapshot, answers.taken_at);
    answers.doubts = picture->snapshot.remarks;
    decide_in_turn(desk.policy, *picture, desk.ledger, desk.brakes, *requests);
    answers.planned = std::move(*requests);
    co_return answers;
}

Answers plan_offline(const OfflineCloud& cloud, const PlanCommand& command, Inputs inputs) {
    const Picture& picture = cloud.picture;
    Answers answers;
    answers.listed = !inputs.described.empty();
    answers.ignored = std::move(inputs.ignored);
    answers.taken_at = picture.snapshot.taken_at;
    answers.doubts = picture.snapshot.remarks;
    for (NoticeGroup& group : inputs.groups) {
        const std::string key = group.key.str();
        auto completed = complete_group_offline(picture.snapshot, std::move(group));
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
        answer.request = request_of(described[i], ProjectId{described[i].project}, answers.taken_at,
                                    described.size() == 1 ? 0 : i + 1);
        if (!knows_project(picture, answer.request.project))
            answer.remarks.push_back("the snapshot has no server of project '" +
                                     printable(described[i].project) +
                                     "'; it is to be named by its id");
        answers.planned.push_back(std::move(answer));
    }
    Ledger ledger = cloud.ledger;
    ledger.expire(picture.snapshot, answers.taken_at);
    Brakes brakes{cloud.policy->brakes};  // a snapshot tells nothing of the past
    decide_in_turn(*cloud.policy, picture, ledger, brakes, answers.planned);
    return answers;
}

}  // namespace reaper::cli
