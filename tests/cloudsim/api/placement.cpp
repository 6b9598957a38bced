// Placement: versions, errors, vocabulary (classes and traits), and the table of its routes.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cloudsim/api/placement_parts.hpp"
#include "tests/cloudsim/api/services.hpp"

namespace reaper::cloudsim {

namespace placement_api {
namespace {

constexpr int newest = 39;

Response root(Call&) {
    JsonWriter json;
    json.open_object().open_array("versions").open_object().member("id", "v1.0");
    json.member("max_version", "1.39").member("min_version", "1.0").member("status", "CURRENT");
    json.open_array("links").open_object().member("rel", "self").member("href", "");
    json.close_object().close_array().close_object().close_array().close_object();
    return json_response(200, json.take());
}

Response list_classes(Call& call) {
    JsonWriter json;
    json.open_object().open_array("resource_classes");
    for (const std::string& name : call.world.placement.classes()) {
        json.open_object().member("name", name).open_array("links").open_object();
        json.member("rel", "self").member("href", "/resource_classes/" + name).close_object();
        json.close_array().close_object();
    }
    json.close_array().close_object();
    return json_response(200, json.take());
}

Response show_class(Call& call) {
    const std::string& name = call.args[0];
    if (!call.world.placement.knows_class(name))
        throw ApiError(404, "No such resource class " + name + ".");
    JsonWriter json;
    json.open_object().member("name", name).open_array("links").open_object();
    json.member("rel", "self").member("href", "/resource_classes/" + name);
    json.close_object().close_array().close_object();
    return json_response(200, json.take());
}

Response put_class(Call& call) {
    const std::string& name = call.args[0];
    if (!name.starts_with("CUSTOM_"))
        throw ApiError(
            400, "JSON does not validate: '" + name + "' does not match '^CUSTOM\\\\_[A-Z0-9_]+$'");
    return no_content(call.world.placement.add_class(name) ? 201 : 204);
}

Response delete_class(Call& call) {
    const std::string& name = call.args[0];
    if (!name.starts_with("CUSTOM_"))
        throw ApiError(400,
                       "Error in delete resource class: Cannot delete standard resource "
                       "class " +
                           name + ".");
    const auto id = call.world.names.find(name);
    for (const Provider* provider : call.world.placement.providers())
        if (id && provider->room(*id))
            throw ApiError(409, "Error in delete resource class: Cannot delete resource class " +
                                    name + ". Class is in use in inventory.");
    if (!call.world.placement.remove_class(name))
        throw ApiError(404, "No such resource class " + name + ".");
    return no_content();
}

Response list_traits(Call& call) {
    const auto filter = call.request.parameter("name");
    JsonWriter json;
    json.open_object().open_array("traits");
    for (const std::string& name : call.world.placement.traits()) {
        if (filter && filter->starts_with("startswith:") && !name.starts_with(filter->substr(11)))
            continue;
        if (filter && filter->starts_with("in:")) {
            const auto names = split(filter->substr(3));
            if (std::find(names.begin(), names.end(), name) == names.end()) continue;
        }
        json.value(name);
    }
    json.close_array().close_object();
    return json_response(200, json.take());
}

Response show_trait(Call& call) {
    if (!call.world.placement.knows_trait(call.args[0]))
        throw ApiError(404, "No such trait(s): " + call.args[0] + ".");
    return no_content();
}

Response put_trait(Call& call) {
    if (!call.args[0].starts_with("CUSTOM_"))
        throw ApiError(400,
                       "The trait is invalid. A valid trait must be no longer than 255 "
                       "characters, start with the prefix \"CUSTOM_\" and use following "
                       "characters: \"A\"-\"Z\", \"0\"-\"9\" and \"_\"");
    return no_content(call.world.placement.add_trait(call.args[0]) ? 201 : 204);
}

Response delete_trait(Call& call) {
    const std::string& name = call.args[0];
    if (!name.starts_with("CUSTOM_"))
        throw ApiError(400, "Cannot delete standard trait " + name + ".");
    const auto id = call.world.names.find(name);
    for (const Provider* provider : call.world.placement.providers())
        if (id && provider->has_trait(*id))
            throw ApiError(409, "The trait " + name + " is in use by a resource provider.");
    if (!call.world.placement.remove_trait(name))
        throw ApiError(404, "No such trait(s): " + name + ".");
    return no_content();
}

constexpr Route routes[] = {
    {"GET", "resource_classes", list_classes},
    {"GET", "resource_classes/*", show_class},
    {"PUT", "resource_classes/*", put_class},
    {"DELETE", "resource_classes/*", delete_class},
    {"GET", "traits", list_traits},
    {"GET", "traits/*", show_trait},
    {"PUT", "traits/*", put_trait},
    {"DELETE", "traits/*", delete_trait},
};

const char* title(int status) {
    switch (status) {
        case 400: return "Bad Request";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 406: return "Not Acceptable";
        case 409: return "Conflict";
        default: return "Internal Server Error";
    }
}

/// webob's own sentence, which Placement's errors begin with.
const char* sentence(int status) {
    switch (status) {
        case 400:
            return "The server could not comply with the request since it is either malformed or "
                   "otherwise incorrect.";
        case 403: return "Access was denied to this resource.";
        case 404: return "The resource could not be found.";
        case 405: return "The method specified is not allowed for this resource.";
        case 406:
            return "The resource could not be generated that was acceptable to your browser "
                   "(content of type application/json).";
        case 409: return "There was a conflict when trying to complete your request.";
        default:
            return "The server has either erred or is incapable of performing the requested "
                   "operation.";
    }
}

Response failure(const Call& call, const ApiError& error) {
    JsonWriter json;
    json.open_object().open_array("errors").open_object().member("status", error.status);
    json.member("title", title(error.status));
    json.member("detail", std::string(sentence(error.status)) + "\n\n " + error.what() + "  ");
    if (error.status != 406 && call.since(23))
        json.member("code", error.code.empty() ? "placement.undefined_code" : error.code);
    json.member("request_id", "req-" + call.request_id.text());
    if (error.status == 406) json.member("max_version", "1.39").member("min_version", "1.0");
    json.close_object().close_array().close_object();
    return json_response(error.status, json.take());
}

/// The microversion that is asked for; 1.0 if none is.
int wanted_version(const Request& request) {
    const std::string header(request.header("openstack-api-version"));
    const auto at = header.find("placement ");
    if (at == std::string::npos) return 0;
    std::string version = header.substr(at + 10, header.find(',', at) - (at + 10));
    if (version == "latest") return newest;
    if (!version.starts_with("1.")) throw ApiError(406, "Unacceptable version header: " + version);
    const auto minor = number_in(version.substr(2), "invalid version string: " + version);
    if (minor > newest) throw ApiError(406, "Unacceptable version header: " + version);
    return static_cast<int>(minor);
}

std::span<const Route> table_of(std::span<const std::string> path) {
    const std::string_view first = path[0];
    if (first == "resource_classes" || first == "traits") return routes;
    if (first != "resource_providers") return placement_allocations();
    return path.size() > 2 ? placement_provider_parts() : placement_providers();
}

Response answer(Call& call, std::span<const std::string> path) {
    call.minor = wanted_version(call.request);
    if (path.empty()) return root(call);
    if (!call.token) return unauthorized(call);
    call.need_admin("placement:" + path[0]);
    const auto table = table_of(path);
    return find_route(table, call.request.method, path, call.args)(call);
}

}  // namespace
}  // namespace placement_api

Response no_content(int status) {
    Response response;
    response.status = status;
    response.content_type.clear();
    return response;
}

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == at)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

void throw_if(const Outcome& refused) {
    if (refused) throw ApiError(refused->status, refused->detail, refused->code);
}

Response placement(Call& call, std::span<const std::string> path) {
    Response response;
    try {
        response = placement_api::answer(call, path);
    } catch (const ApiError& error) {
        response = placement_api::failure(call, error);
    }
    response.headers.emplace_back("openstack-api-version",
                                  "placement 1." + std::to_string(call.minor));
    response.headers.emplace_back("vary", "openstack-api-version");
    response.headers.emplace_back("x-openstack-request-id", "req-" + call.request_id.text());
    return response;
}

}  // namespace reaper::cloudsim
