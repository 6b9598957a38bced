#include "reaper/notifications/cloud_event_parser.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "reaper/json/json_text.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/notifications/nova_json.hpp"

namespace reaper::amqp {

// Picks what we need out of one of Nova's messages without building the rest: a reader of
// nlohmann's SAX events that knows where in the message it is, and stops as soon as it has all.
// Internal to the parser of events.

/// The values that we need. Those of the payload lie in `payload.nova_object.data`.
enum class Pick : std::uint8_t {
    event_type,
    publisher_id,
    timestamp,
    uuid,
    tenant_id,
    display_name,
    host,
    node,
    created_at,
    launched_at,
    state,
    task_state,
    locked,
    image_uuid,
    flavor_name,
    vcpus,
    memory_mb,
    root_gb,
    ephemeral_gb,
    swap,
    binary,
    disabled,
    disabled_reason,
    availability_zone,
    forced_down,
    count_
};

struct Picked {
    enum class Kind : std::uint8_t { absent, null, text, integer, boolean, other };
    Kind kind = Kind::absent;
    std::string text;
    std::int64_t integer = 0;  ///< too large ones are INT64_MAX
    bool boolean = false;
};

/// Used again and again, so that texts keep their memory.
class EventFields {
public:
    /// Whether events of this type are wanted; decides as soon as the type is read.
    using Wanted = bool (*)(std::string_view event_type);

    /// Reads one message. False: of no interest, and nothing else is known of it. Throws WrongJson.
    bool read(std::string_view message, Wanted wanted);

    const Picked& at(Pick pick) const { return values_[static_cast<std::size_t>(pick)]; }
    const std::map<std::string, std::string>& metadata() const { return metadata_; }
    const std::map<std::string, std::string>& extra_specs() const { return extra_specs_; }

private:
    friend struct SaxReader;
    /// Whose members are read.
    enum class Place : std::uint8_t {
        top,
        payload,
        data,
        flavor,
        flavor_data,
        metadata,
        extra_specs,
        elsewhere
    };

    std::array<Picked, static_cast<std::size_t>(Pick::count_)> values_;
    std::map<std::string, std::string> metadata_, extra_specs_;
    std::vector<Place> places_;
    std::string key_;
    bool payload_seen_ = false;
};

namespace {

using nlohmann::json;

constexpr std::size_t max_event_depth = 64;

struct Name {
    std::string_view key;
    Pick pick;
};
constexpr std::array<Name, 3> top_names{{
    {"event_type", Pick::event_type},
    {"publisher_id", Pick::publisher_id},
    {"timestamp", Pick::timestamp},
}};
constexpr std::array<Name, 16> data_names{{
    {"uuid", Pick::uuid},
    {"tenant_id", Pick::tenant_id},
    {"display_name", Pick::display_name},
    {"host", Pick::host},
    {"node", Pick::node},
    {"created_at", Pick::created_at},
    {"launched_at", Pick::launched_at},
    {"state", Pick::state},
    {"task_state", Pick::task_state},
    {"locked", Pick::locked},
    {"image_uuid", Pick::image_uuid},
    {"binary", Pick::binary},
    {"disabled", Pick::disabled},
    {"disabled_reason", Pick::disabled_reason},
    {"availability_zone", Pick::availability_zone},
    {"forced_down", Pick::forced_down},
}};
constexpr std::array<Name, 6> flavor_names{{
    {"name", Pick::flavor_name},
    {"vcpus", Pick::vcpus},
    {"memory_mb", Pick::memory_mb},
    {"root_gb", Pick::root_gb},
    {"ephemeral_gb", Pick::ephemeral_gb},
    {"swap", Pick::swap},
}};

template <std::size_t N>
std::optional<Pick> find(const std::array<Name, N>& names, std::string_view key) {
    for (const Name& name : names) {
        if (name.key == key) return name.pick;
    }
    return std::nullopt;
}

}  // namespace

/// Its path in the message, for people.
std::string_view path_of(Pick pick) {
    static const auto paths = [] {
        std::array<std::string, static_cast<std::size_t>(Pick::count_)> made;
        const auto add = [&](const auto& names, const std::string& prefix) {
            for (const Name& name : names) {
                made[static_cast<std::size_t>(name.pick)] = prefix + std::string(name.key);
            }
        };
        add(top_names, "");
        add(data_names, "payload.");
        add(flavor_names, "payload.flavor.");
        return made;
    }();
    return paths[static_cast<std::size_t>(pick)];
}

/// What nlohmann calls while it reads; `false` ends the reading.
struct SaxReader {
    using Place = EventFields::Place;
    using Kind = Picked::Kind;

