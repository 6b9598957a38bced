// The payloads of instance.*: one body, with what each kind adds.
#include "tests/cloudsim/messages/payloads.hpp"

namespace reaper::cloudsim {

namespace {

struct Kind {
    const char* name;
    const char* version;
};

Kind kind_of(std::string_view event) {
    if (event == "update") return {"InstanceUpdatePayload", "2.0"};
    if (event.starts_with("create.")) return {"InstanceCreatePayload", "1.12"};
    if (event.starts_with("resize_prep.")) return {"InstanceActionResizePrepPayload", "1.3"};
    return {"InstanceActionPayload", "1.8"};
}

const char* power_word(const Server& server, bool deleted) {
    if (deleted) return "pending";
    switch (server.power_state()) {
        case 1: return "running";
        case 4: return "shutdown";
        default: return "pending";
    }
}

void write_time(JsonWriter& json, std::string_view key, const std::optional<Time>& time) {
    json.name(key);
    if (time)
        json.value(iso_z(*time));
    else
        json.value(nullptr);
}

Time month_of(Time time) {
    using namespace std::chrono;
    const year_month_day date(floor<days>(time));
    return Time(sys_days(date.year() / date.month() / 1));
}

void write_update_head(JsonWriter& json, const World& world, const ServerEvent& event) {
    json.name("state_update");
    open_nova_object(json, "InstanceStateUpdatePayload", "1.0");
    json.member("old_state", to_string(event.old_state));
    json.member("state", to_string(event.server.state));
    json.text_or_null("old_task_state", to_string(event.old_task));
    json.text_or_null("new_task_state", to_string(event.server.task));
    close_nova_object(json);
    const Time now = world.clock.now();
    json.name("audit_period");
    open_nova_object(json, "AuditPeriodPayload", "1.0");
    json.member("audit_period_beginning", iso_z(month_of(now)));
    json.member("audit_period_ending", iso_z(now));
    close_nova_object(json);
    json.member("old_display_name", nullptr);
    json.open_array("tags");
    if (event.server.extra())
        for (const std::string& tag : event.server.extra()->tags) json.value(tag);
    json.close_array();
}

void write_create_head(JsonWriter& json, const Server& server) {
    char name[24];
    std::snprintf(name, sizeof name, "instance-%08x", server.number);
    json.open_array("keypairs").close_array();
    json.open_array("tags");
    if (server.extra())
        for (const std::string& tag : server.extra()->tags) json.value(tag);
    json.close_array();
    json.member("trusted_image_certificates", nullptr).member("instance_name", name);
}

std::string zone_of(const Server& server) {
    if (server.extra() && !server.extra()->availability_zone.empty())
        return server.extra()->availability_zone;
    return server.host ? server.host->zone : "";
}

void write_body(JsonWriter& json, const World& world, const ServerEvent& event) {
    const Server& server = event.server;
    const std::string host = server.host ? server.host->name : "";
    json.member("uuid", server.id.text()).member("user_id", world.names.text(server.user));
    json.member("tenant_id", world.names.text(server.project));
    json.member("reservation_id", server.reservation).member("display_name", server.name);
    json.member("display_description", nullptr).member("host_name", server.name);
    json.text_or_null("host", host);
    json.text_or_null("node", server.host ? std::string_view(server.host->provider->name) : "");
    json.member("os_type", nullptr).member("architecture", nullptr);
    json.text_or_null("availability_zone", zone_of(server));
    json.name("flavor");
    write_flavor_payload(json, *server.flavor);
    json.member("image_uuid", server.image ? server.image->id.text() : "");
    json.member("key_name", nullptr).member("kernel_id", "").member("ramdisk_id", "");
    json.member("created_at", iso_z(server.created));
    write_time(json, "launched_at", server.launched);
    write_time(json, "terminated_at", server.terminated);
    write_time(json, "deleted_at", event.deleted ? std::optional(world.clock.now()) : std::nullopt);
    write_time(json, "updated_at", server.updated);
    json.member("state", to_string(server.state));
    json.member("power_state", power_word(server, event.deleted));
    json.text_or_null("task_state", to_string(server.task));
    json.member("progress", 0).open_array("ip_addresses").close_array();
    if (event.name == "update")
        json.member("block_devices", nullptr);
    else
        json.open_array("block_devices").close_array();
    if (server.extra())
        write_map(json, "metadata", server.extra()->metadata);
    else
        json.open_object("metadata").close_object();
    json.member("locked", server.locked).member("auto_disk_config", "MANUAL");
}

void write_tail(JsonWriter& json, const ServerEvent& event) {
    json.member("action_initiator_user", event.by->user_id);
    json.member("action_initiator_project", event.by->project_id);
    json.text_or_null("locked_reason", event.server.extra()
                                           ? std::string_view(event.server.extra()->locked_reason)
                                           : std::string_view());
}

}  // namespace

std::string instance_payload(const World& world, const ServerEvent& event) {
    const Kind kind = kind_of(event.name);
    const bool update = event.name == "update";
    JsonWriter json;
    json.text().reserve(2500);
    open_nova_object(json, kind.name, kind.version);
    if (update) write_update_head(json, world, event);
    if (event.name.starts_with("create.")) write_create_head(json, event.server);
    if (!update) json.member("fault", nullptr).member("request_id", event.by->request_id());
    write_body(json, world, event);
    if (update) json.member("request_id", event.by->request_id());
    write_tail(json, event);
    if (event.new_flavor) {
        json.name("new_flavor");
        write_flavor_payload(json, *event.new_flavor);
    }
    close_nova_object(json);
    return json.take();
}

}  // namespace reaper::cloudsim
