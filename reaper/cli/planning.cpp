#include "reaper/cli/planning.hpp"

#include <utility>

#include "reaper/service/decision.hpp"

namespace reaper::cli {
namespace {

/// The requests to plan for, each with remarks; messages that make none go to `answers`.
ResultTask<std::vector<Answer>> gather(PlanningDesk& desk, Inputs inputs, Answers& answers) {
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
    for (Answer& answer : *requests) {
        answer.decision = decide(desk.policy, answer.request, *picture, desk.ledger);
        // The next request must not count the room of this one.
        if (const auto* plan = std::get_if<Plan>(&answer.decision))
            desk.ledger.enter(answer.request, *plan, answers.taken_at);
    }
    answers.planned = std::move(*requests);
    co_return answers;
}

}  // namespace reaper::cli
