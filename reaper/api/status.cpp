#include "reaper/api/status.hpp"

#include <utility>

#include "reaper/api/answers.hpp"
#include "reaper/cloud/cache/cloud_cache.hpp"
#include "reaper/json/json_place.hpp"
#include "reaper/json/json_text.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/json_status.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/machine.hpp"

namespace reaper::api {
namespace {

using nlohmann::json;
using report::text_or_null;

constexpr std::size_t longest_reason = 1000;

json cache_json(const Backend& backend, const DaemonStatus& state) {
    const auto view = backend.daemon.view();
    if (!view) return nullptr;
    const CacheAges ages = view->cache.ages();
    return {{"hosts", ages.hosts},
            {"servers", ages.servers},
            {"oldest_read_at", iso_time(ages.oldest_read_at)},
            {"events_flow", state.events_flow},
            {"detail", state.cache}};
}

/// What is not known, or not of a journal in a file, is null.
json reaper_json(const KnownReaper& reaper, const KnownReaper* active) {
    json object = {{"machine", reaper.machine}, {"journal", reaper.journal},
                   {"here", reaper.here},       {"serves", reaper.serves},
                   {"name", nullptr},           {"version", nullptr},
                   {"since", nullptr},          {"silent_s", nullptr},
                   {"gateway", nullptr},        {"configuration", nullptr},
                   {"differs_in", nullptr},     {"cache_age_s", nullptr},
                   {"in_flight", nullptr},      {"broker_connected", nullptr}};
    if (!reaper.told) return object;
    const JournalReaper& told = *reaper.told;
    object["name"] = told.note.name;
    object["version"] = told.note.version;
    object["since"] = iso_time(told.since);
    object["silent_s"] = told.silent.count() / 1000;
    if (!told.note.gateway.empty()) object["gateway"] = told.note.gateway;
    object["configuration"] = told.note.configuration;
    if (active != nullptr && active->told)
        object["differs_in"] = differing_sections(told.note.sections, active->told->note.sections);
    if (!told.state) return object;
    if (told.state->cache_age) object["cache_age_s"] = told.state->cache_age->count() / 1000;
    object["in_flight"] = told.state->in_flight;
    if (told.state->broker) object["broker_connected"] = *told.state->broker;
    return object;
}

HttpResponse no_switch() {
    return refuse(503, "this daemon can't be paused here; 'reaper pause' does it");
}

/// `{reason}`, or nothing.
Result<std::string> reason_in(const std::string& body) {
    if (trimmed(body).empty()) return std::string{};
    try {
        const auto document = parse_body(body);
        if (!document) return document.error();
        const JsonPlace place{*document, "the body"};
        place.each_member([](const std::string& name, const JsonPlace& member) {
            if (name != "reason") member.fail("it is not known here");
        });
        const auto reason = place.maybe("reason");
        return reason ? reason->text(longest_reason) : std::string{};
    } catch (const WrongJson& wrong) {
        return Error{Errc::bad_input, wrong.what};
    }
}

std::string who(const ApiRequest& request) {
    return request.principal.value_or("the admin API");
}

std::optional<std::string> stopped(const Backend& backend) {
    if (auto paused = backend.pause->paused()) return paused;
    return backend.breaker->paused();
}

/// How the breaker of the whole cloud is.
json circuit_json(const Backend& backend, const DaemonStatus& state) {
    const auto opened = backend.breaker == nullptr ? std::nullopt : backend.breaker->note();
    return {{"state", std::string{to_string(state.circuit)}},
            {"reason", opened ? opened->reason : ""}};
}

}  // namespace

std::optional<PauseNote> note_in_force(const Backend& backend) {
    if (backend.pause == nullptr || backend.breaker == nullptr) return std::nullopt;
    // It deletes nothing anyway, and the files may be those of one that does.
    if (backend.daemon.status().dry_run) return std::nullopt;
    auto note = backend.pause->note();
    return note ? note : backend.breaker->note();
}

Task<HttpResponse> get_status(const Backend& backend, ApiRequest request) {
    const Query query{request, {}};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    DaemonStatus state = backend.daemon.status();
    if (const auto standby = backend.standby ? backend.standby() : std::nullopt) {
        state.line = *standby;
        state.no_help = standby;
    }
    if (const auto view = backend.daemon.view())
        add_names(view->cache.project_names(), state.left_alone);
    json body = {
        {"program_version", backend.program_version},
        {"machine", machine_name()},
        {"line", state.line},
        {"dry_run", state.dry_run},
        {"ready", state.ready},
        {"serving", state.serving},
        {"paused", text_or_null(state.paused)},
        {"breaker", text_or_null(state.breaker)},
        {"held_back", text_or_null(state.held_back)},
        {"no_help", text_or_null(state.no_help)},
        {"broker", {{"connected", state.broker_connected}, {"detail", state.broker}}},
        {"cache", cache_json(backend, state)},
        {"in_flight", state.in_flight},
        {"served", state.served},
        {"strategy", state.strategy},
        {"features",
         {{"reservations", state.reservations}, {"oversubscription", state.oversubscription}}},
        {"left_alone", report::json_of(state.left_alone)},
        {"notices", report::json_of(state.notices)},
        {"pause", report::json_of(note_in_force(backend))},
        {"circuit", circuit_json(backend, state)},
        {"you",
         {{"may_act", request.access == Access::act},
          {"principal", text_or_null(request.principal)}}}};
    body["now"] = backend.clock == nullptr ? json(nullptr) : json(iso_time(backend.clock->now()));
    co_return answered(std::move(body));
}

Task<HttpResponse> get_reapers(const Backend& backend, ApiRequest request) {
    const Query query{request, {}};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    if (!backend.reapers) co_return refuse(503, "the daemon has not started yet");
    auto known = co_await backend.reapers();
    json list = json::array();
    if (known) {
        const auto active = std::ranges::find_if(*known, &KnownReaper::serves);
        for (const KnownReaper& each : *known)
            list.push_back(reaper_json(each, active == known->end() ? nullptr : &*active));
    }
    co_return answered({{"reapers", std::move(list)},
                        {"unknown", known ? json(nullptr) : json(known.error().what)}});
}

Task<HttpResponse> post_pause(const Backend& backend, ApiRequest request) {
    if (backend.pause == nullptr || backend.breaker == nullptr) co_return no_switch();
    if (backend.daemon.status().dry_run)
        co_return refuse(409, "a dry run deletes no servers: there is nothing to pause");
    const auto reason = reason_in(request.body);
    if (!reason) co_return refuse(400, reason.error().what);
    const auto before = backend.pause->paused();
    const auto done = backend.pause->pause(who(request), *reason);
    if (!done) co_return refuse(503, done.error().what + "; nothing is paused");
    spdlog::warn("admin API: paused by {}", printable(who(request), 255));
    co_return answered({{"paused", text_or_null(stopped(backend))},
                        {"was_paused", before.has_value()},
                        {"pause", report::json_of(backend.pause->note())}});
}

Task<HttpResponse> post_resume(const Backend& backend, ApiRequest request) {
    if (backend.pause == nullptr || backend.breaker == nullptr) co_return no_switch();
    if (!trimmed(request.body).empty() && parse_bounded(request.body) != json::object())
        co_return refuse(400, "the body: expected none, or {}");
    if (backend.daemon.status().dry_run)
        co_return refuse(409, "a dry run deletes no servers: there is nothing to resume");
    const auto was = note_in_force(backend);
    const auto opened = backend.breaker->note();
    for (Switch* const each : {backend.pause, backend.breaker})
        if (const auto done = each->resume(); !done) co_return refuse(503, done.error().what);
    spdlog::warn("admin API: resumed by {}", printable(who(request), 255));
    co_return answered({{"paused", text_or_null(stopped(backend))},
                        {"was_paused", was.has_value()},
                        {"was", report::json_of(was)},
                        {"breaker_was", report::json_of(opened)},
                        {"circuit", to_string(backend.daemon.status().circuit)}});
}

}  // namespace reaper::api
