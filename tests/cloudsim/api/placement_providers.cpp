// Placement's /resource_providers.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/cloudsim/api/placement_parts.hpp"

namespace reaper::cloudsim {

namespace {

using Json = nlohmann::json;

Provider& provider_of(Call& call) {
    const auto id = Uuid::parse(call.args[0]);
    Provider* provider = id ? call.world.placement.find(*id) : nullptr;
    if (!provider) throw ApiError(404, "No resource provider with uuid " + call.args[0] + " found");
    return *provider;
}

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
                        ? call.world.dice.uuid()
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

void write_inventory(JsonWriter& json, const Inventory& inventory) {
    json.member("total", inventory.total).member("reserved", inventory.reserved);
    json.member("min_unit", inventory.min_unit).member("max_unit", inventory.max_unit);
    json.member("step_size", inventory.step_size);
    json.member("allocation_ratio", inventory.allocation_ratio);
}

Response inventories(Call& call) {
    const Provider& provider = provider_of(call);
    JsonWriter json;
    json.open_object().member("resource_provider_generation", provider.generation);
    json.open_object("inventories");
    for (const Room& room : provider.rooms) {
        json.open_object(call.world.names.text(room.resource_class));
        write_inventory(json, room.inventory);
        json.close_object();
    }
    json.close_object().close_object();
    return json_response(200, json.take());
}

Inventory inventory_in(const Json& said, const std::string& name, const Provider& provider) {
    Inventory inventory;
    try {
        inventory.total = said.at("total").get<std::int64_t>();
        inventory.reserved = said.value("reserved", inventory.reserved);
        inventory.min_unit = said.value("min_unit", inventory.min_unit);
        inventory.max_unit = said.value("max_unit", inventory.max_unit);
        inventory.step_size = said.value("step_size", inventory.step_size);
        inventory.allocation_ratio = said.value("allocation_ratio", inventory.allocation_ratio);
    } catch (const Json::exception& wrong) {
        throw ApiError(400, std::string("JSON does not validate: ") + wrong.what());
    }
    if (inventory.total < 1 || inventory.step_size < 1 || inventory.min_unit < 1)
        throw ApiError(
            400, "JSON does not validate: an amount of " + name + " is less than the minimum of 1");
    if (inventory.capacity() < 0)
        throw ApiError(400, "Unable to update inventory for resource provider " +
                                provider.uuid.text() + ": Invalid inventory for '" + name +
                                "' on resource provider '" + provider.uuid.text() +
                                "'. The reserved value is greater than total.");
    return inventory;
}

NameId class_in(const Call& call, const std::string& name, const Provider& provider) {
    if (!call.world.placement.knows_class(name))
        throw ApiError(400, "Unknown resource class in inventory for resource provider " +
                                provider.uuid.text() + ": No such resource class " + name + ".");
    return call.world.names.id(name);
}

std::int64_t generation_in(const Json& said) {
    const auto found = said.find("resource_provider_generation");
    if (found == said.end() || !found->is_number_integer())
        throw ApiError(400,
                       "JSON does not validate: 'resource_provider_generation' is a required "
                       "property");
    return found->get<std::int64_t>();
}

Response set_inventories(Call& call) {
    const Json said = call.body();
    Provider& provider = provider_of(call);
    std::map<NameId, Inventory> wanted;
    for (const auto& [name, each] : need_object(said, "inventories").items())
        wanted[class_in(call, name, provider)] = inventory_in(each, name, provider);
    throw_if(call.world.placement.set_inventories(provider, wanted, generation_in(said)));
    return inventories(call);
}

Response delete_inventories(Call& call) {
    Provider& provider = provider_of(call);
    throw_if(call.world.placement.set_inventories(provider, {}, provider.generation));
    return no_content();
}

Response one_inventory(const Provider& provider, const Inventory& inventory) {
    JsonWriter json;
    json.open_object();
    write_inventory(json, inventory);
    if (provider.generation) json.member("resource_provider_generation", provider.generation);
    json.close_object();
    return json_response(200, json.take());
}

Response show_inventory(Call& call) {
    const Provider& provider = provider_of(call);
    const auto id = call.world.names.find(call.args[1]);
    const Room* room = id ? provider.room(*id) : nullptr;
    if (!room)
        throw ApiError(404, "No inventory of class " + call.args[1] + " for " + call.args[0]);
    return one_inventory(provider, room->inventory);
}

Response set_inventory(Call& call) {
    const Json said = call.body();
    Provider& provider = provider_of(call);
    const Inventory inventory = inventory_in(said, call.args[1], provider);
    if (generation_in(said) != provider.generation)
        throw ApiError(409, "resource provider generation conflict", "placement.concurrent_update");
    const NameId id = class_in(call, call.args[1], provider);
    throw_if(call.world.placement.set_inventory(provider, id, inventory));
    return one_inventory(provider, inventory);
}

Response delete_inventory(Call& call) {
    Provider& provider = provider_of(call);
    throw_if(call.world.placement.delete_inventory(provider, call.world.names.id(call.args[1])));
    return no_content();
}

Response usages(Call& call) {
    const Provider& provider = provider_of(call);
    JsonWriter json;
    json.open_object().member("resource_provider_generation", provider.generation);
    json.open_object("usages");
    for (const Room& room : provider.rooms)
        json.member(call.world.names.text(room.resource_class), room.used);
    json.close_object().close_object();
    return json_response(200, json.take());
}

Response aggregates(Call& call) {
    const Provider& provider = provider_of(call);
    JsonWriter json;
    json.open_object().open_array("aggregates");
    for (const Uuid& id : provider.aggregates) json.value(id.text());
    json.close_array();
    if (call.since(19)) json.member("resource_provider_generation", provider.generation);
    json.close_object();
    return json_response(200, json.take());
}

void check_generation(const Provider& provider, const Json& said) {
    if (generation_in(said) != provider.generation)
        throw ApiError(409,
                       "Resource provider's generation already changed. Please update the "
                       "generation and try again.",
                       "placement.concurrent_update");
}

Response set_aggregates(Call& call) {
    const Json said = Json::parse(call.request.body, nullptr, false);
    Provider& provider = provider_of(call);
    const bool checked = call.since(19);
    if (checked && !said.is_object()) throw ApiError(400, "JSON does not validate");
    if (checked) check_generation(provider, said);
    const Json& list = checked ? said["aggregates"] : said;
    if (!list.is_array()) throw ApiError(400, "JSON does not validate: aggregates is no list");
    std::vector<Uuid> ids;
    for (const Json& each : list)
        ids.push_back(uuid_in(each.is_string() ? each.get<std::string>() : "",
                              "JSON does not validate: " + each.dump() + " is not a 'uuid'"));
    call.world.placement.set_aggregates(provider, std::move(ids), checked);
    return aggregates(call);
}

Response traits(Call& call) {
    const Provider& provider = provider_of(call);
    JsonWriter json;
    json.open_object().open_array("traits");
    for (const NameId trait : provider.traits) json.value(call.world.names.text(trait));
    json.close_array().member("resource_provider_generation", provider.generation).close_object();
    return json_response(200, json.take());
}

Response set_traits(Call& call) {
    const Json said = call.body();
    Provider& provider = provider_of(call);
    check_generation(provider, said);
    const auto list = said.find("traits");
    if (list == said.end() || !list->is_array())
        throw ApiError(400, "JSON does not validate: 'traits' is a required property");
    std::vector<NameId> ids;
    for (const Json& each : *list) {
        const std::string name = each.is_string() ? each.get<std::string>() : each.dump();
        if (!call.world.placement.knows_trait(name)) throw ApiError(400, "No such trait " + name);
        ids.push_back(call.world.names.id(name));
    }
    call.world.placement.set_traits(provider, std::move(ids));
    return traits(call);
}

Response delete_traits(Call& call) {
    call.world.placement.set_traits(provider_of(call), {});
    return no_content();
}

Response allocations(Call& call) {
    const Provider& provider = provider_of(call);
    JsonWriter json;
    json.open_object().open_object("allocations");
    for (const Consumer* consumer : provider.consumers) {
        json.open_object(consumer->uuid.text()).open_object("resources");
        for (const Held& held : consumer->held)
            if (held.provider == &provider)
                json.member(call.world.names.text(held.resource_class), held.amount);
        json.close_object();
        if (call.since(28)) json.member("consumer_generation", consumer->generation);
        json.close_object();
    }
    json.close_object().member("resource_provider_generation", provider.generation);
    json.close_object();
    return json_response(200, json.take());
}

constexpr Route routes[] = {
    {"GET", "resource_providers", list},
    {"POST", "resource_providers", create},
    {"GET", "resource_providers/*", show},
    {"PUT", "resource_providers/*", update},
    {"DELETE", "resource_providers/*", remove},
    {"GET", "resource_providers/*/inventories", inventories},
    {"PUT", "resource_providers/*/inventories", set_inventories},
    {"DELETE", "resource_providers/*/inventories", delete_inventories},
    {"GET", "resource_providers/*/inventories/*", show_inventory},
    {"PUT", "resource_providers/*/inventories/*", set_inventory},
    {"DELETE", "resource_providers/*/inventories/*", delete_inventory},
    {"GET", "resource_providers/*/usages", usages},
    {"GET", "resource_providers/*/aggregates", aggregates},
    {"PUT", "resource_providers/*/aggregates", set_aggregates},
    {"GET", "resource_providers/*/traits", traits},
    {"PUT", "resource_providers/*/traits", set_traits},
    {"DELETE", "resource_providers/*/traits", delete_traits},
    {"GET", "resource_providers/*/allocations", allocations},
};

}  // namespace

std::span<const Route> placement_providers() {
    return routes;
}

}  // namespace reaper::cloudsim
