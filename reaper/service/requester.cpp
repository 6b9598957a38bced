#include "reaper/service/requester.hpp"

#include <utility>

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
    return facts;
}

}  // namespace

ResultTask<RequesterFacts> read_requester(Compute& compute, FailureNotice notice) {
    auto found = co_await compute.server(notice.server);
    if (!found) co_return found.error();
    if (!found->has_value()) {
        RequesterFacts gone;
        gone.exists = false;
        co_return gone;
    }
    RequesterFacts facts = facts_of(**found);
    for (const auto& id : (*found)->groups) {
        auto group = co_await compute.server_group(id);
        if (!group) co_return group.error();
        if (*group) facts.group = std::move(**group);
    }
    // Only these two events leave open what the user asked for.
    if (notice.event == FailureEvent::migrate_server ||
        notice.event == FailureEvent::rebuild_server) {
        auto action = co_await compute.action(notice.server, notice.request_id);
        if (!action) co_return action.error();
        facts.action = action->value_or("");
    }
    co_return facts;
}

ResultTask<std::variant<Request, Refused>> complete_request(Compute& compute, FailureNotice notice,
                                                            std::optional<Schedule> schedule) {
    auto facts = co_await read_requester(compute, notice);
    if (!facts) co_return facts.error();
    facts->schedule = std::move(schedule);
    co_return build_request(notice, *facts);
}

}  // namespace reaper
