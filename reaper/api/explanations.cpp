#include "reaper/api/explanations.hpp"

#include <utility>

#include "reaper/api/answers.hpp"
#include "reaper/cloud_cache/cloud_cache.hpp"
#include "reaper/report/explanation.hpp"

namespace reaper::api {

Task<HttpResponse> get_explanation(const Backend& backend, ApiRequest request) {
    const Query query{request, {}};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    std::string asked = request.id;
    auto told = co_await report::find_explanation(backend.feed, std::move(asked));
    if (!told) co_return refuse(503, "the journal can't be read: " + told.error().what);
    if (!*told) co_return refuse(404, report::not_explained(request.id));
    if (const auto view = backend.view()) report::add_names(view->cache.project_names(), **told);
    co_return answered(report::to_json(**told));
}

}  // namespace reaper::api
