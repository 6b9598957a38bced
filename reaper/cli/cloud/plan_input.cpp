#include "reaper/cli/cloud/plan_input.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <set>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/notifications/nova_notification.hpp"
#include "reaper/request_spec/believed.hpp"
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
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const NoticeGroup& known) { return known.key == key; });
    if (group == groups.end()) group = groups.insert(groups.end(), NoticeGroup{key, {}});
    const bool known = std::any_of(
        group->notices.begin(), group->notices.end(),
        [&](const FailureNotice& other) { return other.message_id == notice.message_id; });
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

}  // namespace reaper::cli
