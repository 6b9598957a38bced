#include "tests/cloudsim/messages/notifications.hpp"

#include "tests/cloudsim/core/lifecycle.hpp"
#include "tests/cloudsim/messages/payloads.hpp"

namespace reaper::cloudsim {

namespace {

void write_context(JsonWriter& json, const Context& by, Time now) {
    json.member("_context_user", by.user_id).member("_context_project_id", by.project_id);
    json.member("_context_system_scope", nullptr).member("_context_project", by.project_id);
    json.member("_context_domain", nullptr).member("_context_user_domain", "default");
    json.member("_context_project_domain", "default").member("_context_is_admin", by.is_admin);
    json.member("_context_read_only", false).member("_context_show_deleted", false);
    json.member("_context_auth_token", nullptr).member("_context_request_id", by.request_id());
    if (by.given)
        json.member("_context_global_request_id", by.global_id());
    else
        json.member("_context_global_request_id", nullptr);
    json.member("_context_resource_uuid", nullptr);
    write_texts(json, "_context_roles", by.roles);
    json.member("_context_user_identity", by.user_id + " " + by.project_id + " - default default");
    json.member("_context_is_admin_project", true).member("_context_user_id", by.user_id);
    json.member("_context_read_deleted", "no").member("_context_remote_address", nullptr);
    json.member("_context_timestamp", iso_micro(now)).member("_context_quota_class", nullptr);
    json.member("_context_user_name", by.user_name).open_array("_context_service_catalog");
    json.close_array().member("_context_project_name", by.project_name);
}

}  // namespace

void Notifications::send(std::string_view event_type, bool is_error, std::string_view publisher,
                         const ContextPtr& by, std::string_view payload) {
    World& world = world_();
    const Time now = world.clock.now();
    JsonWriter inner;
    inner.text().reserve(payload.size() + 2000);
    inner.open_object().member("message_id", world.rng.uuid().text());
    inner.member("publisher_id", publisher).member("event_type", event_type);
    inner.member("priority", is_error ? "ERROR" : "INFO").name("payload").raw(payload);
    inner.member("timestamp", spaced_micro(now)).member("_unique_id", world.rng.uuid().hex());
    write_context(inner, *by, now);
    inner.close_object();
    JsonWriter outer;
    outer.text().reserve(inner.text().size() * 5 / 4);
    outer.open_object().member("oslo.version", "2.0").member("oslo.message", inner.text());
    outer.close_object();
    send_({is_error ? "versioned_notifications.error" : "versioned_notifications.info",
           outer.take()});
}

void Notifications::on_server(const ServerEvent& event) {
    World& world = world_();
    if (event.name == "update" && !world.settings.state_changes) return;
    send("instance." + std::string(event.name), false, event.publisher, event.by,
         instance_payload(world, event));
}

void Notifications::on_schedule(const ScheduleEvent& event) {
    JsonWriter json;
    write_request_spec(json, world_(), event.placing, false);
    send(event.end ? "scheduler.select_destinations.end" : "scheduler.select_destinations.start",
         false, "nova-scheduler:ctl", event.by, json.text());
}

void Notifications::on_refusal(const RefusalEvent& event) {
    send("compute_task." + std::string(event.method) + ".error", true, "nova-conductor:ctl",
         event.by, refusal_payload(world_(), event));
}

void Notifications::on_service(const ServiceEvent& event) {
    send("service.update", false, compute_publisher(event.host), event.by, service_payload(event));
}

void Notifications::on_aggregate(const AggregateEvent& event) {
    send("aggregate." + std::string(event.name), false, "nova-api:ctl", event.by,
         aggregate_payload(event));
}

}  // namespace reaper::cloudsim
