#include "clients/amqp/frame_assembler.hpp"

#include <algorithm>
#include <utility>

#include "clients/amqp/amqp_bytes.hpp"

namespace reaper::amqp {

void FrameAssembler::start(const amqp_basic_deliver_t& deliver) {
    message_.emplace();
    message_->tag = deliver.delivery_tag;
    message_->routing_key = view(deliver.routing_key);
    message_->redelivered = deliver.redelivered != 0;
    received_ = 0;
}

std::optional<Message> FrameAssembler::add(const amqp_frame_t& frame) {
    if (!message_) return std::nullopt;  // the content of something that we did not start
    if (frame.frame_type == AMQP_FRAME_HEADER) {
        message_->full_size = frame.payload.properties.body_size;
        const auto& raw =
            *static_cast<const amqp_basic_properties_t*>(frame.payload.properties.decoded);
        message_->properties = ContentProperties::from(raw);
        message_->headers = Headers(raw);
        keep_ = message_->full_size <= max_body_bytes_
                    ? static_cast<std::size_t>(message_->full_size)
                    : copy_bytes_;
    } else {
        const std::string_view fragment = view(frame.payload.body_fragment);
        received_ += fragment.size();
        message_->body += fragment.substr(0, keep_ - std::min(keep_, message_->body.size()));
    }
    return take_if_complete();
}

std::optional<Message> FrameAssembler::take_if_complete() {
    if (received_ < message_->full_size) return std::nullopt;
    return std::exchange(message_, std::nullopt);
}

}  // namespace reaper::amqp
