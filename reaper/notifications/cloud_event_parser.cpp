#include "reaper/notifications/cloud_event_parser.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/notifications/event_fields.hpp"
#include "reaper/notifications/nova_json.hpp"
#include "reaper/notifications/nova_status.hpp"
#include "reaper/notifications/oslo_envelope.hpp"
#include "reaper/notifications/schedule_event.hpp"

namespace reaper {
namespace {

using amqp::EventFields;
using amqp::Pick;
using amqp::Picked;

constexpr std::size_t max_name_bytes = 1020;  // 255 characters, as Nova counts

/// After each of these, the payload says how the server is now. Not among them:
/// `live_migration_post.end`, which the source sends after the destination's `post_dest.end` and
/// with the old host in it; `create.start`, before which the server has no host; `exists`, an audit
/// of the past; what changes nothing of a server that we look at (snapshots, volumes, interfaces).
constexpr std::array<std::string_view, 30> server_events{
    "update",
    "create.end",
    "evacuate",
    "live_migration_abort.end",
    "live_migration_post_dest.end",
    "live_migration_pre.end",
    "live_migration_rollback.end",
    "lock",
    "pause.end",
    "power_off.end",
    "power_on.end",
    "reboot.end",
    "rebuild.end",
    "rebuild_scheduled",
    "rescue.end",
    "resize.end",
    "resize_confirm.end",
    "resize_finish.end",
    "resize_prep.end",
    "resize_revert.end",
    "restore.end",
    "resume.end",
    "shelve.end",
    "shelve_offload.end",
    "soft_delete.end",
    "suspend.end",
    "unlock",
    "unpause.end",
    "unrescue.end",
    "unshelve.end",
};
constexpr std::array<std::string_view, 6> aggregate_events{
    "add_host.end",    "create.end",          "delete.end",
    "remove_host.end", "update_metadata.end", "update_prop.end"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& events, std::string_view event) {
    return std::find(events.begin(), events.end(), event) != events.end();
}

enum class Kind { none, server, server_gone, service, service_gone, aggregate, schedule };

Kind kind_of(std::string_view type) {
    const auto after = [&](std::string_view prefix) {
        return type.starts_with(prefix) ? type.substr(prefix.size()) : std::string_view();
    };
    if (const auto event = after("instance."); !event.empty()) {
        if (event == "delete.end") return Kind::server_gone;
        return contains(server_events, event) ? Kind::server : Kind::none;
    }
    if (const auto event = after("aggregate."); !event.empty()) {
        return contains(aggregate_events, event) ? Kind::aggregate : Kind::none;
    }
    if (type == "scheduler.select_destinations.start" ||
        type == "scheduler.select_destinations.end")
        return Kind::schedule;
    if (type == "service.create" || type == "service.update") return Kind::service;
    return type == "service.delete" ? Kind::service_gone : Kind::none;
}

bool wanted(std::string_view type) {
    return kind_of(type) != Kind::none;
}

/// Checked access to what was picked.
class Reader {
public:
    explicit Reader(const EventFields& fields) : fields_(fields) {}

    const std::string& text(Pick pick, std::size_t most = max_name_bytes) const {
        const Picked& value = fields_.at(pick);
        if (value.kind != Picked::Kind::text) wrong(pick, "expected a text");
        if (value.text.size() > most) {
            wrong(pick, "longer than " + std::to_string(most) + " bytes");
        }
        return value.text;
    }
    const std::string& name(Pick pick) const {
        const std::string& found = text(pick);
        if (found.empty()) wrong(pick, "is empty");
        return found;
    }
    /// Empty if it is null or absent.
    std::string text_if_any(Pick pick) const { return none(pick) ? std::string() : text(pick); }
    ServerId server() const {
        const std::string& id = text(Pick::uuid);
        if (!amqp::is_uuid(id))
            wrong(Pick::uuid, "expected a UUID, found '" + printable(id, 50) + "'");
        return ServerId(id);
    }
    bool flag(Pick pick) const {
        const Picked& value = fields_.at(pick);
        if (value.kind != Picked::Kind::boolean) wrong(pick, "expected true or false");
        return value.boolean;
    }
    Amount amount(Pick pick) const {
        const Picked& value = fields_.at(pick);
        if (value.kind != Picked::Kind::integer || value.integer < 0 ||
            value.integer > amqp::max_flavor_amount) {
            wrong(pick,
                  "expected a whole number from 0 to " + std::to_string(amqp::max_flavor_amount));
        }
        return value.integer;
    }
    TimePoint time(Pick pick) const {
        const std::string& found = text(pick, 100);
        const auto at = parse_time(found);
        if (!at)
            wrong(pick, "expected a time such as 2026-11-20T13:12:30Z, found '" +
                            printable(found, 50) + "'");
        return *at;
    }
    bool none(Pick pick) const {
        const auto kind = fields_.at(pick).kind;
        return kind == Picked::Kind::null || kind == Picked::Kind::absent;
    }
    const EventFields& fields() const { return fields_; }

private:
    [[noreturn]] void wrong(Pick pick, const std::string& why) const {
        const bool absent = fields_.at(pick).kind == Picked::Kind::absent;
        throw WrongJson{std::string(amqp::path_of(pick)) + ": " + (absent ? "missing" : why)};
    }

