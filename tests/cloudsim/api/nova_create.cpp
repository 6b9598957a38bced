// POST /servers: what is requested, and the answer.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cloudsim/api/nova_parts.hpp"

namespace reaper::cloudsim {

namespace {

using Json = nlohmann::json;

std::string last_segment(const std::string& reference) {
    const auto slash = reference.rfind('/');
    return slash == std::string::npos ? reference : reference.substr(slash + 1);
}

std::size_t count_in(const Json& said, const char* key, std::size_t fallback) {
    const auto found = said.find(key);
    if (found == said.end() || found->is_null()) return fallback;
    std::int64_t count = 0;
    if (found->is_number_integer()) count = found->get<std::int64_t>();
    if (found->is_string()) count = number_in(found->get<std::string>(), "Invalid min_count");
    constexpr std::int64_t most = 10'000;
    if (count < 1 || count > most)
        throw ApiError(400, std::string("Invalid input for field/attribute ") + key +
                                ". Value: " + found->dump() + ".");
    return static_cast<std::size_t>(count);
}

void read_zone(const Call& call, const Json& said, CreateRequest& request) {
    const std::string text = text_in(said, "availability_zone", "");
    const auto colon = text.find(':');
    request.zone = text.substr(0, colon);
    if (colon != std::string::npos) {
        call.need_admin("os_compute_api:servers:create:forced_host");
        request.forced_host = text.substr(colon + 1, text.find(':', colon + 1) - colon - 1);
    }
    const auto& hosts = call.world.nova.hosts;
    if (!request.zone.empty() && request.forced_host.empty() &&
        std::none_of(hosts.begin(), hosts.end(),
                     [&](const auto& host) { return host->zone == request.zone; }))
        throw ApiError(400, "The requested availability zone is not available");
    request.host = call.since(74) ? text_in(said, "host", "") : "";
    if (request.host.empty() && call.since(74))
        request.host = text_in(said, "hypervisor_hostname", "");
    if (request.host.empty()) return;
    call.need_admin("os_compute_api:compute:servers:create:requested_destination");
    if (!call.world.nova.find_host(request.host))
        throw ApiError(400, "Compute host " + request.host + " could not be found.");
}

const Image* image_in(const Call& call, const Json& said) {
    const std::string reference = text_in(said, "imageRef", "");
    if (!reference.empty()) {
        const Image* image = call.world.nova.find_image(last_segment(reference));
        if (!image) throw ApiError(400, "Image " + reference + " could not be found.");
        return image;
    }
    if (!said.contains("block_device_mapping_v2"))
        throw ApiError(400, "Invalid imageRef provided.");
    return nullptr;
}

ServerGroup* group_in(const Call& call, const Json& document) {
    for (const char* key : {"os:scheduler_hints", "OS-SCH-HNT:scheduler_hints"}) {
        const auto hints = document.find(key);
        if (hints == document.end() || !hints->contains("group")) continue;
        const std::string text = (*hints)["group"].get<std::string>();
        const auto id = Uuid::parse(text);
        ServerGroup* group = id ? call.world.nova.find_group(*id) : nullptr;
        if (!group) throw ApiError(400, "Instance group " + text + " could not be found.");
        return group;
    }
    return nullptr;
}

/// UUIDs of a hint: one, or a list.
std::vector<Uuid> servers_in(const Json& document, const char* hint) {
    std::vector<Uuid> servers;
    for (const char* key : {"os:scheduler_hints", "OS-SCH-HNT:scheduler_hints"}) {
        const auto hints = document.find(key);
        if (hints == document.end() || !hints->contains(hint)) continue;
        const Json& said = (*hints)[hint];
        for (const Json& text : said.is_array() ? said : Json::array({said})) {
            const auto id = Uuid::parse(text.get<std::string>());
            if (!id) throw ApiError(400, std::string("Invalid input for field ") + hint + ".");
            servers.push_back(*id);
        }
    }
    return servers;
}

CreateRequest request_in(Call& call, const Json& document) {
    const Json& said = need_object(document, "server");
    CreateRequest request;
    request.name = need_text(said, "name");
    const std::string flavor = last_segment(need_text(said, "flavorRef"));
    request.flavor = call.world.nova.find_flavor(flavor);
    if (!request.flavor) throw ApiError(400, "Flavor " + flavor + " could not be found.");
    request.image = image_in(call, said);
    const std::size_t least = count_in(said, "min_count", 1);
    request.count = count_in(said, "max_count", least);
    if (request.count < least) throw ApiError(400, "min_count must be <= max_count");
    read_zone(call, said, request);
    if (said.contains("metadata"))
        for (const auto& [key, value] : said["metadata"].items())
            request.metadata[key] = value.is_string() ? value.get<std::string>() : value.dump();
    if (said.contains("tags"))
        for (const Json& tag : said["tags"]) request.tags.insert(tag.get<std::string>());
    request.group = group_in(call, document);
    request.same_host = servers_in(document, "same_host");
    request.different_host = servers_in(document, "different_host");
    return request;
}

}  // namespace

Response create_servers(Call& call) {
    if (call.by->roles == std::vector<std::string>{"reader"})
        throw ApiError(403, "os_compute_api:servers:create");
    const Json document = call.body();
    CreateRequest request;
    try {
        request = request_in(call, document);
    } catch (const Json::exception& wrong) {
        throw ApiError(400, std::string("Invalid input: ") + wrong.what());
    }
    const Json& said = document["server"];
    const auto servers = call.lifecycle.create(std::move(request), call.by);
    const Server& first = *servers.front();
    JsonWriter json;
    json.open_object();
    if (said.contains("return_reservation_id") && said["return_reservation_id"] == true) {
        json.member("reservation_id", first.reservation).close_object();
        return json_response(202, json.take());
    }
    json.open_object("server").member("id", first.id.text());
    write_links(json, call, "servers", first.id.text());
    json.member("OS-DCF:diskConfig", "MANUAL");
    json.open_array("security_groups").open_object().member("name", "default");
    json.close_object().close_array();
    json.member("adminPass", call.world.rng.letters(12)).close_object().close_object();
    Response response = json_response(202, json.take());
    response.headers.emplace_back("Location", call.base + "/v2.1/servers/" + first.id.text());
    return response;
}

}  // namespace reaper::cloudsim
