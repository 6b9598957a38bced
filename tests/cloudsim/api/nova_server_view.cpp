// A server as Nova's API shows it, by microversion and rights.
#include <algorithm>
#include <array>
#include <openssl/sha.h>

#include "tests/cloudsim/api/nova_parts.hpp"

namespace reaper::cloudsim {

std::string host_id(const std::string& project, const std::string& host) {
    if (host.empty()) return "";
    const std::string text = project + host;
    std::array<unsigned char, SHA224_DIGEST_LENGTH> digest{};
    SHA224(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
    constexpr char digits[] = "0123456789abcdef";
    std::string out;
    for (const unsigned char byte : digest) {
        out += digits[byte >> 4];
        out += digits[byte & 0xf];
    }
    return out;
}

namespace {

void write_flavor(JsonWriter& json, const Call& call, const Flavor& flavor) {
    json.open_object("flavor");
    if (!call.since(47)) {
        json.member("id", flavor.id).open_array("links");
        write_bookmark(json, call, "flavors", flavor.id);
        json.close_array().close_object();
        return;
    }
    json.member("vcpus", flavor.vcpus).member("ram", flavor.memory_mb);
    json.member("disk", flavor.root_gb).member("ephemeral", flavor.ephemeral_gb);
    json.member("swap", flavor.swap_mb).member("original_name", flavor.name);
    write_map(json, "extra_specs", flavor.extra_specs);
    json.close_object();
}

void write_image(JsonWriter& json, const Call& call, const Image* image) {
    if (!image) {
        json.member("image", "");
        return;
    }
    const std::string id = image->id.text();
    json.open_object("image").member("id", id).open_array("links");
    write_bookmark(json, call, "images", id);
    json.close_array().close_object();
}

void write_fault(JsonWriter& json, const Call& call, const Server& server) {
    if (server.state != VmState::error || !server.extra() || !server.extra()->fault) return;
    const Fault& fault = *server.extra()->fault;
    json.open_object("fault").member("code", fault.code).member("created", iso_z(fault.created));
    json.member("message", fault.message);
    if (call.by->is_admin)
        json.member("details", "Traceback (most recent call last):\nnova.exception.NoValidHost: " +
                                   fault.message + "\n");
    json.close_object();
}

/// Of the host; of a server without one, as its request said or its last host was.
std::string shown_zone(const Server& server) {
    if (server.host) return server.host->zone;
    return server.extra() ? server.extra()->availability_zone : "";
}

bool shows_progress(const Server& server) {
    const std::string_view status = server.status();
    return status == "ACTIVE" || status == "BUILD" || status == "RESIZE" ||
           status == "VERIFY_RESIZE";
}

template <class T>
void write_time(JsonWriter& json, std::string_view key, const T& time) {
    json.name(key);
    if (time)
        json.value(iso_micro(*time));
    else
        json.value(nullptr);
}

void write_attributes(JsonWriter& json, const Call& call, const Server& server) {
    char name[24];
    std::snprintf(name, sizeof name, "instance-%08x", server.number);
    const std::string host = server.host ? server.host->name : "";
    json.text_or_null("OS-EXT-SRV-ATTR:host", host);
    json.member("OS-EXT-SRV-ATTR:instance_name", name);
    json.text_or_null("OS-EXT-SRV-ATTR:hypervisor_hostname",
                      server.host ? std::string_view(server.host->provider->name) : "");
    if (!call.since(3)) return;
    json.member("OS-EXT-SRV-ATTR:reservation_id", server.reservation);
    json.member("OS-EXT-SRV-ATTR:launch_index", server.launch_index);
    json.member("OS-EXT-SRV-ATTR:hostname", server.name);
    json.member("OS-EXT-SRV-ATTR:kernel_id", "").member("OS-EXT-SRV-ATTR:ramdisk_id", "");
    json.text_or_null("OS-EXT-SRV-ATTR:root_device_name", server.host ? "/dev/sda" : "");
    json.member("OS-EXT-SRV-ATTR:user_data", nullptr);
}

const char* host_status(const Server& server) {
    if (!server.host) return "";
    if (!server.host->up()) return "DOWN";
    return server.host->disabled ? "MAINTENANCE" : "UP";
}

void write_hints(JsonWriter& json, const ServerExtras* extra) {
    json.open_object("scheduler_hints");
    const auto write = [&](const char* hint, const std::vector<Uuid>& servers) {
        if (servers.empty()) return;
        json.open_array(hint);
        for (const Uuid& server : servers) json.value(server.text());
        json.close_array();
    };
    if (extra) {
        write("same_host", extra->same_host);
        write("different_host", extra->different_host);
    }
    json.close_object();
}

void write_late_fields(JsonWriter& json, const Call& call, const Server& server, bool single) {
    const ServerExtras* extra = server.extra();
    if (call.since(9)) json.member("locked", server.locked);
    if (call.since(73))
        json.text_or_null("locked_reason",
                          extra ? std::string_view(extra->locked_reason) : std::string_view());
    if (call.since(19)) json.member("description", nullptr);
    if (call.since(26)) {
        json.open_array("tags");
        if (extra)
            for (const std::string& tag : extra->tags) json.value(tag);
        json.close_array();
    }
    if (call.since(63)) json.member("trusted_image_certificates", nullptr);
    if (call.since(16) && call.by->is_admin) json.member("host_status", host_status(server));
    if (call.since(71) && single) {
        json.open_array("server_groups");
        if (extra && extra->group) json.value(extra->group->text());
        json.close_array();
    }
    if (call.since(96))
        json.text_or_null("pinned_availability_zone",
                          extra ? std::string_view(extra->pinned_zone) : std::string_view());
    if (call.since(100)) write_hints(json, extra);
}

}  // namespace

void write_server(JsonWriter& json, const Call& call, const Server& server, bool single) {
    const Names& names = call.world.names;
    const std::string id = server.id.text();
    const std::string& project = names.text(server.project);
    json.open_object().member("id", id).member("name", server.name);
    json.member("status", server.status()).member("tenant_id", project);
    json.member("user_id", names.text(server.user));
    if (server.extra())
        write_map(json, "metadata", server.extra()->metadata);
    else
        json.open_object("metadata").close_object();
    json.member("hostId", host_id(project, server.host ? server.host->name : ""));
    write_image(json, call, server.image);
    write_flavor(json, call, *server.flavor);
    json.member("created", iso_z(server.created));
    json.member("updated", iso_z(server.updated.value_or(server.created)));
    json.open_object("addresses").close_object();
    json.member("accessIPv4", "").member("accessIPv6", "");
    write_links(json, call, "servers", id);
    json.member("OS-DCF:diskConfig", "MANUAL");
    if (single) write_fault(json, call, server);
    if (shows_progress(server)) json.member("progress", 0);
    json.member("OS-EXT-AZ:availability_zone", shown_zone(server));
    json.member("config_drive", "").member("key_name", nullptr);
    write_time(json, "OS-SRV-USG:launched_at", server.launched);
    write_time(json, "OS-SRV-USG:terminated_at", server.terminated);
    if (call.by->is_admin) write_attributes(json, call, server);
    json.text_or_null("OS-EXT-STS:task_state", to_string(server.task));
    json.member("OS-EXT-STS:vm_state", to_string(server.state));
    json.member("OS-EXT-STS:power_state", server.power_state());
    json.open_array("os-extended-volumes:volumes_attached").close_array();
    write_late_fields(json, call, server, single);
    json.close_object();
}

}  // namespace reaper::cloudsim
