// What Nova's messages have in common as JSON. Internal to their parsers; `WrongJson` never leaves
// them.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "reaper/json/json_place.hpp"

namespace reaper::amqp {

/// Of the inner message; Nova's are a few kilobytes.
inline constexpr std::size_t max_message_bytes = 8 * 1024 * 1024;
/// Of a text in it that may be long.
inline constexpr std::size_t max_text_bytes = 64 * 1024;
/// Of the reason why one is not understood.
inline constexpr std::size_t max_reason_bytes = 500;
/// As large as the columns of Nova's flavors.
inline constexpr std::int64_t max_flavor_amount = std::numeric_limits<std::int32_t>::max();

/// An object of at most 64 levels; throws WrongJson with the position.
nlohmann::json parse_json(std::string_view text);

/// A versioned Nova object's data (`nova_object.data`); the path does not show the hop.
JsonPlace nova_data(const JsonPlace& object);

/// An image of Nova's messages (ImageMetaPayload): its properties as texts, and `disk_format`.
/// Lists are left out.
std::map<std::string, std::string> image_in(const JsonPlace& object);

/// A text that names something: not empty, no control characters, at most 255 bytes.
const std::string& name_in(const JsonPlace& place);
/// A name that is a UUID.
const std::string& uuid_in(const JsonPlace& place);

/// oslo.messaging's envelope, opened without building anything but the text inside: it is on the
/// path of every INFO message. The message inside `{"oslo.version": "2.0", "oslo.message": "<JSON
/// text>"}`, unescaped into `buffer`; `body` itself if it is no envelope (the older `messaging`
/// driver sends it bare). Valid as long as both. The text inside is not checked. Throws WrongJson.
std::string_view open_envelope(std::string_view body, std::string& buffer);

}  // namespace reaper::amqp
