#include "reaper/api/answers.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/url/url.hpp>
#include <charconv>
#include <set>
#include <utility>

#include "reaper/cloud/cache/cloud_cache.hpp"
#include "reaper/model/project_names.hpp"
#include "reaper/report/json.hpp"

namespace reaper::api {

HttpResponse answered(nlohmann::json body, int status) {
    HttpResponse response;
    response.status = status;
    body["version"] = report::json_version;
    response.body = report::dump(body) + "\n";
    return response;
}

HttpResponse cloud_not_read() {
    return refuse(503, "the cloud has not been read yet; try again in a moment");
}

HttpResponse not_readable(const Error& error) {
    return refuse(503, std::string{journal_trouble} + error.what);
}

Query::Query(const ApiRequest& request, const std::vector<std::string_view>& known)
    : request_(request) {
    std::set<std::string> seen;
    for (const auto& [name, value] : request.parameters) {
        if (std::ranges::find(known, name) == known.end()) {
            wrong_ = "unknown parameter " + in_quotes(name) + "; there " +
                     (known.empty() ? "is none" : "are: " + reaper::joined(known));
        } else if (!seen.insert(name).second) {
            wrong_ = name + " is given twice";
        }
    }
}

const std::string& Query::text(std::string_view name) const {
    static const std::string none;
    for (const auto& [given, value] : request_.parameters)
        if (given == name) return value;
    return none;
}

Result<PageAsked> page_of(const Query& query, std::size_t usual, std::size_t most) {
    PageAsked page{usual, query.text("marker")};
    const std::string& limit = query.text("limit");
    if (limit.empty()) return page;
    const auto [end, failure] =
        std::from_chars(limit.data(), limit.data() + limit.size(), page.limit);
    if (failure != std::errc{} || end != limit.data() + limit.size())
        return Error{Errc::bad_input, "limit: expected a whole number, found " + in_quotes(limit)};
    if (page.limit == 0 || page.limit > most) page.limit = most;
    return page;
}

nlohmann::json next_link(const ApiRequest& request, const std::string& marker) {
    boost::urls::url next;
    next.set_path(request.path);
    for (const auto& [name, value] : request.parameters)
        if (name != "marker") next.params().append(boost::urls::param_view{name, value});
    next.params().append(boost::urls::param_view{"marker", marker});
    return nlohmann::json::array(
        {{{"rel", "next"}, {"href", std::string(next.data(), next.size())}}});
}

Task<bool> visit_hosts(const Backend& backend, const std::vector<HostId>& ids, std::size_t at_once,
                       const HostVisit& visit) {
    const auto executor = co_await boost::asio::this_coro::executor;
    for (std::size_t begin = 0; begin < ids.size(); begin += at_once) {
        {
            // The cache may have changed since; a view is not kept while others run.
            const auto view = backend.daemon.view();
            if (!view) co_return false;
            for (std::size_t i = begin; i < std::min(begin + at_once, ids.size()); ++i)
                if (const Host* const host = view->cache.find(ids[i])) visit(*host, *view);
        }
        co_await boost::asio::post(executor, boost::asio::use_awaitable);
    }
    co_return true;
}

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
