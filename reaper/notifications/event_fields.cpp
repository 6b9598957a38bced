#include "reaper/notifications/event_fields.hpp"

#include <limits>
#include <optional>

#include "reaper/model/text.hpp"
#include "reaper/notifications/nova_json.hpp"

namespace reaper::amqp {
namespace {

using nlohmann::json;

constexpr std::size_t max_event_depth = 64;

struct Name {
    std::string_view key;
    Pick pick;
};
constexpr std::array<Name, 2> top_names{{
    {"event_type", Pick::event_type},
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
        if (!fields.payload_seen_ || fields.at(Pick::timestamp).kind == Kind::absent ||
            fields.at(Pick::event_type).kind == Kind::absent) {
            return true;
        }
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
        json::sax_parse(message, &reader);
    } catch (const json::exception&) {
        throw WrongJson{"the message holds a number that is out of range"};
    }
    return !reader.unwanted;
}

}  // namespace reaper::amqp
