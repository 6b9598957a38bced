// Nova's flavors and server groups, and what says that there are no limits.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cloudsim/api/nova_parts.hpp"

namespace reaper::cloudsim {

namespace nova_catalogue_api {
namespace {

using Json = nlohmann::json;

void write_flavor(JsonWriter& json, const Call& call, const Flavor& flavor) {
    json.open_object().member("id", flavor.id).member("name", flavor.name);
    json.member("ram", flavor.memory_mb).member("disk", flavor.root_gb).name("swap");
    if (flavor.swap_mb == 0 && !call.since(75))
        json.value("");
    else
        json.value(flavor.swap_mb);
    json.member("OS-FLV-EXT-DATA:ephemeral", flavor.ephemeral_gb);
    json.member("OS-FLV-DISABLED:disabled", false).member("vcpus", flavor.vcpus);
    json.member("os-flavor-access:is_public", flavor.is_public).member("rxtx_factor", 1.0);
    write_links(json, call, "flavors", flavor.id);
    if (call.since(55)) json.member("description", flavor.description);
    if (call.since(61)) write_map(json, "extra_specs", flavor.extra_specs);
    json.close_object();
}

Response list_flavors(Call& call, bool detail) {
    JsonWriter json;
    json.open_object().open_array("flavors");
    bool past = !call.request.parameter("marker");
    for (const auto& flavor : call.world.nova.flavors) {
        if (!past) {
            past = flavor->id == *call.request.parameter("marker");
            continue;
        }
        if (detail) {
            write_flavor(json, call, *flavor);
            continue;
        }
        json.open_object().member("id", flavor->id).member("name", flavor->name);
        write_links(json, call, "flavors", flavor->id);
        if (call.since(55)) json.member("description", flavor->description);
        json.close_object();
    }
    json.close_array().close_object();
    return json_response(200, json.take());
}

Response flavors_brief(Call& call) {
    return list_flavors(call, false);
}
Response flavors_detail(Call& call) {
    return list_flavors(call, true);
}

std::shared_ptr<const Flavor> flavor_of(const Call& call) {
    auto flavor = call.world.nova.find_flavor(call.args[0]);
    if (!flavor) throw ApiError(404, "Flavor " + call.args[0] + " could not be found.");
    return flavor;
}

Response one_flavor(const Call& call, const Flavor& flavor) {
    JsonWriter json;
    json.open_object().name("flavor");
    write_flavor(json, call, flavor);
    json.close_object();
    return json_response(200, json.take());
}

Response show_flavor(Call& call) {
    return one_flavor(call, *flavor_of(call));
}

std::int64_t amount_in(const Json& said, const char* key, std::int64_t fallback) {
    const auto found = said.find(key);
    if (found == said.end() || found->is_null()) return fallback;
    if (found->is_number_integer()) return found->get<std::int64_t>();
    return number_in(found->is_string() ? found->get<std::string>() : "",
                     std::string("Invalid input for field/attribute ") + key + ".");
}

Response create_flavor(Call& call) {
    call.need_admin("os_compute_api:os-flavor-manage:create");
    const Json document = call.body();
    const Json& said = need_object(document, "flavor");
    Flavor flavor;
    flavor.name = need_text(said, "name");
    flavor.id = text_in(said, "id", "");
    if (flavor.id.empty() || flavor.id == "auto") flavor.id = call.world.rng.uuid().text();
    if (call.world.nova.find_flavor_name(flavor.name))
        throw ApiError(409, "Flavor with name " + flavor.name + " already exists.");
    if (call.world.nova.find_flavor(flavor.id))
        throw ApiError(409, "Flavor with ID " + flavor.id + " already exists.");
    flavor.vcpus = amount_in(said, "vcpus", 1);
    flavor.memory_mb = amount_in(said, "ram", 512);
    flavor.root_gb = amount_in(said, "disk", 0);
    flavor.ephemeral_gb = amount_in(said, "OS-FLV-EXT-DATA:ephemeral", 0);
    flavor.swap_mb = amount_in(said, "swap", 0);
    if (said.contains("description") && said["description"].is_string())
        flavor.description = said["description"].get<std::string>();
    call.world.nova.flavors.push_back(std::make_shared<const Flavor>(flavor));
    return one_flavor(call, flavor);
}

Response delete_flavor(Call& call) {
    call.need_admin("os_compute_api:os-flavor-manage:delete");
    const auto flavor = flavor_of(call);
    std::erase(call.world.nova.flavors, flavor);
    return accepted(202);
}

/// Servers keep the flavor as it was when they were made.
void replace(Call& call, const std::shared_ptr<const Flavor>& old, Flavor changed) {
    auto& all = call.world.nova.flavors;
    *std::find(all.begin(), all.end(), old) = std::make_shared<const Flavor>(std::move(changed));
}

Response show_specs(Call& call) {
    JsonWriter json;
    json.open_object();
    write_map(json, "extra_specs", flavor_of(call)->extra_specs);
    json.close_object();
    return json_response(200, json.take());
}

Response add_specs(Call& call) {
    call.need_admin("os_compute_api:os-flavor-extra-specs:create");
    const Json document = call.body();
    const auto old = flavor_of(call);
    Flavor changed = *old;
    for (const auto& [key, value] : need_object(document, "extra_specs").items())
        changed.extra_specs[key] = value.is_string() ? value.get<std::string>() : value.dump();
    replace(call, old, std::move(changed));
    return show_specs(call);
}

Response delete_spec(Call& call) {
    call.need_admin("os_compute_api:os-flavor-extra-specs:delete");
    const auto old = flavor_of(call);
    Flavor changed = *old;
    if (changed.extra_specs.erase(call.args[1]) == 0)
        throw ApiError(
            404, "Flavor " + call.args[0] + " has no extra specs with key " + call.args[1] + ".");
    replace(call, old, std::move(changed));
    Response response;
    response.content_type.clear();
    return response;
}

// Server groups --------------------------------------------------------------

void write_group(JsonWriter& json, const Call& call, const ServerGroup& group) {
    json.open_object().member("id", group.id.text()).member("name", group.name);
    if (call.since(64)) {
        json.member("policy", group.policy).open_object("rules");
        if (group.max_on_a_host != 1) json.member("max_server_per_host", group.max_on_a_host);
        json.close_object();
    } else {
        json.open_array("policies").value(group.policy).close_array();
        json.open_object("metadata").close_object();
    }
    json.open_array("members");
    for (const Uuid& member : group.members) json.value(member.text());
    json.close_array();
    if (call.since(13))
        json.member("project_id", group.project_id).member("user_id", group.user_id);
    json.close_object();
}

Response one_group(const Call& call, const ServerGroup& group) {
    JsonWriter json;
    json.open_object().name("server_group");
    write_group(json, call, group);
    json.close_object();
    return json_response(200, json.take());
}

Response list_groups(Call& call) {
    const bool all = call.by->is_admin && call.request.parameter("all_projects");
    JsonWriter json;
    json.open_object().open_array("server_groups");
    for (const auto& group : call.world.nova.groups)
        if (all || group->project_id == call.by->project_id) write_group(json, call, *group);
    json.close_array().close_object();
    return json_response(200, json.take());
}

ServerGroup& group_of(const Call& call) {
    const auto id = Uuid::parse(call.args[0]);
    ServerGroup* group = id ? call.world.nova.find_group(*id) : nullptr;
    if (!group) throw ApiError(404, "Instance group " + call.args[0] + " could not be found.");
    return *group;
}

Response create_group(Call& call) {
    const Json document = call.body();
    const Json& said = need_object(document, "server_group");
    auto group = std::make_unique<ServerGroup>();
    group->id = call.world.rng.uuid();
    group->name = need_text(said, "name");
    group->policy = text_in(said, "policy", "");
    if (said.contains("policies") && said["policies"].is_array() && !said["policies"].empty() &&
        said["policies"][0].is_string())
        group->policy = said["policies"][0].get<std::string>();
    if (group->policy.empty())
        throw ApiError(400, "Invalid input for field/attribute: 'policy' is a required property");
    if (said.contains("rules") && said["rules"].contains("max_server_per_host"))
        group->max_on_a_host =
            number_in(said["rules"]["max_server_per_host"].dump(), "Invalid max_server_per_host");
    group->project_id = call.by->project_id;
    group->user_id = call.by->user_id;
    call.world.nova.groups.push_back(std::move(group));
    return one_group(call, *call.world.nova.groups.back());
}

Response show_group(Call& call) {
    return one_group(call, group_of(call));
}

Response delete_group(Call& call) {
    const ServerGroup& group = group_of(call);
    std::erase_if(call.world.nova.groups, [&](const auto& each) { return each.get() == &group; });
    return accepted(204);
}

Response limits(Call&) {
    JsonWriter json;
    json.open_object().open_object("limits").open_array("rate").close_array();
    json.open_object("absolute");
    for (const char* key : {"maxTotalInstances", "maxTotalCores", "maxTotalRAMSize",
                            "maxServerGroups", "maxServerGroupMembers", "maxServerMeta"})
        json.member(key, -1);
    json.close_object().close_object().close_object();
    return json_response(200, json.take());
}

Response keypairs(Call&) {
    return json_response(200, R"({"keypairs":[]})");
}

constexpr Route routes[] = {
    {"GET", "flavors", flavors_brief},
    {"POST", "flavors", create_flavor},
    {"GET", "flavors/detail", flavors_detail},
    {"GET", "flavors/*", show_flavor},
    {"DELETE", "flavors/*", delete_flavor},
    {"GET", "flavors/*/os-extra_specs", show_specs},
    {"POST", "flavors/*/os-extra_specs", add_specs},
    {"DELETE", "flavors/*/os-extra_specs/*", delete_spec},
    {"GET", "os-server-groups", list_groups},
    {"POST", "os-server-groups", create_group},
    {"GET", "os-server-groups/*", show_group},
    {"DELETE", "os-server-groups/*", delete_group},
    {"GET", "limits", limits},
    {"GET", "os-keypairs", keypairs},
};

}  // namespace
}  // namespace nova_catalogue_api

std::span<const Route> nova_catalogue() {
    return nova_catalogue_api::routes;
}

}  // namespace reaper::cloudsim
