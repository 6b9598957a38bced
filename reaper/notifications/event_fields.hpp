// Picks what we need out of one of Nova's messages without building the rest: a reader of
// nlohmann's SAX events that knows where in the message it is, and stops as soon as it has all.
// Internal to the parser of events.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace reaper::amqp {

/// The values that we need. Those of the payload lie in `payload.nova_object.data`.
enum class Pick : std::uint8_t {
    event_type,
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

/// Its path in the message, for people.
std::string_view path_of(Pick pick);

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

}  // namespace reaper::amqp