    EventFields& fields;
    EventFields::Wanted wanted;
    bool ended = false;     ///< by ourselves, without an error
    bool unwanted = false;  ///< it is of no interest

    Place place() const { return fields.places_.back(); }

    Picked* target() const {
        if (fields.places_.empty()) return nullptr;
        std::optional<Pick> pick;
        if (place() == Place::top) pick = find(top_names, fields.key_);
        if (place() == Place::data) pick = find(data_names, fields.key_);
        if (place() == Place::flavor_data) pick = find(flavor_names, fields.key_);
        return pick ? &fields.values_[static_cast<std::size_t>(*pick)] : nullptr;
    }
    bool keep(Kind kind) {
        if (Picked* picked = target()) picked->kind = kind;
        return go_on();
    }
    bool keep_integer(std::int64_t value) {
        if (Picked* picked = target()) {
            picked->kind = Kind::integer;
            picked->integer = value;
        }
        return true;
    }
    /// False once all is known that is needed.
    bool go_on() {
        for (const Pick pick : {Pick::event_type, Pick::publisher_id, Pick::timestamp})
            if (fields.at(pick).kind == Kind::absent) return true;
        if (!fields.payload_seen_) return true;
        ended = true;
        return false;
    }

    bool null() { return keep(Kind::null); }
    bool boolean(bool value) {
        if (Picked* picked = target()) picked->boolean = value;
        return keep(Kind::boolean);
    }
    bool number_integer(json::number_integer_t value) { return keep_integer(value); }
    bool number_unsigned(json::number_unsigned_t value) {
        constexpr auto most = std::numeric_limits<std::int64_t>::max();
        return keep_integer(
            value > static_cast<std::uint64_t>(most) ? most : static_cast<std::int64_t>(value));
    }
    bool number_float(json::number_float_t, const std::string&) { return keep(Kind::other); }
    bool binary(json::binary_t&) { return keep(Kind::other); }
    bool string(std::string& value) {
        if (fields.places_.empty()) return true;
        if (place() == Place::metadata) {
            fields.metadata_.insert_or_assign(fields.key_, std::move(value));
        } else if (place() == Place::extra_specs) {
            fields.extra_specs_.insert_or_assign(fields.key_, std::move(value));
        } else if (Picked* picked = target()) {
            picked->kind = Kind::text;
            picked->text.assign(value);
            if (picked == &fields.at(Pick::event_type) && !wanted(picked->text)) {
                ended = unwanted = true;
                return false;
            }
        }
        return go_on();
    }
    bool key(std::string& name) {
        if (place() != Place::elsewhere) fields.key_.assign(name);
        return true;
    }
    bool start_object(std::size_t) { return enter(place_inside()); }
    bool start_array(std::size_t) { return enter(Place::elsewhere); }
    bool end_object() { return leave(); }
    bool end_array() { return leave(); }
    bool parse_error(std::size_t position, const std::string&, const json::exception&) {
        throw WrongJson{"the message is not JSON (at byte " + std::to_string(position) + ")"};
    }

    Place place_inside() const {
        if (fields.places_.empty()) return Place::top;
        const std::string& key = fields.key_;
        switch (place()) {
            case Place::top: return key == "payload" ? Place::payload : Place::elsewhere;
            case Place::payload: return key == "nova_object.data" ? Place::data : Place::elsewhere;
            case Place::data:
                return key == "flavor"     ? Place::flavor
                       : key == "metadata" ? Place::metadata
                                           : Place::elsewhere;
            case Place::flavor:
                return key == "nova_object.data" ? Place::flavor_data : Place::elsewhere;
            case Place::flavor_data:
                return key == "extra_specs" ? Place::extra_specs : Place::elsewhere;
            default: return Place::elsewhere;
        }
    }
    bool enter(Place next) {
        if (fields.places_.size() >= max_event_depth) {
            throw WrongJson{"the message is nested deeper than " + std::to_string(max_event_depth) +
                            " levels"};
        }
        if (Picked* picked = target()) picked->kind = Kind::other;
        if (fields.places_.empty() && next != Place::top) {
            throw WrongJson{"the message is not a JSON object"};
        }
        fields.places_.push_back(next);
        return true;
    }
    bool leave() {
        if (place() == Place::payload) fields.payload_seen_ = true;
        fields.places_.pop_back();
        return go_on();
    }
};

bool EventFields::read(std::string_view message, Wanted wanted) {
    for (Picked& value : values_) value.kind = Picked::Kind::absent;
    metadata_.clear();
    extra_specs_.clear();
    places_.clear();
    payload_seen_ = false;
    SaxReader reader{*this, wanted};
    try {
        std::string copy;
        json::sax_parse(without_lone_surrogates(message, copy), &reader);
    } catch (const json::exception&) {
        throw WrongJson{"the message holds a number that is out of range"};
    }
    return !reader.unwanted;
}

}  // namespace reaper::amqp