    const EventFields& fields_;
};

Flavor flavor_of(const Reader& in) {
    Flavor flavor;
    flavor.name = in.name(Pick::flavor_name);
    flavor.vcpus = in.amount(Pick::vcpus);
    flavor.memory_mb = in.amount(Pick::memory_mb);
    flavor.root_gb = in.amount(Pick::root_gb);
    flavor.ephemeral_gb = in.amount(Pick::ephemeral_gb);
    flavor.swap_mb = in.amount(Pick::swap);
    flavor.extra_specs = in.fields().extra_specs();
    return flavor;
}

CloudEvent server_seen(const Reader& in) {
    ServerSeen seen;
    Server& server = seen.record.server;
    server.id = in.server();
    server.project = ProjectId(in.name(Pick::tenant_id));
    server.name = in.text_if_any(Pick::display_name);
    server.host = in.text_if_any(Pick::host);
    server.task_state = in.text_if_any(Pick::task_state);
    server.status = nova_status(in.name(Pick::state), server.task_state);
    server.locked = in.flag(Pick::locked);
    server.created = in.time(Pick::created_at);
    if (!in.none(Pick::launched_at)) server.launched = in.time(Pick::launched_at);
    server.metadata = in.fields().metadata();
    seen.record.flavor = flavor_of(in);
    server.flavor_name = seen.record.flavor.name;
    server.flavor_extra_specs = seen.record.flavor.extra_specs;
    seen.record.boot_from_volume = in.text_if_any(Pick::image_uuid).empty();
    seen.node = in.text_if_any(Pick::node);
    seen.at = in.time(Pick::timestamp);
    return seen;
}

ParsedEvent service_seen(const Reader& in, bool removed) {
    if (in.text(Pick::binary) != "nova-compute") return NoEvent{};
    ServiceSeen seen;
    seen.record.host = in.name(Pick::host);
    seen.record.zone = in.text_if_any(Pick::availability_zone);
    seen.record.enabled = !in.flag(Pick::disabled);
    seen.record.up = !in.flag(Pick::forced_down);
    seen.record.disabled_reason = in.text_if_any(Pick::disabled_reason);
    seen.removed = removed;
    seen.at = in.time(Pick::timestamp);
    return CloudEvent(std::move(seen));
}

ParsedEvent event_from(const Reader& in) {
    switch (kind_of(in.text(Pick::event_type))) {
        case Kind::server: return server_seen(in);
        case Kind::server_gone:
            return CloudEvent(
                ServerGone{in.server(), in.text_if_any(Pick::host), in.time(Pick::timestamp)});
        case Kind::service: return service_seen(in, false);
        case Kind::service_gone: return service_seen(in, true);
        case Kind::aggregate: return CloudEvent(AggregatesChanged{in.time(Pick::timestamp)});
        case Kind::schedule: break;  // read on its own
        case Kind::none: break;
    }
    return NoEvent{};
}

}  // namespace

struct CloudEventParser::Scratch {
    std::string message;
    EventFields fields;
};

CloudEventParser::CloudEventParser() : scratch_(std::make_unique<Scratch>()) {}
CloudEventParser::~CloudEventParser() = default;

ParsedEvent CloudEventParser::parse(std::string_view body) {
    try {
        const std::string_view message = amqp::open_envelope(body, scratch_->message);
        if (!scratch_->fields.read(message, wanted)) return NoEvent{};
        const Reader reader(scratch_->fields);
        // One for each scheduling, and deeper than the others: read whole.
        if (kind_of(reader.text(Pick::event_type)) == Kind::schedule) {
            // Named: of the temporary g++ 12 wrongly says that it may not be initialised.
            CloudEvent event = amqp::schedule_of(message);
            return event;
        }
        return event_from(reader);
    } catch (const WrongJson& wrong) {
        return Malformed{printable(wrong.what, amqp::max_reason_bytes)};
    }
}

}  // namespace reaper
