// Nova's /os-aggregates.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cloudsim/api/nova_parts.hpp"

namespace reaper::cloudsim {

namespace nova_aggregates_api {
namespace {

using Json = nlohmann::json;

void write_aggregate(JsonWriter& json, const Call& call, const Aggregate& aggregate) {
    const auto zone = aggregate.metadata.find("availability_zone");
    json.open_object().member("id", aggregate.number).member("name", aggregate.name);
    write_texts(json, "hosts", aggregate.hosts);
    json.name("availability_zone");
    if (zone == aggregate.metadata.end())
        json.value(nullptr);
    else
        json.value(zone->second);
    write_map(json, "metadata", aggregate.metadata);
    json.member("created_at", iso_micro(aggregate.created)).name("updated_at");
    if (aggregate.updated)
        json.value(iso_micro(*aggregate.updated));
    else
        json.value(nullptr);
    json.member("deleted_at", nullptr).member("deleted", false);
    if (call.since(41)) json.member("uuid", aggregate.id.text());
    json.close_object();
}

Response one(const Call& call, const Aggregate& aggregate) {
    JsonWriter json;
    json.open_object().name("aggregate");
    write_aggregate(json, call, aggregate);
    json.close_object();
    return json_response(200, json.take());
}

Aggregate& aggregate_of(Call& call) {
    const auto number = number_in(call.args[0], "Invalid aggregate id: " + call.args[0]);
    Aggregate* aggregate = call.world.nova.find_aggregate(static_cast<int>(number));
    if (!aggregate) throw ApiError(404, "Aggregate " + call.args[0] + " could not be found.");
    return *aggregate;
}

Response list(Call& call) {
    call.need_admin("os_compute_api:os-aggregates:index");
    JsonWriter json;
    json.open_object().open_array("aggregates");
    for (const auto& aggregate : call.world.nova.aggregates)
        write_aggregate(json, call, *aggregate);
    json.close_array().close_object();
    return json_response(200, json.take());
}

Response create(Call& call) {
    call.need_admin("os_compute_api:os-aggregates:create");
    const Json document = call.body();
    const Json& said = need_object(document, "aggregate");
    const std::string name = need_text(said, "name");
    for (const auto& each : call.world.nova.aggregates)
        if (each->name == name) throw ApiError(409, "Aggregate " + name + " already exists.");
    return one(call, call.lifecycle.create_aggregate(name, text_in(said, "availability_zone", ""),
                                                     call.by));
}

Response show(Call& call) {
    call.need_admin("os_compute_api:os-aggregates:show");
    return one(call, aggregate_of(call));
}

Response update(Call& call) {
    call.need_admin("os_compute_api:os-aggregates:update");
    const Json document = call.body();
    const Json& said = need_object(document, "aggregate");
    Aggregate& aggregate = aggregate_of(call);
    aggregate.name = text_in(said, "name", aggregate.name);
    if (said.contains("availability_zone"))
        call.lifecycle.set_aggregate_metadata(
            aggregate, {{"availability_zone", text_in(said, "availability_zone", "")}}, call.by);
    return one(call, aggregate);
}

Response remove(Call& call) {
    call.need_admin("os_compute_api:os-aggregates:delete");
    Aggregate& aggregate = aggregate_of(call);
    if (!aggregate.hosts.empty())
        throw ApiError(400, "Cannot remove host from aggregate " + call.args[0] +
                                ": Host aggregate is not empty");
    call.lifecycle.delete_aggregate(aggregate, call.by);
    Response response;
    response.content_type.clear();
    return response;
}

Host& host_in(const Call& call, const Json& said) {
    const std::string name = need_text(said, "host");
    Host* host = call.world.nova.find_host(name);
    if (!host) throw ApiError(404, "Compute host " + name + " could not be found.");
    return *host;
}

void add_host(Call& call, Aggregate& aggregate, Host& host) {
    const auto zone = aggregate.metadata.find("availability_zone");
    const bool there = std::find(aggregate.hosts.begin(), aggregate.hosts.end(), host.name) !=
                       aggregate.hosts.end();
    if (there)
        throw ApiError(409, "Cannot add host " + host.name + " in aggregate " + call.args[0] +
                                ": host exists");
    if (zone != aggregate.metadata.end() && zone->second != host.zone) {
        const std::string why = "Cannot add host to aggregate " + call.args[0] + ". Reason: ";
        if (host.zone != "nova")
            throw ApiError(409, why +
                                    "One or more hosts already in different availability zone(s)"
                                    " [" +
                                    host.zone + "].");
        if (!host.servers.empty())
            throw ApiError(409, why + "One or more hosts contain instances in this zone.");
    }
    call.lifecycle.add_to_aggregate(aggregate, host, call.by);
}

Response act(Call& call) {
    call.need_admin("os_compute_api:os-aggregates:update");
    const Json document = call.body();
    Aggregate& aggregate = aggregate_of(call);
    if (document.contains("add_host")) {
        add_host(call, aggregate, host_in(call, document["add_host"]));
    } else if (document.contains("remove_host")) {
        Host& host = host_in(call, document["remove_host"]);
        if (std::find(aggregate.hosts.begin(), aggregate.hosts.end(), host.name) ==
            aggregate.hosts.end())
            throw ApiError(404, "Cannot remove host " + host.name + " in aggregate " +
                                    call.args[0] + ": not found");
        call.lifecycle.remove_from_aggregate(aggregate, host, call.by);
    } else if (document.contains("set_metadata")) {
        std::map<std::string, std::optional<std::string>> changes;
        for (const auto& [key, value] : need_object(document["set_metadata"], "metadata").items())
            changes[key] =
                value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
        call.lifecycle.set_aggregate_metadata(aggregate, changes, call.by);
    } else {
        throw ApiError(400, "There is no such action");
    }
    return one(call, aggregate);
}

constexpr Route routes[] = {
    {"GET", "os-aggregates", list},        {"POST", "os-aggregates", create},
    {"GET", "os-aggregates/*", show},      {"PUT", "os-aggregates/*", update},
    {"DELETE", "os-aggregates/*", remove}, {"POST", "os-aggregates/*/action", act},
};

}  // namespace
}  // namespace nova_aggregates_api

std::span<const Route> nova_aggregates() {
    return nova_aggregates_api::routes;
}

}  // namespace reaper::cloudsim
