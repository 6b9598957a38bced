// Is freed room likely to go to new revocable servers?
#include <chrono>
#include <set>

#include "reaper/cli/check/checks.hpp"
#include "tagging/flavor.hpp"

namespace reaper::cli {

Task<void> check_revocable_demand(CloudPorts cloud, TaggerInputs tagger_inputs, bool holds_room,
                                  const std::vector<ServerRecord>& servers, const Report& report) {
    const char* const what = "freed room";
    if (holds_room) {
        report({Verdict::ok, what, "is held against new revocable servers (tagger 'resource')"});
        co_return;
    }
    std::set<ProjectId> revocable;
    for (const std::string& tag : tagger_inputs.project_tags) {
        auto projects = co_await cloud.identity.projects_with_tag(tag);
        if (!projects) co_return;  // told already
        for (const Project& project : *projects) revocable.insert(project.id);
    }
    const auto is_revocable = [&](const ServerRecord& record) {
        for (const auto& [key, value] : tagger_inputs.flavor_specs)
            if (has_extra_spec(record.flavor.extra_specs, key, value)) return true;
        return revocable.contains(record.server.project);
    };
    const TimePoint since = cloud.clock.now() - std::chrono::days{1};
    std::size_t waiting = 0;
    for (const ServerRecord& record : servers) {
        const Server& server = record.server;
        const bool unplaced =
            server.host.empty() && (server.status == "ERROR" || server.status == "BUILD");
        if (unplaced && server.created >= since && is_revocable(record)) ++waiting;
    }
    if (waiting == 0) {
        report({Verdict::ok, what,
                "is not held against new revocable servers; none of them waits for room"});
        co_return;
    }
    report({Verdict::warn, what,
            counted(waiting, "revocable server", "revocable servers") +
                " found no room within a day: new ones may take what is freed for a regular server "
                "before it comes back; the tagger 'resource' holds freed room against them"});
}

}  // namespace reaper::cli
