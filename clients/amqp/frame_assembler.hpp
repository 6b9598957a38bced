// Puts messages together from their frames: method, header, body fragments. Bounded: of a body
// larger than the limit only the beginning is kept. Internal to clients/amqp.
#pragma once

#include <amqp.h>
#include <cstdint>
#include <optional>
#include <string>

#include "clients/amqp/content.hpp"

namespace reaper::amqp {

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
