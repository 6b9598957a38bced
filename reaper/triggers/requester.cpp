#include "reaper/triggers/requester.hpp"

#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/request_spec/admitted_room.hpp"

namespace reaper {
namespace {

RequesterFacts facts_of(const ServerRecord& record) {
    RequesterFacts facts;
    facts.deleting = record.server.task_state == "deleting" || record.server.status == "DELETED" ||
                     record.server.status == "SOFT_DELETED";
    facts.boot_from_volume = record.boot_from_volume;
    facts.project = record.server.project;
    facts.host = record.server.host;
    facts.flavor = record.flavor;
    facts.metadata = record.server.metadata.get();
    facts.zone = record.zone;
    facts.same_host = record.same_host;
    facts.different_host = record.different_host;
    return facts;
}

}  // namespace

ResultTask<RequesterFacts> read_requester(CloudPorts cloud, FailureNotice notice) {
    auto found = co_await cloud.compute.server(notice.server);
    if (!found) co_return found.error();
    if (!found->has_value()) {
        RequesterFacts gone;
        gone.exists = false;
        co_return gone;
    }
    RequesterFacts facts = facts_of(**found);
    for (const auto& id : (*found)->groups) {
        auto group = co_await cloud.compute.server_group(id);
        if (!group) co_return group.error();
        if (*group) facts.group = std::move(**group);
    }
    // Only these two events leave open what the user asked for.
    if (notice.event == FailureEvent::migrate_server ||
        notice.event == FailureEvent::rebuild_server) {
        auto action = co_await cloud.compute.action(notice.server, notice.request_id);
        if (!action) co_return action.error();
        facts.action = action->value_or("");
    }
    // For its traits, and for its word on the room that will do.
    std::string image = notice.image_id.value_or((*found)->image);
    if (image.empty()) co_return facts;
    auto properties = co_await cloud.images.image(std::move(image));
    // A right that is missing does not come back by waiting.
    if (!properties && properties.error().code == Errc::forbidden) {
        spdlog::warn(
            "{}: its image can't be seen, so that neither its traits nor a res-type of it "
            "count: {}",
            notice.request_id.str(), properties.error().what);
        co_return facts;
    }
    if (!properties) co_return properties.error();
    facts.image_properties = properties->value_or(ImageProperties{});
    co_return facts;
}

ResultTask<std::variant<Request, Refused>> complete_request(CloudPorts cloud, FailureNotice notice,
                                                            std::optional<Schedule> schedule) {
    auto facts = co_await read_requester(cloud, notice);
    if (!facts) co_return facts.error();
    facts->schedule = std::move(schedule);
    co_return build_request(notice, *facts);
}

}  // namespace reaper
