#include "reaper/notifications/nova_notification.hpp"

#include <array>
#include <limits>

#include "reaper/notifications/json_field.hpp"
#include "reaper/notifications/utc_time.hpp"
#include "reaper/model/text.hpp"

namespace reaper {
namespace {

using amqp::BadField;
using amqp::JsonField;

constexpr std::int64_t max_instances = 1000;

struct EventName {
    std::string_view base;  ///< also the whole name of the unversioned notification
    FailureEvent event;
};
constexpr std::array<EventName, 4> failure_events{{
    {"compute_task.build_instances", FailureEvent::build_instances},
    {"compute_task.migrate_server", FailureEvent::migrate_server},
    {"compute_task.rebuild_server", FailureEvent::rebuild_server},
    {"reaper.unshelve", FailureEvent::unshelve_server},
}};

constexpr std::string_view unversioned_advice =
    "an unversioned notification: set notification_format = versioned (or both) in "
    "[notifications] of nova.conf, and broker.topics to Nova's versioned_notifications_topics";

/// The exceptions that mean that no host had room. One that crossed RPC has `_Remote` at its end.
bool means_no_room(std::string_view exception) {
    constexpr std::string_view remote = "_Remote";
    if (exception.ends_with(remote)) exception.remove_suffix(remote.size());
    return exception == "NoValidHost" || exception == "MaxRetriesExceeded";
}

std::string first_line(std::string_view text) {
    std::string_view line = text.substr(0, text.find_first_of("\r\n"));
    while (line.ends_with(' ')) line.remove_suffix(1);
    return printable(line, amqp::max_reason_bytes);
}

/// The message inside oslo.messaging's envelope, or the message itself if there is none (the
/// `messaging` driver sends it bare).
nlohmann::json message_of(std::string_view body) {
    if (body.size() > amqp::max_message_bytes) throw BadField{"the message is larger than 8 MiB"};
    nlohmann::json outer = amqp::parse_json(body, "the message");
    const JsonField envelope(outer, "");
    if (!outer.is_object()) throw BadField{"the message is not a JSON object"};
    if (!outer.contains("oslo.message")) return outer;
    const std::string& version = envelope.at("oslo.version").text(20);
    if (!version.starts_with("2.")) {
        throw BadField{"oslo.version: expected 2.0, got '" + printable(version) + "'"};
    }
    nlohmann::json inner =
        amqp::parse_json(envelope.at("oslo.message").text(amqp::max_message_bytes), "oslo.message");
    if (!inner.is_object()) throw BadField{"oslo.message: expected an object"};
    return inner;
}

Flavor flavor_of(const JsonField& object) {
    const JsonField data = object.nova_data();
    Flavor flavor;
    flavor.name = data.at("name").name();
    flavor.vcpus = data.at("vcpus").integer(0, amqp::max_flavor_amount);
    flavor.memory_mb = data.at("memory_mb").integer(0, amqp::max_flavor_amount);
    flavor.root_gb = data.at("root_gb").integer(0, amqp::max_flavor_amount);
    flavor.ephemeral_gb = data.at("ephemeral_gb").integer(0, amqp::max_flavor_amount);
    flavor.swap_mb = data.at("swap").integer(0, amqp::max_flavor_amount);
    if (const auto specs = data.maybe("extra_specs")) {
        if (!specs->value().is_object()) specs->fail("expected an object");
        for (const auto& [key, value] : specs->value().items()) {
            const JsonField field(value, specs->path() + "." + printable(key, 100));
            flavor.extra_specs.emplace(key, field.text());
        }
    }
    return flavor;
}

/// What the request spec tells. Nova may send none (very old servers), and a live migration's has
/// nothing but the server.
void read_request_spec(const JsonField& payload, FailureNotice& notice) {
    notice.spec_server = notice.server;
    const auto object = payload.maybe("request_spec");
    if (!object) return;
    const JsonField spec = object->nova_data();
    if (const auto id = spec.maybe("instance_uuid")) notice.spec_server = ServerId(id->uuid());
    if (const auto id = spec.maybe("project_id")) notice.project = ProjectId(id->name());
    if (const auto n = spec.maybe("num_instances")) {
        notice.num_instances = static_cast<int>(n->integer(1, max_instances));
    }
    if (const auto flavor = spec.maybe("flavor")) notice.flavor = flavor_of(*flavor);
    if (const auto image = spec.maybe("image")) {
        if (const auto id = image->nova_data().maybe("id")) notice.image_id = id->name();
    }
    if (const auto zone = spec.maybe("availability_zone")) notice.availability_zone = zone->name();
}

FailureNotice notice_of(const JsonField& message, const JsonField& payload, FailureEvent event,
                        const std::string& exception, const std::string& exception_line) {
    FailureNotice notice;
    notice.message_id = message.at("message_id").name();
    notice.event = event;
    notice.request_id = RequestId(message.at("_context_request_id").name());
    notice.exception = printable(exception);
    notice.exception_line = exception_line;
    notice.server = ServerId(payload.at("instance_uuid").uuid());
    read_request_spec(payload, notice);
    if (notice.project.empty())
        notice.project = ProjectId(message.at("_context_project_id").name());
    const JsonField sent = message.at("timestamp");
    const auto at = amqp::parse_utc_time(sent.text(100));
    if (!at)
        sent.fail("expected a time like 2026-11-20 13:07:19.426801, got '" +
                  printable(sent.text(), 50) + "'");
    notice.sent_at = *at;
    return notice;
}

Notification classify(const JsonField& message) {
    const std::string& event_type = message.at("event_type").text();
    const auto ignored = [&](std::string reason) {
        const auto id = message.maybe("message_id");
        const bool readable = id && id->value().is_string();
        return Ignored{readable ? printable(id->text(), 255) : std::string(),
                       printable(event_type, 200), std::move(reason)};
    };
    for (const auto& [base, event] : failure_events) {
        if (event_type == base) return ignored(std::string(unversioned_advice));
        if (event_type != std::string(base) + ".error") continue;
        const JsonField outer = message.at("payload");
        if (outer.value().is_object() && !outer.is_nova_object()) {
            return ignored(std::string(unversioned_advice));
        }
        const JsonField payload = outer.nova_data();
        const JsonField reason = payload.at("reason").nova_data();
        const std::string& exception = reason.at("exception").text();
        const std::string line =
            first_line(reason.at("exception_message").text(amqp::max_message_bytes));
        if (!means_no_room(exception)) {
            return ignored("the cause is not a lack of room: " + printable(exception, 200) + ": " +
                           line);
        }
        return notice_of(message, payload, event, exception, line);
    }
    return ignored("not a failure to find a host");
}

}  // namespace

Notification parse_notification(std::string_view body) {
    try {
        const nlohmann::json message = message_of(body);
        return classify(JsonField(message, ""));
    } catch (const BadField& bad) {
        return Malformed{printable(bad.reason, amqp::max_reason_bytes)};
    } catch (const nlohmann::json::exception& error) {
        return Malformed{printable(std::string("the message can't be read: ") + error.what(),
                                   amqp::max_reason_bytes)};
    }
}

}  // namespace reaper
