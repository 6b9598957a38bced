// Enough of Glance and Neutron for clients that create servers.
#include <nlohmann/json.hpp>
#include <set>

#include "tests/cloudsim/api/services.hpp"

namespace reaper::cloudsim {

namespace {

void write_image(JsonWriter& json, const Image& image) {
    json.open_object().member("id", image.id.text()).member("name", image.name);
    json.member("status", "active").member("visibility", "public").member("protected", false);
    json.member("checksum", "93b885adfe0da089cdf634904fd59f71").member("owner", image.owner);
    json.member("size", 1).member("virtual_size", nullptr).member("container_format", "bare");
    json.member("disk_format", "raw").member("created_at", iso_z(image.created));
    json.member("updated_at", iso_z(image.created)).open_array("tags").close_array();
    json.member("min_ram", 0).member("min_disk", 0).member("os_hidden", false);
    json.member("self", "/v2/images/" + image.id.text());
    json.member("file", "/v2/images/" + image.id.text() + "/file");
    for (const auto& [name, value] : image.properties) json.member(name, value);
    json.member("schema", "/v2/schemas/image").close_object();
}

Response image_versions(const Call& call) {
    JsonWriter json;
    json.open_object().open_array("versions").open_object().member("id", "v2.9");
    json.member("status", "CURRENT").open_array("links").open_object().member("rel", "self");
    json.member("href", call.base + "/v2/").close_object().close_array().close_object();
    json.close_array().close_object();
    return json_response(300, json.take());
}

Response list_images(const Call& call) {
    const auto name = call.request.parameter("name");
    JsonWriter json;
    json.open_object().open_array("images");
    for (const auto& image : call.world.nova.images)
        if (!name || *name == image->name) write_image(json, *image);
    json.close_array().member("first", "/v2/images").member("schema", "/v2/schemas/images");
    json.close_object();
    return json_response(200, json.take());
}

Response plain_failure(int status, const std::string& message) {
    Response response = json_response(status, std::to_string(status) + " " + message + "\n");
    response.content_type = "text/plain; charset=UTF-8";
    return response;
}

/// `POST /v2/images`: members that Glance does not know itself are the image's own properties.
Response create_image(Call& call) {
    static const std::set<std::string> known{
        "id",       "name",    "visibility", "protected", "disk_format", "container_format",
        "min_disk", "min_ram", "tags",       "os_hidden", "owner"};
    const auto body = call.body();
    auto image = std::make_unique<Image>();
    image->id = call.world.rng.uuid();
    image->name = text_in(body, "name", "");
    image->created = to_seconds(call.world.clock.now());
    image->owner = call.by->project_id;
    for (const auto& [name, value] : body.items())
        if (!known.contains(name)) image->properties[name] = need_text(body, name.c_str());
    JsonWriter json;
    write_image(json, *image);
    call.world.nova.images.push_back(std::move(image));
    return json_response(201, json.take());
}

Response no_content() {
    Response response;
    response.status = 204;
    return response;
}

Response images(Call& call, std::span<const std::string> path) {
    const std::string& method = call.request.method;
    const Image* const image = path.size() > 2 ? call.world.nova.find_image(path[2]) : nullptr;
    if (path.size() == 2 && method == "GET") return list_images(call);
    if (path.size() == 2 && method == "POST") return create_image(call);
    if (path.size() > 2 && image == nullptr)
        return plain_failure(404, "Not Found: No image found with ID " + path[2]);
    if (path.size() == 3 && method == "GET") {
        JsonWriter json;
        write_image(json, *image);
        return json_response(200, json.take());
    }
    // What is in it plays no part.
    if (path.size() == 4 && path[3] == "file" && method == "PUT") return no_content();
    return plain_failure(404, "Not Found: the simulated image service makes and shows images");
}

}  // namespace

Response glance(Call& call, std::span<const std::string> path) {
    Response response;
    if (path.size() <= 1) {
        response = image_versions(call);
    } else if (!call.token) {
        response = unauthorized(call);
    } else if (path[1] != "images") {
        response = plain_failure(404, "Not Found: the simulated image service has only images");
    } else {
        try {
            response = images(call, path);
        } catch (const ApiError& error) {
            response = plain_failure(error.status, error.what());
        }
    }
    response.headers.emplace_back("X-Openstack-Request-Id", "req-" + call.request_id.text());
    return response;
}

Response neutron(Call& call, std::span<const std::string> path) {
    if (path.size() <= 1)
        return json_response(200, R"({"versions":[{"id":"v2.0","status":"CURRENT","links":[]}]})");
    if (!call.token) return unauthorized(call);
    if (call.request.method != "GET")
        return json_response(404, R"({"NeutronError":{"type":"HTTPNotFound",)"
                                  R"("message":"There are no networks here","detail":""}})");
    JsonWriter json;
    json.open_object().open_array(path[1] == "security-groups" ? "security_groups" : path[1]);
    json.close_array().close_object();
    return json_response(200, json.take());
}

}  // namespace reaper::cloudsim
