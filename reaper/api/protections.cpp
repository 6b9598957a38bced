#include <utility>

#include "reaper/api/answers.hpp"
#include "reaper/api/handlers.hpp"
#include "reaper/cloud/cache/cloud_cache.hpp"
#include "reaper/controllers/safeguards/server_protections.hpp"
#include "reaper/json/json_place.hpp"
#include "reaper/json/json_text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/report/json.hpp"

namespace reaper::api {
namespace {

using nlohmann::json;

constexpr std::size_t longest_server_name = 255;
constexpr std::size_t longest_protection_reason = 1000;
constexpr Duration longest_protection = std::chrono::days{3650};

/// `{server, until, for, reason, by}`; to end one: `{server, by}`.
struct AskedProtection {
    std::string server;
    std::optional<TimePoint> until;
    std::string reason;
    std::string by;
};

Result<AskedProtection> protection_in(const std::string& body, TimePoint now, bool ends) {
    try {
        const auto document = parse_body(body);
        if (!document) return document.error();
        const JsonPlace place{*document, "the body"};
        place.each_member([&](const std::string& name, const JsonPlace& member) {
            const bool known = name == "server" || name == "by" ||
                               (!ends && (name == "until" || name == "for" || name == "reason"));
            if (!known) member.fail("it is not known here");
        });
        AskedProtection asked;
        asked.server = place["server"].text(longest_server_name);
        place["server"].expect(!asked.server.empty(), "the id or name of a server");
        if (const auto by = place.maybe("by")) asked.by = by->text(longest_server_name);
        if (ends) return asked;
        if (const auto reason = place.maybe("reason"))
            asked.reason = reason->text(longest_protection_reason);
        const auto until = place.maybe("until");
        const auto span = place.maybe("for");
        if (until && span) span->fail("'until' and 'for': one of the two");
        if (until) asked.until = until->time();
        if (span) {
            const auto duration = parse_duration(span->text(longest_server_name));
            if (!duration || *duration > longest_protection)
                span->fail("expected a span such as 30min or 24h");
            asked.until = now + *duration;
        }
        if (asked.until && *asked.until <= now)
            (until ? *until : *span).fail("that time is over already");
        return asked;
    } catch (const WrongJson& wrong) {
        return Error{Errc::bad_input, wrong.what};
    }
}

std::vector<const Server*> servers_named(const CloudCache& cache, const std::string& text) {
    if (const Server* const server = cache.find(ServerId{text})) return {server};
    std::vector<const Server*> named;
    for (const Host* const host : cache.hosts())
        for (const Server& server : host->servers)
            if (is_name(text, server.name)) named.push_back(&server);
    return named;
}

std::vector<ServerId> protected_named(const ServerProtections& protections,
                                      const std::string& text) {
    if (protections.all().contains(ServerId{text})) return {ServerId{text}};
    std::vector<ServerId> named;
    for (const auto& [server, protection] : protections.all())
        if (is_name(text, protection.name)) named.push_back(server);
    return named;
}

HttpResponse several_named(const std::string& text, const std::vector<std::string>& ids) {
    std::string list;
    for (std::size_t i = 0; i < ids.size() && i < 5; ++i)
        list += (i == 0 ? "" : ", ") + printable(ids[i], 64);
    return refuse(400, std::to_string(ids.size()) + " servers are named " + in_quotes(text) +
                           ": give the id of one (" + list + (ids.size() > 5 ? ", ..." : "") + ")");
}

std::string who_protects(const ApiRequest& request, const std::string& said) {
    if (request.principal) return *request.principal;
    return said.empty() ? "the admin API" : said;
}

/// Why nothing can be changed here; none: it can.
std::optional<HttpResponse> why_unchangeable(const Backend& backend) {
    if (backend.daemon.status().dry_run)
        return refuse(
            409,
            "a dry run deletes no servers, and keeps no protections. In this order: reaper "
            "pause, restart it without dry_run, reaper protect, reaper resume");
    if (backend.daemon.protections() == nullptr || backend.clock == nullptr)
        return refuse(503, "the daemon has not started yet");
    return std::nullopt;
}

}  // namespace

Task<HttpResponse> get_protections(const Backend& backend, ApiRequest request) {
    const Query query{request, {}};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    if (backend.daemon.protections() == nullptr)
        co_return refuse(503, "the daemon has not started yet");
    json list = json::array();
    for (const auto& [server, protection] : backend.daemon.protections()->all())
        list.push_back(report::to_json(protection));
    co_return answered({{"protections", std::move(list)}});
}

Task<HttpResponse> post_protect(const Backend& backend, ApiRequest request) {
    if (auto no = why_unchangeable(backend)) co_return std::move(*no);
    const TimePoint now = backend.clock->now();
    const auto asked = protection_in(request.body, now, false);
    if (!asked) co_return refuse(400, asked.error().what);
    ServerProtection protection;
    {
        const auto view = backend.daemon.view();
        if (!view) co_return refuse(503, "the daemon has not read the cloud yet");
        const auto found = servers_named(view->cache, asked->server);
        std::vector<std::string> ids;
        for (const Server* const server : found) ids.push_back(server->id.str());
        if (ids.size() > 1) co_return several_named(asked->server, ids);
        if (found.empty())
            co_return refuse(
                404, "no host has a server " + in_quotes(asked->server) + " (an id, or a name)");
        protection.server = found.front()->id;
        protection.name = found.front()->name;
    }
    protection.since = now;
    protection.until = asked->until;
    protection.by = who_protects(request, asked->by);
    protection.reason = asked->reason;
    const json told = report::to_json(protection);
    auto done = co_await backend.daemon.protections()->protect(std::move(protection));
    if (!done) co_return refuse(503, done.error().what);
    co_return answered({{"protection", told}});
}

Task<HttpResponse> post_unprotect(const Backend& backend, ApiRequest request) {
    if (auto no = why_unchangeable(backend)) co_return std::move(*no);
    const auto asked = protection_in(request.body, backend.clock->now(), true);
    if (!asked) co_return refuse(400, asked.error().what);
    const auto found = protected_named(*backend.daemon.protections(), asked->server);
    std::vector<std::string> ids;
    for (const ServerId& server : found) ids.push_back(server.str());
    if (ids.size() > 1) co_return several_named(asked->server, ids);
    if (found.empty())
        co_return refuse(404, "no operator protects a server " + in_quotes(asked->server));
    ServerId server = found.front();
    std::string by = who_protects(request, asked->by);
    auto was = co_await backend.daemon.protections()->unprotect(std::move(server), std::move(by));
    if (!was) co_return refuse(503, was.error().what);
    co_return answered({{"was", *was ? report::to_json(**was) : json(nullptr)}});
}

}  // namespace reaper::api
