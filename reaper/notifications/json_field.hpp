// Reads JSON that somebody else wrote: every wrong thing is named by its path. Internal to the
// parsers of messages; `BadField` never leaves them.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace reaper::amqp {

/// Of the inner message; Nova's are a few kilobytes.
inline constexpr std::size_t max_message_bytes = 8 * 1024 * 1024;
/// Of the reason why one is not understood.
inline constexpr std::size_t max_reason_bytes = 500;
/// As large as the columns of Nova's flavors.
inline constexpr std::int64_t max_flavor_amount = std::numeric_limits<std::int32_t>::max();

/// `payload.instance_uuid: expected a text, got null`.
struct BadField {
    std::string reason;
};

/// Parses one JSON text of at most `max_depth` levels; throws BadField with the position.
/// `what` names it in the reason. (A deep DOM overflows the stack where it is walked.)
nlohmann::json parse_json(std::string_view text, const std::string& what, int max_depth = 64);

/// 36 characters, hexadecimal digits and dashes where they belong.
bool is_uuid(std::string_view text);

/// A value with the path that led to it. Refers to the document, which must outlive it.
class JsonField {
public:
    JsonField(const nlohmann::json& value, std::string path)
        : value_(&value), path_(std::move(path)) {}

    /// The member; throws BadField if this is no object or has no such member.
    JsonField at(const std::string& key) const;
    /// The member; none if it is absent or null.
    std::optional<JsonField> maybe(const std::string& key) const;
    /// A versioned Nova object's data (`nova_object.data`); the path does not show the hop.
    JsonField nova_data() const;
    bool is_nova_object() const;

    /// A text of at most `max` bytes.
    const std::string& text(std::size_t max = 64 * 1024) const;
    /// A text that names something: not empty, no control characters, at most 255 bytes.
    const std::string& name() const;
    /// A name that is a UUID.
    const std::string& uuid() const;
    std::int64_t integer(std::int64_t low, std::int64_t high) const;

    const nlohmann::json& value() const { return *value_; }
    const std::string& path() const { return path_; }
    [[noreturn]] void fail(const std::string& why) const;

private:
    const nlohmann::json* value_;
    std::string path_;
};

}  // namespace reaper::amqp
