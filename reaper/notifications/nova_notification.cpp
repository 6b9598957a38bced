#include "reaper/notifications/nova_notification.hpp"

#include <array>

#include "reaper/model/records.hpp"
#include "reaper/model/text.hpp"
#include "reaper/notifications/nova_json.hpp"

namespace reaper {
namespace {

using amqp::name_in;
using amqp::nova_data;
using amqp::uuid_in;

/// Of all requests of a server: what it takes to allot them grows faster than their number.
constexpr int max_pci_devices = 64;

struct EventName {
    std::string_view base;  ///< also the whole name of the unversioned notification
    FailureEvent event;
};
constexpr std::array<EventName, 3> failure_events{{
    {"compute_task.build_instances", FailureEvent::build_instances},
    {"compute_task.migrate_server", FailureEvent::migrate_server},
    {"compute_task.rebuild_server", FailureEvent::rebuild_server},
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

Flavor flavor_of(const JsonPlace& object) {
    const JsonPlace data = nova_data(object);
    const auto amount = [&](const char* key) {
        return data[key].integer(0, amqp::max_flavor_amount);
    };
    Flavor flavor;
    flavor.name = name_in(data["name"]);
    flavor.vcpus = amount("vcpus");
    flavor.memory_mb = amount("memory_mb");
    flavor.root_gb = amount("root_gb");
    flavor.ephemeral_gb = amount("ephemeral_gb");
    flavor.swap_mb = amount("swap");
    if (const auto specs = data.maybe("extra_specs"))
        specs->each_member([&](const std::string& key, const JsonPlace& value) {
            flavor.extra_specs.emplace(key, value.text(amqp::max_text_bytes));
        });
    return flavor;
}

/// Those of ports have no alias; what they ask for is the port's.
std::vector<PciRequest> pci_requests_in(const JsonPlace& object) {
    std::vector<PciRequest> all;
    const JsonPlace data = nova_data(object);
    const auto requests = data.maybe("requests");
    if (!requests) return all;
    int devices = 0;
    requests->each([&](const JsonPlace& each) {
        const JsonPlace request = nova_data(each);
        if (!request.has("alias_name")) return;
        PciRequest pci;
        pci.id = request.text_or_empty("request_id");
        pci.count = request["count"].count(1, max_pci_devices);
        devices += pci.count;
        if (devices > max_pci_devices)
            requests->fail("more than " + std::to_string(max_pci_devices) +
                           " PCI devices for one server");
        request["spec"].each([&](const JsonPlace& spec) {
            pci.resource_class = spec.text_or_empty("resource_class");
            pci.vendor = spec.text_or_empty("vendor_id");
            pci.product = spec.text_or_empty("product_id");
            pci.traits = spec.text_or_empty("traits");
        });
        all.push_back(std::move(pci));
    });
    return all;
}

/// What the request spec shows. Nova may send none (very old servers), and a live migration's has
/// nothing but the server.
void read_request_spec(const JsonPlace& payload, FailureNotice& notice) {
    notice.spec_server = notice.server;
    const auto object = payload.maybe("request_spec");
    if (!object) return;
    const JsonPlace spec = nova_data(*object);
    if (const auto id = spec.maybe("instance_uuid")) notice.spec_server = ServerId(uuid_in(*id));
    if (const auto id = spec.maybe("project_id")) notice.project = ProjectId(name_in(*id));
    if (const auto n = spec.maybe("num_instances")) notice.num_instances = n->count(1);
    if (const auto flavor = spec.maybe("flavor")) {
        notice.flavor = flavor_of(*flavor);
        const JsonPlace data = nova_data(*flavor);
        if (const auto id = data.maybe("flavorid")) notice.flavor_id = name_in(*id);
    }
    if (const auto image = spec.maybe("image")) {
        const JsonPlace data = nova_data(*image);
        if (const auto id = data.maybe("id")) notice.image_id = name_in(*id);
        notice.image = amqp::image_in(*image);
    }
    if (const auto zone = spec.maybe("availability_zone"))
        notice.availability_zone = name_in(*zone);
    if (const auto pci = spec.maybe("pci_requests")) notice.pci = pci_requests_in(*pci);
}

FailureNotice notice_of(const JsonPlace& message, const JsonPlace& payload, FailureEvent event,
                        const std::string& exception, const std::string& exception_line) {
    FailureNotice notice;
    notice.message_id = name_in(message["message_id"]);
    notice.event = event;
    notice.request_id = RequestId(name_in(message["_context_request_id"]));
    if (const auto global = message.maybe("_context_global_request_id"))
        notice.global_id = RequestId(name_in(*global));
    notice.exception = printable(exception);
    notice.exception_line = exception_line;
    notice.server = ServerId(uuid_in(payload["instance_uuid"]));
    read_request_spec(payload, notice);
    if (notice.project.empty()) notice.project = ProjectId(name_in(message["_context_project_id"]));
    notice.sent_at = message["timestamp"].time();
    return notice;
}

Notification classify(const JsonPlace& message) {
    const std::string& event_type = message["event_type"].text(amqp::max_text_bytes);
    const auto ignored = [&](std::string reason) {
        const auto id = message.maybe("message_id");
        return Ignored{id && id->is_text() ? printable(id->text(), 255) : std::string(),
                       printable(event_type, 200), std::move(reason)};
    };
    for (const auto& [base, event] : failure_events) {
        if (event_type == base) return ignored(std::string(unversioned_advice));
        if (event_type != std::string(base) + ".error") continue;
        const JsonPlace outer = message["payload"];
        if (outer.value().is_object() && !outer.value().contains("nova_object.data"))
            return ignored(std::string(unversioned_advice));
        const JsonPlace payload = nova_data(outer);
        const JsonPlace reason = nova_data(payload["reason"]);
        const std::string& exception = reason["exception"].text(amqp::max_text_bytes);
        const std::string line =
            first_line(reason["exception_message"].text(), amqp::max_reason_bytes);
        if (!means_no_room(exception) || names_another_cause(line)) {
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
        std::string buffer;
        const nlohmann::json message = amqp::parse_json(amqp::open_envelope(body, buffer));
        return classify(JsonPlace(message));
    } catch (const WrongJson& wrong) {
        return Malformed{printable(wrong.what, amqp::max_reason_bytes)};
    } catch (const nlohmann::json::exception& error) {
        return Malformed{printable(std::string("the message can't be read: ") + error.what(),
                                   amqp::max_reason_bytes)};
    }
}

}  // namespace reaper
