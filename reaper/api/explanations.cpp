#include "reaper/api/explanations.hpp"

#include <utility>

#include "reaper/api/answers.hpp"
#include "reaper/cloud_cache/cloud_cache.hpp"
#include "reaper/report/explanation.hpp"

namespace reaper::api {

namespace {

/// Of a server of the cloud, by its id or name; else why nothing is told.
HttpResponse never_chosen(const Backend& backend, const std::string& asked) {
    if (const auto view = backend.daemon.view())
        for (const Host* const host : view->cache.hosts())
            for (const Server& server : host->servers)
                if (server.id.str() == asked || server.name == asked)
                    return answered(
                        {{"asked", asked},
                         {"server", server.id.str()},
                         {"name", server.name},
                         {"host", host->service_host},
                         {"never_chosen",
                          report::why_never_chosen(server, *host, view->policy.protection)}});
    return refuse(404, report::not_explained(asked));
}

}  // namespace

Task<HttpResponse> get_explanation(const Backend& backend, ApiRequest request) {
    const Query query{request, {}};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    std::string asked = request.id;
    auto told = co_await report::find_explanation(backend.journal, std::move(asked));
    if (!told) co_return refuse(503, "the journal can't be read: " + told.error().what);
    if (!*told) co_return never_chosen(backend, request.id);
    if (const auto view = backend.daemon.view())
        report::add_names(view->cache.project_names(), **told);
    co_return answered(report::to_json(**told));
}

}  // namespace reaper::api
