#include "tests/cloudsim/messages/payloads.hpp"

#include "tests/cloudsim/messages/tracebacks.hpp"

namespace reaper::cloudsim {

void open_nova_object(JsonWriter& json, std::string_view name, std::string_view version) {
    json.open_object().member("nova_object.name", name).member("nova_object.namespace", "nova");
    json.member("nova_object.version", version).open_object("nova_object.data");
}

void close_nova_object(JsonWriter& json) {
    json.close_object().close_object();
}

void write_flavor_payload(JsonWriter& json, const Flavor& flavor) {
    open_nova_object(json, "FlavorPayload", "1.4");
    json.member("flavorid", flavor.id).member("memory_mb", flavor.memory_mb);
    json.member("vcpus", flavor.vcpus).member("root_gb", flavor.root_gb);
    json.member("ephemeral_gb", flavor.ephemeral_gb).member("name", flavor.name);
    json.member("swap", flavor.swap_mb).member("rxtx_factor", 1.0).member("vcpu_weight", 0);
    json.member("disabled", false).member("is_public", flavor.is_public);
    write_map(json, "extra_specs", flavor.extra_specs);
    json.member("projects", nullptr).member("description", flavor.description);
    close_nova_object(json);
}

namespace {

void write_image_payload(JsonWriter& json, const Image* image) {
    open_nova_object(json, "ImageMetaPayload", "1.0");
    json.name("id");
    if (image)
        json.value(image->id.text());
    else
        json.value(nullptr);
    json.name("name");
    if (image)
        json.value(image->name);
    else
        json.value(nullptr);
    json.member("status", "active").member("visibility", nullptr).member("protected", nullptr);
    json.member("checksum", "93b885adfe0da089cdf634904fd59f71");
    json.member("owner", image ? image->owner : "").member("size", 1);
    json.member("virtual_size", nullptr).member("container_format", "bare");
    json.member("disk_format", "raw");
    const std::string created = iso_z(image ? image->created : Time{});
    json.member("created_at", created).member("updated_at", created).member("tags", nullptr);
    json.member("direct_url", nullptr).member("min_ram", 0).member("min_disk", 0);
    json.name("properties");
    open_nova_object(json, "ImageMetaPropsPayload", "1.12");
    close_nova_object(json);
    close_nova_object(json);
}

void write_text_or_null(JsonWriter& json, std::string_view key, const std::string& text) {
    json.name(key);
    if (text.empty())
        json.value(nullptr);
    else
        json.value(text);
}

void write_list_or_null(JsonWriter& json, std::string_view key, const std::string& only) {
    json.name(key);
    if (only.empty())
        json.value(nullptr);
    else
        json.open_array().value(only).close_array();
}

void write_group(JsonWriter& json, const ServerGroup* group) {
    json.name("instance_group");
    if (!group) {
        json.value(nullptr);
        return;
    }
    open_nova_object(json, "ServerGroupPayload", "1.1");
    json.member("uuid", group->id.text()).member("name", group->name);
    json.member("user_id", group->user_id).member("project_id", group->project_id);
    json.open_array("policies").value(group->policy).close_array();
    json.open_array("members");
    for (const Uuid& member : group->members) json.value(member.text());
    json.close_array().member("hosts", nullptr).member("policy", group->policy);
    json.open_object("rules").close_object();
    close_nova_object(json);
}

void write_destination(JsonWriter& json, const std::string& host) {
    json.name("requested_destination");
    if (host.empty()) {
        json.value(nullptr);
        return;
    }
    open_nova_object(json, "DestinationPayload", "1.0");
    json.member("host", host).member("node", host).member("cell", nullptr);
    json.member("aggregates", nullptr);
    close_nova_object(json);
}

void write_servers(JsonWriter& json, std::string_view key, const std::vector<Uuid>& servers) {
    if (servers.empty()) return;
    json.open_array(key);
    for (const Uuid& server : servers) json.value(server.text());
    json.close_array();
}

void write_hints(JsonWriter& json, const Placing& placing, bool lossy) {
    json.open_object("scheduler_hints");
    if (!lossy) {
        if (placing.group) json.open_array("group").value(placing.group->id.text()).close_array();
        write_servers(json, "same_host", placing.same_host);
        write_servers(json, "different_host", placing.different_host);
    }
    json.close_object();
}

}  // namespace

void write_request_spec(JsonWriter& json, const World& world, const Placing& placing, bool lossy) {
    const std::string first = placing.servers.front().text();
    open_nova_object(json, "RequestSpecPayload", "1.1");
    json.member("instance_uuid", first);
    json.member("project_id", world.names.text(placing.project));
    json.member("user_id", world.names.text(placing.user));
    write_text_or_null(json, "availability_zone", placing.zone);
    json.name("flavor");
    write_flavor_payload(json, *placing.flavor);
    write_list_or_null(json, "force_hosts", lossy ? "" : placing.forced);
    json.member("force_nodes", nullptr);
    write_list_or_null(json, "ignore_hosts",
                       lossy || !placing.ignored ? "" : placing.ignored->name);
    write_group(json, lossy ? nullptr : placing.group);
    json.name("image");
    write_image_payload(json, placing.image);
    json.member("numa_topology", nullptr).name("pci_requests");
    open_nova_object(json, "InstancePCIRequestsPayload", "1.0");
    json.member("instance_uuid", first).open_array("requests").close_array();
    close_nova_object(json);
    json.member("num_instances", placing.count());
    write_destination(json, lossy ? "" : placing.host);
    json.member("retry", nullptr);
    write_hints(json, placing, lossy);
    json.open_array("security_groups");
    if (!lossy) json.value("default");
    json.close_array();
    close_nova_object(json);
}

namespace {

void write_bare_request_spec(JsonWriter& json, const Uuid& server) {
    open_nova_object(json, "RequestSpecPayload", "1.1");
    json.member("instance_uuid", server.text());
    for (const char* key :
         {"project_id", "user_id", "availability_zone", "flavor", "force_hosts", "force_nodes",
          "ignore_hosts", "instance_group", "image", "numa_topology", "pci_requests",
          "num_instances", "requested_destination", "retry"})
        json.member(key, nullptr);
    json.open_object("scheduler_hints").close_object();
    json.open_array("security_groups").close_array();
    close_nova_object(json);
}

}  // namespace

std::string refusal_payload(const World& world, const RefusalEvent& event) {
    const std::string reason = event.had_candidates ? "There are not enough hosts available." : "";
    JsonWriter json;
    open_nova_object(json, "ComputeTaskPayload", "1.0");
    json.member("instance_uuid", event.server.text()).name("request_spec");
    if (event.bare)
        write_bare_request_spec(json, event.server);
    else
        write_request_spec(json, world, event.placing, true);
    json.member("state", event.state).name("reason");
    open_nova_object(json, "ExceptionPayload", "1.1");
    json.member("module_name", "oslo_messaging._drivers.amqpdriver");
    json.member("function_name", "_send").member("exception", "NoValidHost_Remote");
    json.member("exception_message", exception_message(reason));
    json.member("traceback", traceback_of(event.method, reason));
    close_nova_object(json);
    close_nova_object(json);
    return json.take();
}

std::string service_payload(const ServiceEvent& event) {
    const Host& host = event.host;
    JsonWriter json;
    open_nova_object(json, "ServiceStatusPayload", "1.1");
    json.member("host", host.name).member("binary", "nova-compute").member("topic", "compute");
    json.member("report_count", 1).member("disabled", host.disabled);
    json.member("disabled_reason", host.disabled_reason).member("availability_zone", nullptr);
    json.member("last_seen_up", iso_z(event.last_seen));
    json.member("forced_down", host.forced_down).member("version", 66);
    json.member("uuid", host.service.text());
    close_nova_object(json);
    return json.take();
}

std::string aggregate_payload(const AggregateEvent& event) {
    const Aggregate& aggregate = event.aggregate;
    const bool is_new = event.name == "create.start";
    JsonWriter json;
    open_nova_object(json, "AggregatePayload", "1.1");
    json.name("id");
    if (is_new)
        json.value(nullptr);
    else
        json.value(aggregate.number);
    json.member("uuid", aggregate.id.text()).member("name", aggregate.name).name("hosts");
    if (is_new) {
        json.value(nullptr);
    } else {
        json.open_array();
        for (const std::string& host : aggregate.hosts) json.value(host);
        json.close_array();
    }
    write_map(json, "metadata", aggregate.metadata);
    close_nova_object(json);
    return json.take();
}

}  // namespace reaper::cloudsim
