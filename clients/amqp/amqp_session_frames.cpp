// The part of Session that reads what the broker sends.
#include "clients/amqp/amqp_bytes.hpp"
#include "clients/amqp/amqp_session.hpp"
#include "clients/amqp/amqp_topology.hpp"

namespace reaper::amqp {
namespace {

constexpr int frames_per_round = 64;  // so that a flood does not keep acknowledgements waiting

}  // namespace

Outcome Session::serve_frames(bool& more) {
    return connection_.read_frames(frames_per_round, more,
                                   [this](const amqp_frame_t& frame) { return serve(frame); });
}

Outcome Session::serve(const amqp_frame_t& frame) {
    if (frame.channel == serving_channel) return token_.serve(frame);
    if (frame.frame_type == AMQP_FRAME_METHOD) {
        switch (frame.channel) {
            case 0: return serve_connection_method(frame.payload.method);
            case consume_channel: return serve_consume_method(frame.payload.method);
            default: return {};
        }
    }
    if (frame.channel != consume_channel || epoch_ == 0) return {};
    if (auto message = assembler_.add(frame)) return deliver(std::move(*message));
    return {};
}

Outcome Session::serve_connection_method(const amqp_method_t& method) {
    if (method.id != AMQP_CONNECTION_CLOSE_METHOD) return {};
    std::string why;
    return connection_.closed_by_broker(0, method, why);
}

Outcome Session::serve_consume_method(const amqp_method_t& method) {
    switch (method.id) {
        case AMQP_BASIC_DELIVER_METHOD:
            assembler_.start(*static_cast<const amqp_basic_deliver_t*>(method.decoded));
            return {};
        case AMQP_BASIC_CANCEL_METHOD:
            // The queue was deleted, or its node is lost: when that comes back, what we have here
            // comes again.
            stop_trusting_deliveries();
            topology_monitor_.queue_vanished(queue_);
            return {};
        case AMQP_CHANNEL_CLOSE_METHOD: {
            std::string why;
            if (auto failed = connection_.closed_by_broker(consume_channel, method, why))
                return failed;
            stop_trusting_deliveries();
            topology_monitor_.channel_closed(why);
            return {};
        }
        default: return {};
    }
}

}  // namespace reaper::amqp
