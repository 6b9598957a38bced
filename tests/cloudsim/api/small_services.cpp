// Enough of Glance and Neutron for clients that create servers.
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

}  // namespace

Response glance(Call& call, std::span<const std::string> path) {
    Response response;
    if (path.size() <= 1) {
        response = image_versions(call);
    } else if (!call.token) {
        response = unauthorized(call);
    } else if (call.request.method != "GET" || path[1] != "images" || path.size() > 3) {
        response = plain_failure(404, "Not Found: the simulated image service only shows images");
    } else if (path.size() == 2) {
        response = list_images(call);
    } else if (const Image* image = call.world.nova.find_image(path[2])) {
        JsonWriter json;
        write_image(json, *image);
        response = json_response(200, json.take());
    } else {
        response = plain_failure(404, "Not Found: No image found with ID " + path[2]);
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
