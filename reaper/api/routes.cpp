#include "reaper/api/routes.hpp"

#include <boost/algorithm/string/predicate.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <nlohmann/json.hpp>

#include "reaper/api/answers.hpp"
#include "reaper/api/events.hpp"
#include "reaper/api/handlers.hpp"
#include "reaper/api/health.hpp"
#include "reaper/api/plan.hpp"
#include "reaper/api/status.hpp"
#include "reaper/model/text.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper::api {
namespace {

Task<HttpResponse> list_routes(const Backend&, ApiRequest) {
    nlohmann::json list = nlohmann::json::array();
    for (const Route& route : routes())
        list.push_back({{"method", route.method}, {"path", route.path}, {"help", route.help}});
    co_return answered({{"routes", std::move(list)}});
}

const char* title_of(int status) {
    switch (status) {
        case 400: return "Bad Request";
        case 401: return "Unauthorized";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 409: return "Conflict";
        case 503: return "Service Unavailable";
        default: return "Error";
    }
}

constexpr std::string_view own_servers = "/v1/my/servers";

constexpr Route table[] = {
    {"GET", "/", "a page for people, which asks for the rest", Access::look, get_page, true},
    {"GET", "/v1", "this list", Access::look, list_routes},
    {"GET", "/metrics", "what the daemon counts and measures, in Prometheus' text format",
     Access::watch, get_metrics},
    {"GET", "/healthz", "200 while the daemon works; 503 if only a restart helps, with the reason",
     Access::watch, get_healthz},
    {"GET", "/readyz",
     "200 while a refusal of Nova's would be looked into; 503 if not, with the reasons",
     Access::watch, get_readyz},
    {"GET", "/v1/openapi.json", "all of this as an OpenAPI document", Access::look, get_openapi,
     true},
    {"GET", "/v1/status",
     "how the daemon is: paused, dry run, circuit breaker, broker, cache; and what you may",
     Access::look, get_status},
    {"GET", "/v1/hosts",
     "?limit=N&marker=ID&name=PART&zone=Z&project=NAME&resource_class=VCPU - hosts, and who uses "
     "them",
     Access::look, get_hosts},
    {"GET", "/v1/hosts/{host}", "one host, by its id or name, with its servers", Access::look,
     get_host},
    {"GET", "/v1/snapshot",
     "?limit=N&marker=ID&project=NAME - hosts as in a file of 'reaper snapshot', whole and with "
     "their servers",
     Access::look, get_snapshot},
    {"GET", "/v1/requests",
     "?limit=N&marker=ID&outcome=freed&project=ID&host=NAME&flavor=NAME&server=ID&since=2h&until="
     "TIME - requests, newest first",
     Access::look, list_requests},
    {"GET", "/v1/victims",
     "?limit=N&marker=M&outcome=freed&project=ID&host=NAME&flavor=NAME&server=ID&since=2h&until="
     "TIME&planned=true - servers whose deletion was sent, or that dry runs planned; newest first",
     Access::look, list_victims},
    {"GET", "/v1/messages",
     "?limit=N&marker=M&since=2h&until=TIME - messages that became no request, or joined one, "
     "newest first",
     Access::look, list_messages},
    {"GET", "/v1/journal_events",
     "?limit=N&marker=M&since=2h&until=TIME - what was done to the reaper itself: paused, resumed "
     "and the like, newest first",
     Access::look, list_journal_events},
    {"GET", "/v1/requests/{id}", "the whole record of a request", Access::look, get_request},
    {"GET", "/v1/totals",
     "?since=24h - outcomes, victims, refusals and the like since then, and the room that is held",
     Access::look, get_totals},
    {"GET", "/v1/timeline",
     "?since=24h&limit=48 - outcomes, victims, who took freed room and first tries, by slots of "
     "time",
     Access::look, get_timeline},
    {"GET", "/v1/usage",
     "?since=168h&until=TIME&project=NAME - server-hours and resource-hours of each project, "
     "regular and revocable apart (since: none is the month of until)",
     Access::look, get_usage},
    {"GET", "/v1/risk",
     "?since=672h&until=TIME&flavor=NAME&zone=Z&aggregate=A - evictions per 100 server-hours of "
     "revocable servers, by flavor, zone, aggregate and hour of the week",
     Access::look, get_risk},
    {"GET", "/v1/explain/{server}",
     "why a server was deleted, or skipped, by its id or name, or a request's id", Access::look,
     get_explanation},
    {"GET", "/v1/events", "what happens, as it happens (text/event-stream)", Access::look,
     get_events},
    {"POST", "/v1/plan",
     "{project, flavor, resources, groups, group_policy, slots, zone, traits, res_type, id} - a "
     "plan for now",
     Access::look, post_plan},
    {"GET", "/v1/room",
     "?flavor=NAME|resources=VCPU:1,...&count=N&zone=Z&project=P&traits=CUSTOM_A=required,... - "
     "how many such servers fit now, after which deletions, or why never",
     Access::look, get_room},
    {"GET", "/v1/reapers", "this reaper, and the one that serves the queue", Access::look,
     get_reapers},
    {"POST", "/v1/pause", "{reason} - no servers are deleted from now on (for who may act)",
     Access::act, post_pause},
    {"POST", "/v1/resume", "ends the pause, and closes the circuit breaker (for who may act)",
     Access::act, post_resume},
    {"GET", "/v1/protections", "servers that operators protect, until when and why", Access::look,
     get_protections},
    {"POST", "/v1/protect",
     "{server, until|for, reason, by} - the server, by its id or name, is never deleted by the "
     "reaper until then (for who may act)",
     Access::act, post_protect},
    {"GET", own_servers,
     "?limit=N&marker=ID - the revocable servers of your token's project, their notices, and how "
     "often such servers went lately (admin.owners)",
     Access::own, get_own_servers},
    {"POST", "/v1/vendordata",
     "{instance-id, metadata} - what Nova's DynamicJSON vendordata tells the guest of a revocable "
     "server",
     Access::look, post_vendordata},
    {"POST", "/v1/unprotect", "{server, by} - ends that (for who may act)", Access::act,
     post_unprotect},
    {"GET", "/v1/culling_candidates",
     "?flavor=NAME|resources=VCPU:1,MEMORY_MB:2048&zone=Z - hosts that could take such a server if "
     "preemptible ones went",
     Access::look, culling_candidates},
    {"POST", "/v1/requests",
     "{project, flavor, resources, groups, group_policy, slots, zone, traits, res_type, id} - "
     "frees room; answers with a line of JSON for each thing that happens, the outcome last (for "
     "who may act)",
     Access::act, post_request},
    {"GET", "/v1/reservations",
     "?limit=N&marker=ID&role=R&host=H - room that is kept for roles: what each is to have, and "
     "what of that is used, held, lent and owed",
     Access::look, get_reservations},
    {"GET", "/v1/oversubscription",
     "?limit=N&marker=ID - oversubscribed room on each host: what is published and used of it, "
     "what the estimate allows (null: it is not known), and why",
     Access::look, get_oversubscription},
    {"POST", "/v1/reserve",
     "{key, principal, dry_run, reservations: [{host, role, labels, resources, refines, lending}]} "
     "- keeps room for roles, all of it or none (for who may act)",
     Access::act, post_reserve},
    {"POST", "/v1/unreserve",
     "{key, principal, dry_run, reservations: [{host, role, labels, resources, refines, reserver, "
     "lent_too}]} - returns room to whom it was taken from (for who may act)",
     Access::act, post_unreserve},
};

/// Who only watches is not told what else there is.
bool shows(const Route& route, Access access) {
    return access != Access::watch || route.needs == Access::watch;
}

/// What stands in the path for the last part of the route's, or nothing; none: it is another one.
std::optional<std::string> matched(std::string_view route, const std::vector<std::string>& parts,
                                   std::string_view path) {
    if (!route.ends_with('}')) {
        if (route != path) return std::nullopt;
        return std::string{};
    }
    std::string known;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) known += "/" + parts[i];
    if (parts.empty() || parts.back().empty() || route.substr(0, route.rfind('/')) != known)
        return std::nullopt;
    return parts.back();
}

