#include "reaper/cli/cloud/planning.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <fstream>
#include <iostream>
#include <set>
#include <utility>

#include "reaper/cli/cloud/names_of_projects.hpp"
#include "reaper/cli/cloud/reading.hpp"
#include "reaper/cli/past/replay_policies.hpp"
#include "reaper/decision/decide.hpp"
#include "reaper/decision/room_oracle.hpp"
#include "reaper/model/named_records.hpp"
#include "reaper/model/text.hpp"
#include "reaper/notifications/nova_notification.hpp"
#include "reaper/request_spec/believed.hpp"
#include "reaper/rooms/room_keeper.hpp"
#include "reaper/triggers/flavor_search.hpp"
#include "reaper/triggers/requester.hpp"

namespace reaper::cli {
namespace {

Error unreadable(std::string what) {
    return Error{Errc::bad_input, std::move(what)};
}

Result<std::string> read_all(std::istream& in, const std::string& name, std::size_t max_mib) {
    std::string text;
    char block[65536];
    while (in.read(block, sizeof block) || in.gcount() > 0) {
        text.append(block, static_cast<std::size_t>(in.gcount()));
        if (text.size() > max_mib * 1024 * 1024)
            return unreadable(name + " is larger than " + std::to_string(max_mib) + " MiB");
    }
    if (in.bad()) return unreadable(name + " can't be read to its end");
    return text;
}

/// Adds the notice to its request; false if the same message is there already.
bool add_notice(std::vector<NoticeGroup>& groups, FailureNotice notice) {
    const RequestId key = request_key(notice);
    auto group = std::ranges::find(groups, key, &NoticeGroup::key);
    if (group == groups.end()) group = groups.insert(groups.end(), NoticeGroup{key, {}});
    const bool known = std::ranges::any_of(group->notices, [&](const FailureNotice& other) {
        return other.message_id == notice.message_id;
    });
    if (!known) group->notices.push_back(std::move(notice));
    return !known;
}

/// The request of the first message, which waits for the servers of all.
std::variant<Request, Refused> request_of_all(const NoticeGroup& group, const RequesterFacts& facts,
                                              const SchedulerRules& rules) {
    auto built = build_request(group.notices.front(), facts, rules);
    if (auto* request = std::get_if<Request>(&built)) {
        std::set<ServerId> known(request->requesters.begin(), request->requesters.end());
        for (const FailureNotice& other : group.notices)
            if (known.insert(other.server).second) request->requesters.push_back(other.server);
    }
    return built;
}

const Server* find_server(const Snapshot& snapshot, const ServerId& id) {
    for (const Host& host : snapshot.hosts)
        for (const Server& server : host.servers)
            if (server.id == id) return &server;
    return nullptr;
}

}  // namespace

Result<std::string> read_input(const std::string& path, std::size_t max_mib) {
    if (path == "-") return read_all(std::cin, "stdin", max_mib);
    std::ifstream file(path, std::ios::binary);
    if (!file) return unreadable(path + " can't be opened: does it exist, and may you read it?");
    return read_all(file, path, max_mib);
}

Result<Inputs> sort_messages(const std::vector<std::pair<std::string, std::string>>& messages) {
    Inputs inputs;
    for (const auto& [source, body] : messages) {
        auto parsed = parse_notification(body);
        if (const auto* bad = std::get_if<Malformed>(&parsed))
            return unreadable(source + " is not a notification of Nova: " + bad->reason);
        if (const auto* ignored = std::get_if<Ignored>(&parsed)) {
            inputs.ignored.push_back({source, ignored->reason});
            continue;
        }
        if (!add_notice(inputs.groups, std::move(std::get<FailureNotice>(parsed))))
            inputs.ignored.push_back({source, "the same message was given before"});
    }
    return inputs;
}

ResultTask<PlannedInput> complete_group(CloudPorts cloud, NoticeGroup group, SchedulerRules rules) {
    const FailureNotice notice = group.notices.front();
    auto facts = co_await read_requester(cloud, notice);
    if (!facts) co_return facts.error();
    PlannedInput planned;
    // Captured messages may be old: their age is no matter here.
    const auto doubt =
        why_not_believed(notice, *facts, cloud.clock.now(), std::chrono::hours{24 * 365 * 100});
    if (doubt)
        planned.remarks.push_back(doubt->reason +
                                  ": the daemon would refuse; planned as if it were so");
    if (!facts->exists) {
        planned.remarks.push_back("Nova knows server " + printable(notice.server.str()) +
                                  " no more: the daemon would refuse; planned with what the "
                                  "message has");
        facts->exists = true;
        facts->boot_from_volume = !notice.image_id.has_value();
        auto release = co_await cloud.compute.release();
        if (!release) co_return release.error();
        facts->release = *release;
    }
    planned.request = request_of_all(group, *facts, rules);
    co_return planned;
}

RequestId id_of(const DescribedRequest& described, TimePoint now, std::size_t number) {
    if (!described.id.empty()) return RequestId{described.id};
    const std::string count = number == 0 ? "" : "-" + std::to_string(number);
    return RequestId{"manual-" + std::to_string(now.time_since_epoch().count()) + count};
}

ResultTask<std::variant<Request, UnknownName>> described_request(Identity& identity,
                                                                 DescribedRequest described,
                                                                 TimePoint now,
                                                                 std::size_t number) {
    using Found = std::variant<Request, UnknownName>;
    auto project = co_await identity.find_project(described.project);
    if (!project) co_return project.error();
    if (!project->found) co_return Found{UnknownName{std::move(project->why_not)}};
    RequestId id = id_of(described, now, number);
    Request request = request_of(described, std::move(id), project->found->id, now);
    request.project_name = std::move(project->found->name);
    co_return Found{std::move(request)};
}

namespace {

/// As complete_group, from the message and a snapshot alone; of an unknown release, as if it were
/// the oldest.
PlannedInput complete_group_offline(const Snapshot& snapshot, NoticeGroup group,
                                    const SchedulerRules& rules) {
    const FailureNotice& notice = group.notices.front();
    PlannedInput planned;
    RequesterFacts facts;
    facts.boot_from_volume = !notice.image_id.has_value();
    const Server* const server = find_server(snapshot, notice.server);
    if (server != nullptr) {
        facts.project = server->project;
        facts.host = server->host;
        facts.metadata = server->metadata.get();
    } else {
        planned.remarks.push_back("the snapshot has no server " + printable(notice.server.str()) +
                                  " on a host; planned with what the message has");
    }
    planned.request = request_of_all(group, facts, rules);
    return planned;
}

/// The request of messages, with its key; a refused one is ignored.
void add_completed(const std::string& key, PlannedInput completed, std::vector<Answer>& requests,
                   Answers& answers) {
    if (const auto* refused = std::get_if<Refused>(&completed.request)) {
        answers.ignored.push_back({key, "refused: " + refused->reason});
        return;
    }
    Answer answer;
    answer.request = std::get<Request>(std::move(completed.request));
    answer.remarks = std::move(completed.remarks);
    requests.push_back(std::move(answer));
}

/// The requests that are described: those of a file, or the command's own.
std::vector<DescribedRequest> described_by(const PlanCommand& command, const Inputs& inputs) {
    if (!inputs.described.empty() || !command.notifications.empty()) return inputs.described;
    const DescribedRequest& only = command;
    return {only};
}

/// As if the answer before the next one had been carried out: what its slots take is its own, freed
/// or there already, and its victims count against the limits.
void hold_for_later(RoomKeeper& rooms, const Answer& answer, TimePoint now,
                    const Ledger::HostLookup& host_of) {
    if (const auto* nothing = std::get_if<NothingToDo>(&answer.decision))
        rooms.takes(answer.request, *nothing, now);
    else
        rooms.decided(answer.request, answer.decision, false, now, host_of);
}

/// Only a description may name what is not there: Nova's messages name what Nova knows.
void tell_unknown(const Answer& answer, const CloudIndex& hosts, Answers& answers) {
    const Request& request = answer.request;
    if (request.operation != Operation::manual) return;
    auto why = answer.without_flavor ? why_unknown(*answer.without_flavor, hosts) : std::nullopt;
    if (!why) why = why_unknown(request, hosts);
    if (why)
        answers.unknown.push_back(
            answers.listed ? "request " + printable(request.id.str()) + ": " + *why : *why);
}

/// The index is kept from one request to the next, as the daemon keeps its own.
void decide_in_turn(const CompiledPolicy& policy, const CloudView& cache, Ledger ledger,
                    Safeguards& safeguards, Answers& answers) {
    const CloudIndex hosts{cache.snapshot, policy.protection};
    const TimePoint now = cache.snapshot.taken_at;
    RoomKeeper rooms;
    rooms.restore(std::move(ledger));
    const ProjectNames& names = cache.snapshot.project_names;
    for (Answer& answer : answers.planned) {
        tell_unknown(answer, hosts, answers);
        add_names(names, answer.request);
        answer.decision =
            decide(policy, answer.request, hosts, cache.tag_data, rooms.ledger(), now, safeguards);
        add_names(names, answer.decision);
        hold_for_later(rooms, answer, now, [&](const HostId& id) { return hosts.find(id); });
    }
}

void tell(const PlanningInputs& planning, std::string what) {
    if (planning.progress) planning.progress(std::move(what));
}

/// The same on the live cloud, read as the daemon reads it.
ResultTask<void> decide_on_cloud(PlanningInputs& planning, std::vector<Answer>& requests,
                                 Answers& answers) {
    const auto executor = co_await boost::asio::this_coro::executor;
    CloudReading::Inputs parts{
        planning.cloud,        planning.policy,  std::move(planning.ledger), planning.safeguards,
        planning.reservations, planning.journal, planning.progress};
    CloudReading reading{executor, std::move(parts)};
    NamesOfProjects asked{executor, planning.cloud.identity, planning.cloud.clock};
    auto read = co_await reading.read(CloudReading::Depth::bulk);
    if (!read) co_return read.error();
    auto names = co_await asked.take();
    if (names)
        reading.name_projects(std::move(*names));
    else if (auto why = why_ids_alone(names.error()))
        answers.cloud_remarks.push_back(std::move(*why));
    if (planning.reservations.enabled && requests.size() > 1)
        answers.cloud_remarks.push_back(
            "what reservations release is shown for each request by itself: it may be the same "
            "room");
    constexpr std::uint64_t any_build = 0;
    const CloudCache& cache = reading.cache();
    for (Answer& answer : requests) {
        std::map<ServerId, std::string> skipped;
        auto decision = co_await reading.decisions().decide(planning.policy, answer.request,
                                                            skipped, any_build);
        if (!decision) co_return decision.error();
        answer.decision = std::move(*decision);
        tell_unknown(answer, cache.index(), answers);
        hold_for_later(reading.rooms(), answer, planning.cloud.clock.now(),
                       [&cache](const HostId& id) { return cache.find(id); });
    }
    answers.taken_at = cache.ages().built_at;
    for (std::string& remark : reading.remarks())
        answers.cloud_remarks.push_back(std::move(remark));
    co_return Result<void>{};
}

/// Those of a file that were searched: Nova is asked once about each.
using Flavors = std::map<std::string, FlavorSearch>;

/// The request, of the flavor; none, and told, if the cloud has no such flavor.
ResultTask<std::optional<Request>> named_flavor(PlanningInputs& planning, Answers& answers,
                                                Flavors& known, Request request,
                                                std::string written) {
    auto at = known.find(written);
    if (at == known.end()) {
        std::string name = written;
        auto search = co_await find_flavor(planning.cloud.compute, std::move(name));
        if (!search) co_return search.error();
        at = known.emplace(std::move(written), std::move(*search)).first;
    }
    SchedulerRules rules = planning.policy->scheduler;
    FlavorSearch found = at->second;
    auto made = co_await with_found_flavor(planning.cloud.compute, std::move(request),
                                           std::move(found), std::move(rules));
    if (!made) co_return made.error();
    if (const auto* const refused = std::get_if<Refused>(&*made))
        co_return Error{Errc::bad_input, refused->reason};
    if (auto* const unknown = std::get_if<UnknownFlavor>(&*made)) {
        answers.unknown.push_back(std::move(unknown->why));
        co_return std::optional<Request>{};
    }
    co_return std::optional<Request>{std::get<Request>(std::move(*made))};
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
        add_completed(key, std::move(*completed), requests, answers);
    }
    const auto described = described_by(planning.command, inputs);
    const TimePoint now = planning.cloud.clock.now();
    std::map<std::string, ProjectId> projects;  // Keystone is asked once about each
    Flavors flavors;
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
            if (auto* const unknown = std::get_if<UnknownName>(&*request)) {
                answers.unknown.push_back(std::move(unknown->why));
                continue;
            }
            answer.request = std::get<Request>(std::move(*request));
            projects.emplace(name, answer.request.project);
        }
        if (!described[i].flavor.empty()) {
            answer.without_flavor = answer.request;
            auto made = co_await named_flavor(planning, answers, flavors, std::move(answer.request),
                                              described[i].flavor);
            if (!made) co_return made.error();
            if (!*made) continue;
            answer.request = std::move(**made);
        }
        requests.push_back(std::move(answer));
    }
    co_return requests;
}

}  // namespace

