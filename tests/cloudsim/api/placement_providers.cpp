// Placement's /resource_providers.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/cloudsim/api/placement_parts.hpp"

namespace reaper::cloudsim {

namespace placement_providers_api {
namespace {

using Json = nlohmann::json;

void write_provider(JsonWriter& json, const Call& call, const Provider& provider) {
    const std::string self = "/resource_providers/" + provider.uuid.text();
    json.open_object().member("uuid", provider.uuid.text()).member("name", provider.name);
    json.member("generation", provider.generation).open_array("links");
    auto link = [&](std::string_view rel, const std::string& href) {
        json.open_object().member("rel", rel).member("href", href).close_object();
    };
    link("self", self);
    link("inventories", self + "/inventories");
    link("usages", self + "/usages");
    if (call.since(1)) link("aggregates", self + "/aggregates");
    if (call.since(6)) link("traits", self + "/traits");
    if (call.since(11)) link("allocations", self + "/allocations");
    json.close_array();
    if (call.since(14)) {
        json.name("parent_provider_uuid");
        if (provider.parent)
            json.value(provider.parent->uuid.text());
        else
            json.value(nullptr);
        json.member("root_provider_uuid", provider.root->uuid.text());
    }
    json.close_object();
}

Response one(const Call& call, const Provider& provider, int status = 200) {
    JsonWriter json;
    write_provider(json, call, provider);
    return json_response(status, json.take());
}

bool has_room(const Provider& provider, const RequestGroup& group) {
    return std::all_of(group.resources.begin(), group.resources.end(), [&](const auto& wanted) {
        const Room* room = provider.room(wanted.first);
        return room && room->fits(wanted.second);
    });
}

Response list(Call& call) {
    RequestGroup group;
    for (const std::string& text : call.request.parameters("member_of")) add_member_of(text, group);
    for (const std::string& text : call.request.parameters("required"))
        add_required(call, text, group);
    if (const auto text = call.request.parameter("resources"))
        group.resources = resources_in(call, *text);
    const auto name = call.request.parameter("name");
    const auto uuid = call.request.parameter("uuid");
    const auto in_tree = call.request.parameter("in_tree");
    const Provider* tree = nullptr;
    if (in_tree) {
        tree =
            call.world.placement.find(uuid_in(*in_tree, "Invalid in_tree parameter: " + *in_tree));
        if (!tree) return json_response(200, R"({"resource_providers":[]})");
    }
    JsonWriter json;
    json.open_object().open_array("resource_providers");
    auto consider = [&](const Provider& provider) {
        if (name && *name != provider.name) return;
        if (uuid && *uuid != provider.uuid.text()) return;
        if (admits(provider, group) && has_room(provider, group))
            write_provider(json, call, provider);
    };
    if (tree) {
        std::vector<const Provider*> left{tree->root};
        for (std::size_t at = 0; at < left.size(); ++at) {
            consider(*left[at]);
            const std::vector<Provider*>& children = left[at]->children;
            left.insert(left.end(), children.begin(), children.end());
        }
    } else if (name) {
        if (const Provider* provider = call.world.placement.find_name(*name)) consider(*provider);
    } else {
        for (const Provider* provider : call.world.placement.providers()) consider(*provider);
    }
    json.close_array().close_object();
    return json_response(200, json.take());
}

Response create(Call& call) {
    const Json said = call.body();
    const std::string name = need_text(said, "name");
    const std::string given = text_in(said, "uuid", "");
    const Uuid id = given.empty()
                        ? call.world.rng.uuid()
                        : uuid_in(given, "JSON does not validate: '" + given + "' is not a 'uuid'");
    const std::string parent_text = text_in(said, "parent_provider_uuid", "");
    Provider* parent = nullptr;
    if (!parent_text.empty()) {
        parent = call.world.placement.find(
            uuid_in(parent_text, "'" + parent_text + "' is not a 'uuid'"));
        if (!parent)
            throw ApiError(400, "Unable to create resource provider \"" + name + "\", " +
                                    id.text() +
                                    ": Object action create failed because: parent "
                                    "provider UUID does not exist.");
    }
    throw_if(call.world.placement.create_provider(id, name, parent));
    const Provider& made = *call.world.placement.find(id);
    Response response = call.since(20) ? one(call, made) : no_content(201);
    response.headers.emplace_back("location", call.base + "/resource_providers/" + id.text());
    return response;
}

Response show(Call& call) {
    return one(call, provider_of(call));
}

Response update(Call& call) {
    const Json said = call.body();
    Provider& provider = provider_of(call);
    throw_if(call.world.placement.rename(provider, need_text(said, "name")));
    return one(call, provider);
}

Response remove(Call& call) {
    Provider& provider = provider_of(call);
    if (call.world.nova.host_of(provider))
        throw ApiError(409, "Unable to delete resource provider " + provider.uuid.text() +
                                ": it is a compute node of this cloud");
    throw_if(call.world.placement.delete_provider(provider));
    return no_content();
}

constexpr Route routes[] = {
    {"GET", "resource_providers", list},        {"POST", "resource_providers", create},
    {"GET", "resource_providers/*", show},      {"PUT", "resource_providers/*", update},
    {"DELETE", "resource_providers/*", remove},
};

}  // namespace
}  // namespace placement_providers_api

std::span<const Route> placement_providers() {
    return placement_providers_api::routes;
}

}  // namespace reaper::cloudsim
