// Puts messages together from their frames: method, header, body fragments. Bounded: of a body
// larger than the limit only the beginning is kept. Internal to clients/amqp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "clients/amqp/rabbitmq_c.hpp"

namespace reaper::amqp {

// The properties of a message that describe its content. Internal to clients/amqp.

/// Names the way in which kombu compressed the body (`kombu_compression` of oslo.messaging).
inline constexpr std::string_view compression_header = "compression";
/// A reaper's own headers on a copy that is set aside begin so.
inline constexpr std::string_view copy_header_prefix = "x-reaper-";
/// Of a copy whose body was cut: the bytes of the original's.
inline constexpr const char* cut_header = "x-reaper-full-size";

/// A message's headers, copied. Not those by which the broker would deliver a copy of the message
/// elsewhere too, nor its own count of deliveries.
class Headers {
public:
    Headers() = default;
    explicit Headers(const amqp_basic_properties_t& raw);
    /// Empty if it is not there, or no text.
    std::string text(std::string_view key) const;
    /// None if it is not there, or no integer and no time.
    std::optional<std::int64_t> integer(std::string_view key) const;
    amqp_table_t raw() const;

private:
    struct Kept;
    std::shared_ptr<Kept> kept_;  // none: there are no headers
};

/// All but the headers.
struct ContentProperties {
    std::string content_type, content_encoding, message_id, correlation_id, type, app_id;
    std::string reply_to;  ///< a copy does not have it
    std::optional<std::uint64_t> timestamp;
    std::optional<std::uint8_t> priority;

    static ContentProperties from(const amqp_basic_properties_t& raw);
    /// Of a persistent message. Refers to these texts and to the headers.
    amqp_basic_properties_t raw(const amqp_table_t& headers) const;
};

/// A whole delivered message.
struct Message {
    std::uint64_t tag = 0;
    std::string routing_key;
    bool redelivered = false;
    ContentProperties properties;
    Headers headers;
    std::string body;
    std::uint64_t full_size = 0;  ///< larger than the body if that was cut
};

class FrameAssembler {
public:
    FrameAssembler(std::size_t max_body_bytes, std::size_t copy_bytes)
        : max_body_bytes_(max_body_bytes), copy_bytes_(copy_bytes) {}

    void start(const amqp_basic_deliver_t& deliver);
    /// A header or body frame; the message, if this completes it.
    std::optional<Message> add(const amqp_frame_t& frame);
    void reset() { message_.reset(); }

private:
    std::optional<Message> take_if_complete();

    std::size_t max_body_bytes_, copy_bytes_;
    std::optional<Message> message_;
    std::uint64_t received_ = 0;
    std::size_t keep_ = 0;
};

}  // namespace reaper::amqp