Result<config::Policy> effective_policy(config::Policy policy, const PlanCommand& command) {
    if (command.alternatives) policy.alternatives = *command.alternatives;
    if (!command.strategy || *command.strategy == policy.strategy.name) return policy;
    auto strategy = strategy_of(*command.strategy);
    if (!strategy) return strategy.error();
    policy.strategy = std::move(*strategy);
    return policy;
}

ResultTask<Answers> plan_requests(PlanningInputs& planning, Inputs inputs) {
    Answers answers;
    answers.listed = !inputs.described.empty();
    tell(planning, "asking Nova and Keystone about the request ...");
    auto requests = co_await gather(planning, std::move(inputs), answers);
    if (!requests) co_return requests.error();
    answers.taken_at = planning.cloud.clock.now();
    if (requests->empty() || !answers.unknown.empty()) co_return answers;

    auto decided = co_await decide_on_cloud(planning, *requests, answers);
    if (!decided) co_return decided.error();
    answers.planned = std::move(*requests);
    co_return answers;
}

Result<Answers> plan_offline(const OfflineCloud& cloud, const PlanCommand& command, Inputs inputs) {
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
        add_completed(key, std::move(completed), answers.planned, answers);
    }
    const auto described = described_by(command, inputs);
    for (std::size_t i = 0; i < described.size(); ++i) {
        Answer answer;
        RequestId id = id_of(described[i], answers.taken_at, described.size() == 1 ? 0 : i + 1);
        auto project = project_in_file(cache, described[i].project);
        if (!project) {
            if (project.error().code != Errc::not_found) return project.error();
            answers.unknown.push_back(project.error().what);
            continue;
        }
        answer.request =
            request_of(described[i], std::move(id), std::move(project->id), answers.taken_at);
        if (!project->remark.empty()) answer.remarks.push_back(std::move(project->remark));
        answers.planned.push_back(std::move(answer));
    }
    if (!answers.unknown.empty()) return answers;
    Safeguards safeguards{cloud.policy->safeguards};  // a snapshot tells nothing of the past
    decide_in_turn(*cloud.policy, cache, cloud.ledger, safeguards, answers);
    return answers;
}

}  // namespace reaper::cli
