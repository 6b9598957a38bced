// The administrator's endpoint: state, clock, faults, held deletions, resets, messages, the
// witness.
#include <algorithm>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/cloudsim/api/call.hpp"
#include "tests/cloudsim/api/site.hpp"
#include "tests/cloudsim/core/seeding.hpp"

namespace reaper::cloudsim {

namespace {

using Json = nlohmann::json;

Response done() {
    return json_response(200, R"({"done":true})");
}

Json body_of(const Request& request) {
    if (request.body.empty()) return Json::object();
    Json document = Json::parse(request.body, nullptr, false);
    if (!document.is_object()) throw ApiError(400, "the body must be a JSON object");
    return document;
}

/// Unknown members are mistakes.
void allow(const Json& said, std::initializer_list<std::string_view> known) {
    for (const auto& [key, value] : said.items())
        if (std::find(known.begin(), known.end(), key) == known.end())
            throw ApiError(400, "unknown member \"" + key + "\"");
}

Micros seconds_in(const Json& said, const char* key) {
    if (!said.contains(key)) return Micros(0);
    return Micros(static_cast<std::int64_t>(said[key].get<double>() * 1e6));
}

Response state(Site& site, const Request&) {
    World& world = site.world();
    std::map<NameId, bool> by_project;  // of 100,000 servers, few have another project
    std::size_t revocable = 0;
    for (const Server* server : world.nova.listed()) {
        const auto [at, is_new] = by_project.try_emplace(server->project, false);
        if (is_new) at->second = world.is_revocable(*server);
        revocable += at->second;
    }
    JsonWriter json;
    json.open_object().member("hosts", world.nova.hosts.size());
    json.member("servers", world.nova.listed().size()).member("revocable", revocable);
    json.member("soft_deleted", world.nova.soft_deleted().size());
    json.member("providers", world.placement.providers().size());
    json.member("consumers", world.placement.consumer_count());
    json.member("pending", world.clock.pending()).member("respawn", world.respawn);
    json.member("requests", site.witness().requests()).member("last", site.witness().last());
    if (site.notifier().state_json) json.name("notifier").raw(site.notifier().state_json());
    json.close_object();
    return json_response(200, json.take());
}

Response show_clock(Site& site, const Request&) {
    const Clock& clock = site.world().clock;
    JsonWriter json;
    json.open_object().member("now", iso_micro(clock.now())).member("speed", clock.speed());
    json.member("manual", clock.manual()).member("pending", clock.pending()).close_object();
    return json_response(200, json.take());
}

Response set_clock(Site& site, const Request& request) {
    const Json said = body_of(request);
    allow(said, {"speed", "manual", "advance_s"});
    Clock& clock = site.world().clock;
    if (said.contains("speed")) {
        const double speed = said["speed"].get<double>();
        if (!(speed > 0 && speed <= 100'000)) throw ApiError(400, "speed must be in (0, 100000]");
        clock.set_speed(speed);
    }
    if (said.contains("manual")) clock.set_manual(said["manual"].get<bool>());
    if (said.contains("advance_s")) clock.advance(seconds_in(said, "advance_s"));
    clock.run_due();
    return show_clock(site, request);
}

void write_rule(JsonWriter& json, const FaultRule& rule) {
    json.open_object().member("id", rule.number).member("method", rule.method);
    json.member("pattern", rule.pattern).member("user", rule.user).member("skip", rule.skip);
    json.member("count", rule.count)
        .member("latency_s", static_cast<double>(rule.latency.count()) / 1e6);
    json.member("status", rule.status).member("truncate_at", rule.truncate_at);
    json.member("drop", rule.drop).member("drop_after", rule.drop_after);
    json.member("hits", rule.hits).close_object();
}

Response list_faults(Site& site, const Request&) {
    JsonWriter json;
    json.open_object().open_array("faults");
    for (const FaultRule& rule : site.faults().rules()) write_rule(json, rule);
    json.close_array().member("deletions_to_lose", site.world().deletions_to_lose).close_object();
    return json_response(200, json.take());
}

Response add_fault(Site& site, const Request& request) {
    const Json said = body_of(request);
    allow(said, {"method", "pattern", "user", "skip", "count", "latency_s", "status", "body",
                 "truncate_at", "drop", "drop_after", "lose_deletions"});
    if (said.contains("lose_deletions")) {
        site.world().deletions_to_lose = said["lose_deletions"].get<std::uint64_t>();
        return done();
    }
    FaultRule rule;
    rule.method = said.value("method", "");
    rule.pattern = said.value("pattern", "*");
    rule.user = said.value("user", "");
    rule.skip = said.value("skip", std::uint64_t{0});
    if (said.contains("count")) rule.count = said["count"].get<std::uint64_t>();
    rule.latency = seconds_in(said, "latency_s");
    if (said.contains("status")) rule.status = said["status"].get<int>();
    rule.body = said.value("body", "");
    if (said.contains("truncate_at")) rule.truncate_at = said["truncate_at"].get<std::size_t>();
    rule.drop = said.value("drop", false);
    rule.drop_after = said.value("drop_after", false);
    const FaultRule* added = site.faults().add(std::move(rule));
    if (!added) throw ApiError(409, "there are too many faults; remove some");
    JsonWriter json;
    write_rule(json, *added);
    return json_response(200, json.take());
}

Response clear_faults(Site& site, const Request&) {
    site.faults().clear();
    site.world().deletions_to_lose = 0;
    return done();
}

Host& host_of(Site& site, const Request& request) {
    Host* host = site.world().nova.find_host(request.path[2]);
    if (!host) throw ApiError(404, "there is no host " + request.path[2]);
    return *host;
}

Response hold(Site& site, const Request& request) {
    site.lifecycle().hold(host_of(site, request));
    return done();
}

Response release(Site& site, const Request& request) {
    site.lifecycle().release(host_of(site, request));
    return done();
}

/// nova-compute stops reporting, without any notice.
Response set_agent(Site& site, const Request& request) {
    const Json said = body_of(request);
    allow(said, {"down"});
    host_of(site, request).agent_down = said.value("down", true);
    return done();
}

/// Which hosts are in which cell from now on, the others in one without a name; and which cells
/// builds skip.
Response change_cells(Site& site, const Request& request) {
    const Json said = body_of(request);
    allow(said, {"cells", "disabled"});
    const auto cells = said.value("cells", std::map<std::string, std::vector<std::string>>{});
    const auto disabled = said.value("disabled", std::vector<std::string>{});
    if (const std::string wrong = set_cells(site.world(), cells, disabled); !wrong.empty())
        throw ApiError(400, wrong);
    return done();
}

Response reset(Site& site, const Request& request) {
    const Json said = body_of(request);
    allow(said, {"to"});
    const std::string to = said.value("to", "start");
    if (to == "empty") {
        site.reset_to_empty();
    } else if (to == "start") {
        if (const std::string wrong = site.reset_to_start(); !wrong.empty())
            throw ApiError(500, wrong);
    } else {
        throw ApiError(400, R"("to" must be "start" or "empty")");
    }
    return state(site, request);
}

Response set_respawn(Site& site, const Request& request) {
    const Json said = body_of(request);
    allow(said, {"on"});
    site.world().respawn = said.value("on", true);
    return done();
}

/// How long tokens live that are given out from now on; of nothing said, as long as at the start.
Response set_tokens(Site& site, const Request& request) {
    const Json said = body_of(request);
    allow(said, {"life_s"});
    World& world = site.world();
    const Micros life =
        said.contains("life_s") ? seconds_in(said, "life_s") : world.settings.token_life;
    if (life <= Micros(0)) throw ApiError(400, "life_s must be above 0");
    world.identity.set_token_life(life);
    return done();
}

Response publish(Site& site, const Request& request) {
    const Json said = body_of(request);
    allow(said, {"body", "routing_key"});
    if (!site.notifier().publish) throw ApiError(409, "there is no broker; start with --amqp URL");
    const std::string key = said.value("routing_key", "versioned_notifications.error");
    if (!site.notifier().publish(said.value("body", ""), key))
        throw ApiError(503, "the queue of unsent messages is full");
    return done();
}

Response set_publishing(Site& site, const Request& request) {
    const Json said = body_of(request);
    allow(said, {"paused"});
    if (!site.notifier().pause) throw ApiError(409, "there is no broker; start with --amqp URL");
    site.notifier().pause(said.value("paused", true));
    return done();
}

Response log(Site& site, const Request& request) {
    const auto since = number_in(request.parameter("since").value_or("0"), "since is no number");
    const auto limit = number_in(request.parameter("limit").value_or("10000"), "limit: no number");
    JsonWriter json;
    site.witness().write(json, static_cast<std::uint64_t>(since), static_cast<std::size_t>(limit),
                         request.parameter("user").value_or(""),
                         request.parameter("kind").value_or(""));
    return json_response(200, json.take());
}

struct AdminRoute {
    const char* method;
    const char* pattern;
    Response (*handler)(Site&, const Request&);
};

constexpr AdminRoute admin_routes[] = {
    {"GET", "admin/state", state},
    {"GET", "admin/clock", show_clock},
    {"POST", "admin/clock", set_clock},
    {"GET", "admin/faults", list_faults},
    {"POST", "admin/faults", add_fault},
    {"DELETE", "admin/faults", clear_faults},
    {"POST", "admin/hosts/*/hold", hold},
    {"POST", "admin/hosts/*/release", release},
    {"POST", "admin/hosts/*/agent", set_agent},
    {"POST", "admin/cells", change_cells},
    {"POST", "admin/reset", reset},
    {"POST", "admin/respawn", set_respawn},
    {"POST", "admin/tokens", set_tokens},
    {"POST", "admin/publish", publish},
    {"POST", "admin/publishing", set_publishing},
    {"GET", "admin/log", log},
};

std::string pattern_of(const Request& request) {
    std::string pattern;
    for (std::size_t at = 0; at < request.path.size(); ++at) {
        const bool name = at == 2 && request.path[1] == "hosts";
        pattern += (at ? "/" : "") + (name ? std::string("*") : request.path[at]);
    }
    return pattern;
}

Response failure(int status, const std::string& message) {
    JsonWriter json;
    json.open_object().member("error", message).close_object();
    return json_response(status, json.take());
}

}  // namespace

Response admin(Site& site, const Request& request) {
    const std::string pattern = pattern_of(request);
    for (const AdminRoute& route : admin_routes) {
        if (request.method != route.method || pattern != route.pattern) continue;
        try {
            return route.handler(site, request);
        } catch (const ApiError& error) {
            return failure(error.status, error.what());
        } catch (const Json::exception& wrong) {
            return failure(400, wrong.what());
        }
    }
    std::string known = "nothing is here; there are";
    for (const AdminRoute& route : admin_routes)
        known += std::string(" ") + route.method + " /" + route.pattern + ",";
    known.back() = '.';
    return failure(404, known);
}

}  // namespace reaper::cloudsim