namespace reaper {
namespace {

struct Word {
    std::string_view nova, status;
};

constexpr std::array<Word, 13> vm_states{{
    {"active", "ACTIVE"},
    {"building", "BUILD"},
    {"stopped", "SHUTOFF"},
    {"resized", "VERIFY_RESIZE"},
    {"paused", "PAUSED"},
    {"suspended", "SUSPENDED"},
    {"rescued", "RESCUE"},
    {"error", "ERROR"},
    {"deleted", "DELETED"},
    {"soft-delete", "SOFT_DELETED"},
    {"shelved", "SHELVED"},
    {"shelved_offloaded", "SHELVED_OFFLOADED"},
    {"pending", "PENDING"},
}};

constexpr std::array<Word, 7> reboots{{
    {"rebooting", "REBOOT"},
    {"reboot_pending", "REBOOT"},
    {"reboot_started", "REBOOT"},
    {"rebooting_hard", "HARD_REBOOT"},
    {"reboot_pending_hard", "HARD_REBOOT"},
    {"reboot_started_hard", "HARD_REBOOT"},
    {"updating_password", "PASSWORD"},
}};
constexpr std::array<Word, 3> rebuilds{{
    {"rebuilding", "REBUILD"},
    {"rebuild_block_device_mapping", "REBUILD"},
    {"rebuild_spawning", "REBUILD"},
}};
constexpr std::array<Word, 4> resizes{{
    {"resize_prep", "RESIZE"},
    {"resize_migrating", "RESIZE"},
    {"resize_migrated", "RESIZE"},
    {"resize_finish", "RESIZE"},
}};

template <std::size_t N>
std::string_view find(const std::array<Word, N>& words, std::string_view nova) {
    const auto* const found = std::ranges::find(words, nova, &Word::nova);
    return found == words.end() ? std::string_view() : found->status;
}

/// The status that the task state puts in place of the vm_state's own; empty: none.
std::string_view task_status(std::string_view vm, std::string_view task) {
    const bool active = vm == "active";
    const bool stopped = vm == "stopped";
    if (active) {
        if (const auto status = find(reboots, task); !status.empty()) return status;
    }
    if (active || stopped || vm == "error") {
        if (const auto status = find(rebuilds, task); !status.empty()) return status;
    }
    if (active || stopped) {
        if (const auto status = find(resizes, task); !status.empty()) return status;
    }
    if ((active || vm == "paused") && task == "migrating") return "MIGRATING";
    if (vm == "resized" && task == "resize_reverting") return "REVERT_RESIZE";
    return {};
}

}  // namespace

std::string nova_status(std::string_view vm_state, std::string_view task_state) {
    if (const auto status = task_status(vm_state, task_state); !status.empty()) {
        return std::string(status);
    }
    const auto status = find(vm_states, vm_state);
    return std::string(status.empty() ? "UNKNOWN" : status);
}

}  // namespace reaper

