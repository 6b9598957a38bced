// What a provider has: inventories, usages, aggregates, traits, allocations.
#include <map>
#include <nlohmann/json.hpp>

#include "tests/cloudsim/api/placement_parts.hpp"

namespace reaper::cloudsim {

namespace placement_provider_parts_api {
namespace {

using Json = nlohmann::json;

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
}  // namespace placement_provider_parts_api

Provider& provider_of(Call& call) {
    const auto id = Uuid::parse(call.args[0]);
    Provider* provider = id ? call.world.placement.find(*id) : nullptr;
    if (!provider) throw ApiError(404, "No resource provider with uuid " + call.args[0] + " found");
    return *provider;
}

std::span<const Route> placement_provider_parts() {
    return placement_provider_parts_api::routes;
}

}  // namespace reaper::cloudsim
