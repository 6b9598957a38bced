#include "reaper/triggers/requester.hpp"

#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/request_spec/believed.hpp"
#include "reaper/runtime/async.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper {
namespace {

bool is_deleting(const Server& server) {
    return server.task_state == "deleting" || server.status == "DELETED" ||
           server.status == "SOFT_DELETED";
}

/// The servers of one request to boot that have no host, the one that the notice is about first;
/// `names` gets theirs, and outlives the call.
ResultTask<std::vector<ServerId>> read_siblings(CloudPorts cloud, ServerId first,
                                                std::string reservation, ProjectId project,
                                                std::map<ServerId, std::string>& names) {
    std::vector<ServerId> siblings{std::move(first)};
    if (reservation.empty()) co_return siblings;
    auto listed = co_await cloud.compute.servers_of(std::move(reservation));
    if (!listed) co_return listed.error();
    for (const auto& record : *listed) {
        const Server& server = record.server;
        if (server.id == siblings.front() || server.project != project || !server.host.empty() ||
            is_deleting(server))
            continue;
        siblings.push_back(server.id);
        if (!server.name.empty()) names.emplace(server.id, server.name);
    }
    co_return siblings;
}

bool is_resize(const RequesterFacts& facts) {
    return facts.action && facts.action->name == "resize";
}

}  // namespace

ResultTask<ImageProperties> read_image(CloudPorts cloud, RequestId request, std::string image) {
    auto properties = co_await cloud.images.image(std::move(image));
    if (properties) co_return properties->value_or(ImageProperties{});
    // A right that is missing does not come back by waiting.
    if (properties.error().code != Errc::forbidden) co_return properties.error();
    log_about({.request = request.str()}, spdlog::level::warn,
              "{}: its image can't be read: its traits and res-type do not count, and of its "
              "properties only those that Nova shows: {}",
              printable(request.str()), properties.error().what);
    co_return ImageProperties{};
}

RequesterFacts facts_of(const ServerRecord& record) {
    RequesterFacts facts;
    facts.deleting = is_deleting(record.server);
    facts.boot_from_volume = record.boot_from_volume;
    if (!record.server.name.empty()) facts.names.emplace(record.server.id, record.server.name);
    facts.project = record.server.project;
    facts.host = record.server.host;
    facts.flavor = record.flavor;
    facts.metadata = record.server.metadata.get();
    facts.kept_image = record.image_properties;
    facts.zone = record.zone;
    facts.same_host = record.same_host;
    facts.different_host = record.different_host;
    facts.status = record.server.status;
    facts.fault = record.fault;
    facts.shown_zone = record.shown_zone;
    facts.image = record.image;
    facts.group_ids = record.groups;
    facts.reservation = record.reservation;
    return facts;
}

ResultTask<RequesterFacts> read_failure(CloudPorts cloud, FailureNotice notice) {
    std::optional<Result<std::optional<ServerRecord>>> found;
    std::optional<Result<std::optional<ActionRecord>>> action;
    std::vector<Task<void>> parts;
    parts.push_back(keep(cloud.compute.server(notice.server), found));
    // Of an unshelving we know it from there.
    if (notice.event != FailureEvent::unshelve_server)
        parts.push_back(keep(cloud.compute.action(notice.server, notice.request_id), action));
    co_await run_all(std::move(parts));
    if (!*found) co_return found->error();
    if (!**found) {
        RequesterFacts gone;
        gone.exists = false;
        co_return gone;
    }
    RequesterFacts facts = facts_of(***found);
    if (!action || facts.deleting) co_return facts;
    if (!*action) co_return action->error();
    facts.action = std::move(**action);
    co_return facts;
}

ResultTask<RequesterFacts> read_rest(CloudPorts cloud, FailureNotice notice, RequesterFacts facts) {
    std::optional<Result<NovaRelease>> release;
    std::optional<Result<std::optional<ServerGroup>>> group;
    std::optional<Result<std::vector<ServerId>>> siblings;
    std::optional<Result<ImageProperties>> image;
    std::optional<Result<std::set<ServerId>>> migrations;
    std::vector<Task<void>> parts;
    parts.push_back(keep(cloud.compute.release(), release));
    if (notice.event == FailureEvent::migrate_server)
        parts.push_back(keep(cloud.compute.migrations_of(notice.server), migrations));
    // Nova lets a server be in one group at most.
    if (!facts.group_ids.empty())
        parts.push_back(keep(cloud.compute.server_group(facts.group_ids.back()), group));
    const bool many = notice.event == FailureEvent::build_instances && notice.num_instances > 1 &&
                      !retries_exhausted(notice);
    if (many)
        parts.push_back(
            keep(read_siblings(cloud, notice.server, facts.reservation, facts.project, facts.names),
                 siblings));
    if (!facts.image.empty() && !facts.image_is_read)
        parts.push_back(keep(read_image(cloud, notice.request_id, facts.image), image));
    co_await run_all(std::move(parts));
    if (!*release) co_return release->error();
    facts.release = **release;
    if (group) {
        if (!*group) co_return group->error();
        if (**group) facts.group = std::move(***group);
    }
    if (siblings) {
        if (!*siblings) co_return siblings->error();
        facts.siblings = std::move(**siblings);
    }
    if (image) {
        if (!*image) co_return image->error();
        facts.image_properties = std::move(**image);
    }
    if (migrations) {
        if (!*migrations) co_return migrations->error();
        facts.migrations = std::move(**migrations);
    }
    // One that is shelved has no host, but stays in the cell of its last one.
    if (notice.event == FailureEvent::unshelve_server && facts.host.empty()) {
        auto last = co_await cloud.compute.last_host(notice.server);
        if (!last) co_return last.error();
        facts.last_host = last->value_or("");
    }
    if (is_resize(facts) && !notice.flavor_id.empty()) {
        auto flavor = co_await cloud.compute.flavor(notice.flavor_id);
        if (!flavor) co_return flavor.error();
        facts.new_flavor = std::move(*flavor);
    }
    co_return facts;
}

ResultTask<RequesterFacts> read_requester(CloudPorts cloud, FailureNotice notice) {
    auto known = co_await read_failure(cloud, notice);
    if (!known || !known->exists) co_return known;
    co_return co_await read_rest(cloud, std::move(notice), std::move(*known));
}

ResultTask<std::variant<Request, Refused>> finish_request(CloudPorts cloud, FailureNotice notice,
                                                          RequesterFacts known,
                                                          std::optional<Schedule> schedule,
                                                          SchedulerRules rules) {
    auto facts = co_await read_rest(cloud, notice, std::move(known));
    if (!facts) co_return facts.error();
    const auto why = schedule ? why_not_believed(*schedule, notice, *facts) : std::nullopt;
    if (why)
        log_about({.request = notice.request_id.str()}, spdlog::level::warn,
                  "{}: what the scheduler was asked is not believed: {}",
                  printable(notice.request_id.str()), *why);
    if (!why) facts->schedule = std::move(schedule);
    co_return build_request(notice, *facts, rules);
}

ResultTask<std::variant<Request, Refused>> complete_request(CloudPorts cloud, FailureNotice notice,
                                                            std::optional<Schedule> schedule,
                                                            SchedulerRules rules) {
    auto known = co_await read_failure(cloud, notice);
    if (!known) co_return known.error();
    co_return co_await finish_request(cloud, std::move(notice), std::move(*known),
                                      std::move(schedule), std::move(rules));
}

}  // namespace reaper
