// oslo.messaging's envelope, opened without building anything but the text inside: it is on the
// path of every INFO message. Internal to the parsers of messages.
#pragma once

#include <string>
#include <string_view>

namespace reaper::amqp {

/// The message inside `{"oslo.version": "2.0", "oslo.message": "<JSON text>"}`, unescaped into
/// `buffer`; `body` itself if it is no envelope (the older `messaging` driver sends it bare). Valid
/// as long as both. The text inside is not checked. Throws WrongJson.
std::string_view open_envelope(std::string_view body, std::string& buffer);

}  // namespace reaper::amqp
