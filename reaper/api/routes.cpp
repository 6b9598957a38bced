#include "reaper/api/routes.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <spdlog/spdlog.h>

#include "reaper/api/culling_candidates.hpp"
#include "reaper/api/health.hpp"
#include "reaper/api/oversubscription.hpp"
#include "reaper/api/requests.hpp"
#include "reaper/api/reservations.hpp"
#include "reaper/model/text.hpp"
#include "reaper/report/json.hpp"

namespace reaper::api {
namespace {

Task<HttpResponse> list_routes(const Backend&, ApiRequest) {
    nlohmann::json list = nlohmann::json::array();
    for (const Route& route : routes())
        list.push_back({{"method", route.method}, {"path", route.path}, {"help", route.help}});
    HttpResponse found;
    found.body =
        report::dump({{"version", report::json_version}, {"routes", std::move(list)}}) + "\n";
    co_return found;
}

constexpr Route table[] = {
    {"GET", "/v1", "this list", Access::look, list_routes},
    {"GET", "/metrics", "what the daemon counts and measures, in Prometheus' text format",
     Access::watch, get_metrics},
    {"GET", "/healthz", "200 while the daemon works; 503 if only a restart helps, with the reason",
     Access::watch, get_healthz},
    {"GET", "/readyz",
     "200 while a refusal of Nova's would be looked into; 503 if not, with the reasons",
     Access::watch, get_readyz},
    {"GET", "/v1/culling_candidates",
     "?resources=VCPU:1,MEMORY_MB:2048 - hosts that could take a server of that size if "
     "preemptible ones went",
     Access::look, culling_candidates},
    {"POST", "/v1/requests",
     "{project, resources, groups, group_policy, slots, zone, traits, res_type, id} - frees room; "
     "answers with a line of JSON for each thing that happens, the outcome last (for who may act)",
     Access::act, post_request},
    {"GET", "/v1/reservations",
     "?role=R&host=H - room that is kept for roles: what each is to have, and what of that is "
     "used, "
     "held, lent and owed",
     Access::look, get_reservations},
    {"GET", "/v1/oversubscription",
     "oversubscribed room on each host: what is published and used of it, what the estimate allows "
     "(null: it is not known), and why",
     Access::look, get_oversubscription},
    {"POST", "/v1/reserve",
     "{key, principal, dry_run, reservations: [{host, role, labels, resources, refines, lending}]} "
     "- keeps room for roles, all of it or none (for who may act)",
     Access::act, post_reserve},
    {"POST", "/v1/unreserve",
     "{key, principal, dry_run, reservations: [{host, role, labels, resources, lent_too}]} - "
     "returns room to whom it was taken from (for who may act)",
     Access::act, post_unreserve},
};

/// Who only watches is not told what else there is.
bool shows(const Route& route, Access access) {
    return access != Access::watch || route.needs == Access::watch;
}

/// The route; or, of another method, the ones there are.
const Route* find_route(const ApiRequest& request, Access access, std::string& methods) {
    for (const Route& route : table) {
        if (route.path != request.path || !shows(route, access)) continue;
        if (route.method == request.method) return &route;
        methods += (methods.empty() ? "" : ", ") + std::string{route.method};
    }
    return nullptr;
}

std::optional<ApiRequest> api_request_of(HttpRequest request) {
    const auto parsed = boost::urls::parse_origin_form(request.target);
    if (!parsed) return std::nullopt;
    ApiRequest asked;
    asked.method = std::move(request.method);
    asked.path = parsed->path();
    for (const auto parameter : parsed->params())
        asked.parameters.emplace_back(parameter.key, parameter.value);
    asked.body = std::move(request.body);
    return asked;
}

}  // namespace

std::span<const Route> routes() {
    return table;
}

HttpResponse refuse(int status, const std::string& why) {
    HttpResponse refused;
    refused.status = status;
    refused.body = report::dump({{"version", report::json_version}, {"error", why}}) + "\n";
    return refused;
}

Task<HttpResponse> answer(const Backend& backend, Caller caller, HttpRequest request) {
    auto parsed = api_request_of(std::move(request));
    if (!parsed) co_return refuse(400, "the address is no path with a query");
    std::string methods;
    const Route* const route = find_route(*parsed, caller.access, methods);
    const std::string path = printable(parsed->path, 100);
    if (route == nullptr && methods.empty()) {
        const bool watches = caller.access == Access::watch;
        const std::string others = watches ? "there are /metrics, /healthz and /readyz here"
                                           : "GET /v1 lists what there is";
        co_return refuse(404, "there is no " + path + "; " + others);
    }
    if (route == nullptr) {
        HttpResponse refused = refuse(405, path + " takes " + methods + " only");
        refused.headers.emplace_back("Allow", methods);
        co_return refused;
    }
    if (route->needs == Access::act && caller.access != Access::act)
        co_return refuse(403, path +
                                  " is answered on the Unix socket (admin.socket), and on a "
                                  "port that demands a token or a certificate (admin.auth)");
    if (route->needs == Access::act && caller.principal)
        spdlog::info("admin API: {} {} by {}", parsed->method, path,
                     printable(*caller.principal, 255));
    ApiRequest asked = std::move(*parsed);
    asked.principal = std::move(caller.principal);
    co_return co_await route->answer(backend, std::move(asked));
}

}  // namespace reaper::api