namespace reaper::amqp {
namespace {

constexpr std::size_t max_texts = 10'000;

/// A list of texts, or one text alone, each as `read` makes it; none if it is absent or null.
std::set<std::string> texts(const JsonPlace& object, const char* key,
                            const std::string& (*read)(const JsonPlace&)) {
    std::set<std::string> all;
    const auto list = object.maybe(key);
    if (!list) return all;
    if (list->is_text()) return {read(*list)};
    if (list->value().size() > max_texts) list->fail("is too long");
    list->each([&](const JsonPlace& each) { all.insert(read(each)); });
    return all;
}

std::set<std::string> names(const JsonPlace& object, const char* key) {
    return texts(object, key, name_in);
}

/// Those that are too long for a name, too.
std::set<std::string> any_texts(const JsonPlace& object, const char* key) {
    return texts(object, key, [](const JsonPlace& each) -> const std::string& {
        return each.text(max_text_bytes);
    });
}

/// Of a hint; what is no UUID can't be a server.
std::set<ServerId> servers(const JsonPlace& hints, const char* key) {
    std::set<ServerId> all;
    for (const auto& text : any_texts(hints, key))
        if (is_uuid(text)) all.emplace(text);
    return all;
}

/// Each text names the UUIDs of aggregates, separated by commas: one of them will do. Seven are
/// longer than a name.
void read_aggregates(const JsonPlace& destination, PlacementConstraints& placement) {
    for (const auto& text : any_texts(destination, "aggregates")) {
        std::set<std::string> any_of;
        for (std::size_t from = 0; from < text.size();) {
            const auto comma = std::min(text.find(',', from), text.size());
            if (comma > from) any_of.insert(text.substr(from, comma - from));
            from = comma + 1;
        }
        placement.aggregates.push_back(std::move(any_of));
    }
}

void read_places(const JsonPlace& spec, Schedule& schedule) {
    PlacementConstraints& placement = schedule.placement;
    if (const auto object = spec.maybe("requested_destination")) {
        const JsonPlace destination = nova_data(*object);
        for (const char* const key : {"host", "node"})
            if (const auto name = destination.maybe(key))
                placement.only_hosts.insert(name_in(*name));
        if (!placement.only_hosts.empty()) placement.why_only = "the request asks for";
        read_aggregates(destination, placement);
    }
    auto forced = names(spec, "force_hosts");
    if (forced.empty()) forced = names(spec, "force_nodes");
    if (!forced.empty()) {
        placement.only_hosts = std::move(forced);
        placement.why_only = "the request is forced onto";
    }
    schedule.ignored_hosts = names(spec, "ignore_hosts");
    if (const auto zone = spec.maybe("availability_zone"))
        schedule.availability_zone = name_in(*zone);
    if (const auto hints = spec.maybe("scheduler_hints")) {
        placement.with = servers(*hints, "same_host");
        // Nova finds no host beside what is no server, and passes over an empty hint.
        const auto beside = any_texts(*hints, "same_host");
        if (placement.with.empty() && !beside.empty() && !beside.rbegin()->empty())
            placement.with.emplace("no-server");
        placement.apart_from = servers(*hints, "different_host");
    }
}

void read_image(const JsonPlace& spec, Schedule& schedule) {
    const auto image = spec.maybe("image");
    if (!image) return;
    schedule.image = image_in(*image);
    const JsonPlace data = nova_data(*image);
    const auto properties = data.maybe("properties");
    if (!properties) return;
    for (const auto& trait : names(nova_data(*properties), "traits_required"))
        schedule.required_traits.emplace(trait);
}

}  // namespace

Schedule schedule_of(std::string_view message) {
    try {
        const nlohmann::json document = parse_json(message);
        const JsonPlace top(document);
        Schedule schedule;
        schedule.ended = top["event_type"].text().ends_with(".end");
        schedule.request = RequestId(name_in(top["_context_request_id"]));
        schedule.at = top["timestamp"].time();
        const JsonPlace spec = nova_data(top["payload"]);
        schedule.server = ServerId(uuid_in(spec["instance_uuid"]));
        if (const auto project = spec.maybe("project_id"))
            schedule.project = ProjectId(name_in(*project));
        read_places(spec, schedule);
        read_image(spec, schedule);
        return schedule;
    } catch (const nlohmann::json::exception& error) {
        throw WrongJson{std::string("the message can't be read: ") + error.what()};
    }
}

}  // namespace reaper::amqp

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
constexpr std::array<std::string_view, 31> server_events{
    "update",
    "create.end",
    "delete.start",  // by default Nova sends no `update` when a deletion begins
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
    return std::ranges::find(events, event) != events.end();
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
        if (!is_uuid(id)) wrong(Pick::uuid, "expected a UUID, found '" + printable(id, 50) + "'");
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

/// Empty if it is no compute service's. An update names the service that saves it, as if it were a
/// compute service.
std::string reporter_of(const Reader& in) {
    if (in.text(Pick::event_type) == "instance.update") return {};
    constexpr std::string_view compute = "nova-compute:";
    const Picked& publisher = in.fields().at(Pick::publisher_id);
    const bool of_compute = publisher.kind == Picked::Kind::text &&
                            publisher.text.starts_with(compute) &&
                            publisher.text.size() <= compute.size() + max_name_bytes;
    return of_compute ? publisher.text.substr(compute.size()) : std::string{};
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
    seen.reporter = reporter_of(in);
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