/// The route, and what its path says; or, of another method, the ones there are.
const Route* find_route(ApiRequest& request, Access access, std::string& methods) {
    for (const Route& route : table) {
        auto id = matched(route.path, request.parts, request.path);
        if (!id || !shows(route, access)) continue;
        if (route.method == request.method) {
            request.id = std::move(*id);
            return &route;
        }
        methods += (methods.empty() ? "" : ", ") + std::string{route.method};
    }
    return nullptr;
}

std::optional<ApiRequest> api_request_of(HttpRequest request) {
    const auto parsed = boost::urls::parse_origin_form(request.target);
    if (!parsed) return std::nullopt;
    ApiRequest asked;
    // The server sends no body then.
    asked.method = request.method == "HEAD" ? "GET" : std::move(request.method);
    asked.path = parsed->path();
    for (const auto part : parsed->segments()) asked.parts.push_back(part);
    for (const auto parameter : parsed->params())
        asked.parameters.emplace_back(parameter.key, parameter.value);
    for (const auto& [name, value] : request.headers)
        if (boost::algorithm::iequals(name, "Last-Event-ID")) asked.last_event_id = value;
    asked.body = std::move(request.body);
    return asked;
}

}  // namespace

std::span<const Route> routes() {
    return table;
}

bool is_open(const HttpRequest& request) {
    auto asked = api_request_of(request);
    std::string methods;
    const Route* const route = asked ? find_route(*asked, Access::look, methods) : nullptr;
    return route != nullptr && route->open;
}

HttpResponse refuse(int status, const std::string& why) {
    return answered({{"error", {{"code", status}, {"title", title_of(status)}, {"message", why}}}},
                    status);
}

Task<HttpResponse> answer(const Backend& backend, Caller caller, HttpRequest request) {
    auto parsed = api_request_of(std::move(request));
    if (!parsed) co_return refuse(400, "the address is no path with a query");
    std::string methods;
    const Route* const route = find_route(*parsed, caller.access, methods);
    const std::string path = printable(parsed->path, 100);
    if (caller.access == Access::own && (route == nullptr || route->needs != Access::own))
        co_return refuse(403, printable(caller.principal.value_or("you"), 255) +
                                  " has none of the roles that may ask for " + path +
                                  " (admin.roles), but may ask for " + std::string{own_servers});
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
    asked.access = caller.access;
    asked.project = std::move(caller.project);
    asked.principal = std::move(caller.principal);
    auto response = co_await route->answer(backend, std::move(asked));
    // Which machine is active is not for owners.
    const bool names_it = caller.access != Access::own && route->needs != Access::watch;
    if (response.status != 503 || !names_it || !backend.standby) co_return response;
    const auto standby = backend.standby();
    if (standby) response.body = refuse(503, *standby).body;
    co_return response;
}

}  // namespace reaper::api
