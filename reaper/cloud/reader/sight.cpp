#include "reaper/cloud/reader/sight.hpp"

#include <map>

namespace reaper {
namespace {

/// One of them is another's than ours; if ours is known, one is enough.
std::size_t projects_wanted(const ProjectId& ours) {
    return ours.empty() ? 2 : 1;
}
/// A server may be gone since it was listed, or its cell be down.
constexpr std::size_t servers_tried = 5;

}  // namespace

ResultTask<Sight> try_sight(Compute& compute, std::vector<ListedServer> listed, ProjectId ours) {
    std::map<ProjectId, std::vector<ServerId>> by_project;
    for (const auto& server : listed) {
        if (server.project == ours) continue;
        auto& servers = by_project[server.project];
        if (servers.size() < servers_tried) servers.push_back(server.id);
    }
    Sight sight{Sight::Kind::untold, "there are too few servers of other projects to check"};
    if (by_project.size() < projects_wanted(ours)) co_return sight;
    std::optional<Error> failed;
    std::size_t seen = 0;
    for (const auto& [project, servers] : by_project) {
        if (seen == projects_wanted(ours)) break;
        for (const auto& id : servers) {
            auto record = co_await compute.server(id);
            if (!record && record.error().code == Errc::forbidden)
                co_return Sight{Sight::Kind::blocked, record.error().what};
            if (!record) failed = record.error();
            if (!record || !*record) continue;
            ++seen;
            sight.detail = "server " + id.str() + " of project " + project.str();
            break;
        }
    }
    if (seen == projects_wanted(ours))
        sight.kind = Sight::Kind::clear;
    else if (failed)
        co_return *failed;
    else
        sight.detail = "the servers of other projects are gone since they were listed";
    co_return sight;
}

}  // namespace reaper
