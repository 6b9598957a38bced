#include "reaper/api/named_project.hpp"

#include <utility>

#include "reaper/api/answers.hpp"
#include "reaper/cloud_cache/cloud_cache.hpp"
#include "reaper/model/project_names.hpp"

namespace reaper::api {

Task<std::variant<ProjectId, HttpResponse>> project_of(const Backend& backend,
                                                       std::string written) {
    using Found = std::variant<ProjectId, HttpResponse>;
    if (const auto view = backend.daemon.view()) {
        const ProjectNames& names = view->cache.project_names();
        if (names.contains(ProjectId{written})) co_return Found{ProjectId{written}};
        auto named = projects_named(names, written);
        if (named.size() == 1) co_return Found{std::move(named.front())};
    }
    if (backend.identity == nullptr)
        co_return Found{refuse(503, "this daemon has no Keystone to ask for projects")};
    auto search = co_await backend.identity->find_project(std::move(written));
    if (!search) co_return Found{refuse(503, "Keystone can't be asked: " + search.error().what)};
    if (search->found) co_return Found{std::move(search->found->id)};
    co_return Found{refuse(search->several ? 400 : 404, "project: " + search->why_not)};
}

}  // namespace reaper::api
