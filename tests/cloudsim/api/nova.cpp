// Nova: versions, errors, and which table a path belongs to.
#include <nlohmann/json.hpp>

#include "tests/cloudsim/api/nova_parts.hpp"
#include "tests/cloudsim/api/services.hpp"

namespace reaper::cloudsim {

namespace {

void write_version(JsonWriter& json, const Call& call, bool with_media_types) {
    json.open_object().member("id", "v2.1").member("status", "CURRENT");
    json.member("version", "2." + std::to_string(call.world.settings.nova_minor));
    json.member("min_version", "2.1").member("updated", "2013-07-23T11:33:21Z");
    json.open_array("links").open_object().member("rel", "self");
    json.member("href", call.base + "/v2.1/").close_object();
    if (with_media_types) {
        json.open_object().member("rel", "describedby").member("type", "text/html");
        json.member("href", "http://docs.openstack.org/").close_object();
    }
    json.close_array();
    if (with_media_types) {
        json.open_array("media-types").open_object().member("base", "application/json");
        json.member("type", "application/vnd.openstack.compute+json;version=2.1");
        json.close_object().close_array();
    }
    json.close_object();
}

Response versions(Call& call) {
    JsonWriter json;
    json.open_object().open_array("versions");
    write_version(json, call, false);
    json.close_array().close_object();
    return json_response(200, json.take());
}

Response version(Call& call) {
    JsonWriter json;
    json.open_object().name("version");
    write_version(json, call, true);
    json.close_object();
    return json_response(200, json.take());
}

int minor_of(const std::string& text, int newest) {
    if (text == "latest") return newest;
    if (!text.starts_with("2."))
        throw ApiError(400, "API Version String '" + text +
                                "' is of invalid format. Must be of format MajorNum.MinorNum.");
    const auto minor = number_in(text.substr(2), "API Version String '" + text +
                                                     "' is of invalid format. Must be of format "
                                                     "MajorNum.MinorNum.");
    if (minor < 1 || minor > newest)
        throw ApiError(406, "Version " + text +
                                " is not supported by the API. Minimum is 2.1 and maximum is 2." +
                                std::to_string(newest) + ".");
    return static_cast<int>(minor);
}

int wanted_version(const Request& request, int newest) {
    const std::string header(request.header("openstack-api-version"));
    if (const auto at = header.find("compute "); at != std::string::npos)
        return minor_of(header.substr(at + 8, header.find(',', at) - (at + 8)), newest);
    const std::string legacy(request.header("x-openstack-nova-api-version"));
    return legacy.empty() ? 1 : minor_of(legacy, newest);
}

const char* fault_name(int status) {
    switch (status) {
        case 400: return "badRequest";
        case 401: return "unauthorized";
        case 403: return "forbidden";
        case 404: return "itemNotFound";
        case 405: return "badMethod";
        case 409: return "conflictingRequest";
        case 413:
        case 429: return "overLimit";
        case 415: return "badMediaType";
        case 501: return "notImplemented";
        case 503: return "serviceUnavailable";
        default: return "computeFault";
    }
}

Response failure(const ApiError& error) {
    std::string message = error.what();
    if (error.status == 403) message = "Policy doesn't allow " + message + " to be performed.";
    JsonWriter json;
    json.open_object().open_object(fault_name(error.status)).member("code", error.status);
    json.member("message", message).close_object().close_object();
    Response response = json_response(error.status, json.take());
    response.content_type = "application/json; charset=UTF-8";
    return response;
}

std::span<const Route> table_of(std::span<const std::string> path) {
    const std::string_view first = path.empty() ? std::string_view() : path[0];
    if (first == "servers") return path.size() > 2 ? nova_server_parts() : nova_servers();
    if (first == "os-aggregates") return nova_aggregates();
    if (first == "os-hypervisors" || first == "os-services" || first == "os-availability-zone" ||
        first == "os-migrations")
        return nova_hosts();
    return nova_catalogue();
}

Response answer(Call& call, std::span<const std::string> path) {
    if (path.empty()) return versions(call);
    if (path[0] != "v2.1") throw ApiError(404, "The resource could not be found.");
    path = path.subspan(1);
    call.minor = wanted_version(call.request, call.world.settings.nova_minor);
    if (path.empty()) return version(call);
    if (!call.token) return unauthorized(call);
    // Old clients put the project into the path.
    if (Uuid::parse(path[0])) path = path.subspan(1);
    return find_route(table_of(path), call.request.method, path, call.args)(call);
}

}  // namespace

Response accepted(int status) {
    Response response;
    response.status = status;
    response.content_type.clear();
    return response;
}

void throw_refused(const Outcome& refused) {
    if (refused) throw ApiError(refused->status, refused->detail);
}

std::size_t page_size(const Call& call) {
    const auto most = static_cast<std::size_t>(call.world.settings.page_limit);
    const auto said = call.request.parameter("limit");
    if (!said) return most;
    const auto limit =
        number_in(*said, "Invalid input for query parameters limit. Value: " + *said + ". '" +
                             *said + "' does not match '^[0-9]*$'");
    return limit == 0 ? most : std::min(most, static_cast<std::size_t>(limit));
}

void write_bookmark(JsonWriter& json, const Call& call, const std::string& collection,
                    const std::string& id) {
    const std::string plain = call.base;
    json.open_object().member("rel", "bookmark");
    json.member("href", plain + "/" + collection + "/" + id).close_object();
}

void write_links(JsonWriter& json, const Call& call, const std::string& collection,
                 const std::string& id) {
    json.open_array("links").open_object().member("rel", "self");
    json.member("href", call.base + "/v2.1/" + collection + "/" + id).close_object();
    write_bookmark(json, call, collection, id);
    json.close_array();
}

void write_next_link(JsonWriter& json, const Call& call, const std::string& key,
                     const std::string& marker) {
    std::string href = call.root + call.request.path_text() + "?";
    std::string rest = call.request.query_text();
    while (!rest.empty()) {
        const auto next = rest.find('&');
        const std::string pair = rest.substr(0, next);
        if (!pair.starts_with("marker=")) href += pair + "&";
        rest = next == std::string::npos ? "" : rest.substr(next + 1);
    }
    json.open_array(key).open_object().member("rel", "next");
    json.member("href", href + "marker=" + marker).close_object().close_array();
}

Response nova(Call& call, std::span<const std::string> path) {
    Response response;
    call.minor = 1;
    try {
        response = answer(call, path);
    } catch (const ApiError& error) {
        response = failure(error);
    }
    const std::string version = "2." + std::to_string(call.minor);
    const std::string id = "req-" + call.request_id.text();
    response.headers.emplace_back("Openstack-Api-Version", "compute " + version);
    response.headers.emplace_back("X-Openstack-Nova-Api-Version", version);
    response.headers.emplace_back("Vary", "OpenStack-API-Version, X-OpenStack-Nova-API-Version");
    response.headers.emplace_back("X-Openstack-Request-Id", id);
    response.headers.emplace_back("X-Compute-Request-Id", id);
    return response;
}

}  // namespace reaper::cloudsim
