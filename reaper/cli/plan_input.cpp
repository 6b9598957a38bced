#include "reaper/cli/plan_input.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <set>
#include <utility>

#include "clients/amqp/nova_notification.hpp"
#include "reaper/model/text.hpp"
#include "reaper/service/requester.hpp"

namespace reaper::cli {
namespace {

constexpr std::size_t max_input_bytes = 16U * 1024 * 1024;

Error wrong(std::string what) {
    return Error{Errc::bad_input, std::move(what)};
}

Result<std::string> read_all(std::istream& in, const std::string& name) {
    std::string text;
    char block[65536];
    while (in.read(block, sizeof block) || in.gcount() > 0) {
        text.append(block, static_cast<std::size_t>(in.gcount()));
        if (text.size() > max_input_bytes) return wrong(name + " is larger than 16 MiB");
    }
    if (in.bad()) return wrong(name + " can't be read to its end");
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

}  // namespace

Result<std::string> read_input(const std::string& path) {
    if (path == "-") return read_all(std::cin, "stdin");
    std::ifstream file(path, std::ios::binary);
    if (!file) return wrong(path + " can't be opened: does it exist, and may you read it?");
    return read_all(file, path);
}

Result<Inputs> sort_messages(const std::vector<std::pair<std::string, std::string>>& messages) {
    Inputs inputs;
    for (const auto& [source, body] : messages) {
        auto parsed = parse_notification(body);
        if (const auto* bad = std::get_if<Malformed>(&parsed))
            return wrong(source + " is not a notification of Nova: " + bad->reason);
        if (const auto* ignored = std::get_if<Ignored>(&parsed)) {
            inputs.ignored.push_back({source, ignored->reason});
            continue;
        }
        if (!add_notice(inputs.groups, std::move(std::get<FailureNotice>(parsed))))
            inputs.ignored.push_back({source, "the same message was given before"});
    }
    return inputs;
}

ResultTask<PlannedInput> complete_group(Compute& compute, NoticeGroup group) {
    const FailureNotice notice = group.notices.front();
    auto facts = co_await read_requester(compute, notice);
    if (!facts) co_return facts.error();
    PlannedInput planned;
    if (!facts->exists) {
        planned.remarks.push_back("Nova knows server " + printable(notice.server.str()) +
                                  " no more: the daemon would refuse; planned with what the "
                                  "message has");
        facts->exists = true;
        facts->boot_from_volume = !notice.image_id.has_value();
    }
    planned.request = build_request(notice, *facts);
    if (auto* request = std::get_if<Request>(&planned.request)) {
        std::set<ServerId> known(request->requesters.begin(), request->requesters.end());
        for (const FailureNotice& other : group.notices)
            if (known.insert(other.server).second) request->requesters.push_back(other.server);
    }
    co_return planned;
}

ResultTask<Request> described_request(Identity& identity, PlanCommand command, TimePoint now) {
    auto project = co_await identity.find_project(command.project);
    if (!project) co_return project.error();
    if (!project->has_value()) {
        Error missing{Errc::not_found, "there is no project '" + command.project + "'"};
        co_return missing;
    }
    Request request;
    request.id = RequestId{"manual-" + std::to_string(now.time_since_epoch().count())};
    request.operation = Operation::manual;
    request.project = (*project)->id;
    request.resources = command.resources;
    request.slots = command.slots;
    request.availability_zone = command.availability_zone;
    for (const auto& name : command.required_traits) request.required_traits.insert(Trait{name});
    for (const auto& name : command.forbidden_traits) request.forbidden_traits.insert(Trait{name});
    request.sent_at = now;
    co_return request;
}

}  // namespace reaper::cli
