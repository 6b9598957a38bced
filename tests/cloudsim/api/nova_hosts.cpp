// Nova's /os-hypervisors, /os-services, /os-availability-zone, and of /os-migrations the resizes
// that are not confirmed.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/cloudsim/api/nova_parts.hpp"

namespace reaper::cloudsim {

namespace nova_hosts_api {
namespace {

using Json = nlohmann::json;

constexpr int uuids_since = 53;

std::int64_t of_class(const Call& call, const Host& host, const char* name, bool used) {
    const Room* room = host.provider->room(call.world.names.id(name));
    if (!room) return 0;
    return used ? room->used : room->inventory.total;
}

/// What 2.88 took out of the answer.
void write_old_fields(JsonWriter& json, const Call& call, const Host& host) {
    const auto ram = of_class(call, host, "MEMORY_MB", false);
    const auto ram_used = of_class(call, host, "MEMORY_MB", true);
    const auto disk = of_class(call, host, "DISK_GB", false);
    const auto disk_used = of_class(call, host, "DISK_GB", true);
    json.member("vcpus", of_class(call, host, "VCPU", false)).member("memory_mb", ram);
    json.member("local_gb", disk).member("vcpus_used", of_class(call, host, "VCPU", true));
    json.member("memory_mb_used", ram_used).member("local_gb_used", disk_used);
    json.member("free_ram_mb", ram - ram_used).member("free_disk_gb", disk - disk_used);
    json.member("current_workload", 0).member("running_vms", host.servers.size());
    json.member("disk_available_least", disk - disk_used);
    if (call.since(28))
        json.open_object("cpu_info").close_object();
    else
        json.member("cpu_info", "{}");
}

void write_id(JsonWriter& json, const Call& call, const Uuid& id, int number) {
    json.name("id");
    if (call.since(uuids_since))
        json.value(id.text());
    else
        json.value(number);
}

void write_hypervisor(JsonWriter& json, const Call& call, const Host& host, bool detail) {
    json.open_object();
    write_id(json, call, host.provider->uuid, host.number);
    json.member("hypervisor_hostname", host.provider->name)
        .member("state", host.up() ? "up" : "down");
    json.member("status", host.disabled ? "disabled" : "enabled");
    if (detail) {
        json.member("hypervisor_type", "fake").member("hypervisor_version", 1000);
        json.member("host_ip", "127.0.0.1").open_object("service");
        write_id(json, call, host.service, host.number);
        json.member("host", host.name).member("disabled_reason", host.disabled_reason);
        json.close_object();
        if (call.since(88))
            json.member("uptime", nullptr);
        else
            write_old_fields(json, call, host);
    }
    json.close_object();
}

Response list_hypervisors(Call& call, bool detail) {
    call.need_admin(detail ? "os_compute_api:os-hypervisors:list-detail"
                           : "os_compute_api:os-hypervisors:list");
    const auto& hosts = call.world.nova.hosts;
    std::size_t at = 0;
    if (const auto marker = call.request.parameter("marker")) {
        const auto found = std::find_if(hosts.begin(), hosts.end(), [&](const auto& host) {
            return host->provider->uuid.text() == *marker;
        });
        if (found == hosts.end()) throw ApiError(400, "marker [" + *marker + "] not found");
        at = static_cast<std::size_t>(found - hosts.begin()) + 1;
    }
    const auto pattern = call.request.parameter("hypervisor_hostname_pattern");
    const std::size_t most = page_size(call);
    std::size_t count = 0;
    JsonWriter json;
    json.open_object().open_array("hypervisors");
    for (; at < hosts.size() && count < most; ++at) {
        if (pattern && hosts[at]->provider->name.find(*pattern) == std::string::npos) continue;
        write_hypervisor(json, call, *hosts[at], detail);
        ++count;
    }
    json.close_array();
    if (count == most && !pattern)
        write_next_link(json, call, "hypervisors_links", hosts[at - 1]->provider->uuid.text());
    json.close_object();
    return json_response(200, json.take());
}

Response list_migrations(Call& call) {
    call.need_admin("os_compute_api:os-migrations:index");
    const auto status = call.request.parameter("status");
    JsonWriter json;
    json.open_object().open_array("migrations");
    for (const Server* const server : call.world.nova.listed()) {
        const ServerExtras* const extra = server->extra();
        if (server->state != VmState::resized || extra == nullptr || extra->old_host == nullptr)
            continue;
        if (status && *status != "finished") continue;
        json.open_object().member("uuid", extra->migration.text());
        json.member("instance_uuid", server->id.text()).member("status", "finished");
        json.member("migration_type", "resize").member("source_compute", extra->old_host->name);
        json.member("dest_compute", server->host ? server->host->name : "").close_object();
    }
    json.close_array().close_object();
    return json_response(200, json.take());
}

Response hypervisors_brief(Call& call) {
    return list_hypervisors(call, false);
}
Response hypervisors_detail(Call& call) {
    return list_hypervisors(call, true);
}

const Host& hypervisor_of(const Call& call) {
    const auto id = Uuid::parse(call.args[0]);
    if (id)
        if (const Provider* provider = call.world.placement.find(*id))
            if (const Host* host = call.world.nova.host_of(*provider)) return *host;
    for (const auto& host : call.world.nova.hosts)
        if (std::to_string(host->number) == call.args[0]) return *host;
    throw ApiError(404, "Compute host " + call.args[0] + " could not be found.");
}

Response show_hypervisor(Call& call) {
    call.need_admin("os_compute_api:os-hypervisors:show");
    JsonWriter json;
    json.open_object().name("hypervisor");
    write_hypervisor(json, call, hypervisor_of(call), true);
    json.close_object();
    return json_response(200, json.take());
}

Response uptime(Call& call) {
    call.need_admin("os_compute_api:os-hypervisors:uptime");
    if (call.since(88)) throw ApiError(404, "The resource could not be found.");
    throw ApiError(501, "Virt driver does not implement uptime function.");
}

// Services -------------------------------------------------------------------

void write_service(JsonWriter& json, const Call& call, const Host& host) {
    json.open_object().member("binary", "nova-compute").member("host", host.name);
    write_id(json, call, host.service, host.number);
    json.member("zone", host.zone).member("status", host.disabled ? "disabled" : "enabled");
    json.member("state", host.up() ? "up" : "down");
    json.member("updated_at", iso_micro(to_seconds(call.world.clock.now())));
    json.member("disabled_reason", host.disabled_reason);
    if (call.since(11)) json.member("forced_down", host.forced_down);
    json.close_object();
}

Response services(Call& call) {
    call.need_admin("os_compute_api:os-services:list");
    const auto binary = call.request.parameter("binary");
    const auto name = call.request.parameter("host");
    JsonWriter json;
    json.open_object().open_array("services");
    if (!binary || *binary == "nova-compute") {
        if (name) {
            if (const Host* host = call.world.nova.find_host(*name))
                write_service(json, call, *host);
        } else {
            for (const auto& host : call.world.nova.hosts) write_service(json, call, *host);
        }
    }
    json.close_array().close_object();
    return json_response(200, json.take());
}

Response one_service(const Call& call, const Host& host) {
    JsonWriter json;
    json.open_object().name("service");
    write_service(json, call, host);
    json.close_object();
    return json_response(200, json.take());
}

void change_service(Call& call, Host& host, const Json& said) {
    if (said.contains("status")) {
        const std::string status = text_in(said, "status", "");
        if (status != "enabled" && status != "disabled")
            throw ApiError(400, "Invalid input for field/attribute status. Value: " + status + ".");
        std::optional<std::string> reason;
        if (said.contains("disabled_reason")) reason = text_in(said, "disabled_reason", "");
        call.lifecycle.set_service(host, status == "disabled", reason, call.by);
    }
    if (const auto down = said.find("forced_down"); down != said.end()) {
        if (!down->is_boolean())
            throw ApiError(400, "Invalid input for field/attribute forced_down.");
        if (down->get<bool>() != host.forced_down)
            call.lifecycle.force_down(host, down->get<bool>(), call.by);
    }
}

Response update_service(Call& call) {
    call.need_admin("os_compute_api:os-services:update");
    const Json said = call.body();
    const auto id = Uuid::parse(call.args[0]);
    Host* host = id ? call.world.nova.host_of_service(*id) : nullptr;
    if (!host) {
        // Before 2.53: PUT /os-services/enable, disable, disable-log-reason, force-down
        host = call.world.nova.find_host(text_in(said, "host", ""));
        if (!host) throw ApiError(404, "Service " + call.args[0] + " could not be found.");
        Json change = said;
        if (call.args[0].starts_with("enable")) change["status"] = "enabled";
        if (call.args[0].starts_with("disable")) change["status"] = "disabled";
        change_service(call, *host, change);
        return one_service(call, *host);
    }
    change_service(call, *host, said);
    return one_service(call, *host);
}

Response zones(Call& call, bool detail) {
    std::set<std::string> names;
    for (const auto& host : call.world.nova.hosts) names.insert(host->zone);
    JsonWriter json;
    json.open_object().open_array("availabilityZoneInfo");
    for (const std::string& name : names) {
        json.open_object().member("zoneName", name).open_object("zoneState");
        json.member("available", true).close_object().name("hosts");
        if (!detail) {
            json.value(nullptr).close_object();
            continue;
        }
        json.open_object();
        for (const auto& host : call.world.nova.hosts) {
            if (host->zone != name) continue;
            json.open_object(host->name).open_object("nova-compute").member("active", true);
            json.member("available", host->up());
            json.member("updated_at", iso_micro(to_seconds(call.world.clock.now())));
            json.close_object().close_object();
        }
        json.close_object().close_object();
    }
    json.close_array().close_object();
    return json_response(200, json.take());
}

Response zones_brief(Call& call) {
    return zones(call, false);
}
Response zones_detail(Call& call) {
    call.need_admin("os_compute_api:os-availability-zone:detail");
    return zones(call, true);
}

constexpr Route routes[] = {
    {"GET", "os-migrations", list_migrations},
    {"GET", "os-hypervisors", hypervisors_brief},
    {"GET", "os-hypervisors/detail", hypervisors_detail},
    {"GET", "os-hypervisors/*", show_hypervisor},
    {"GET", "os-hypervisors/*/uptime", uptime},
    {"GET", "os-services", services},
    {"PUT", "os-services/*", update_service},
    {"GET", "os-availability-zone", zones_brief},
    {"GET", "os-availability-zone/detail", zones_detail},
};

}  // namespace
}  // namespace nova_hosts_api

std::span<const Route> nova_hosts() {
    return nova_hosts_api::routes;
}

}  // namespace reaper::cloudsim
