// The part of Session that reads what the broker sends.
#include <spdlog/spdlog.h>

#include "clients/amqp/amqp_bytes.hpp"
#include "clients/amqp/amqp_session.hpp"
#include "clients/amqp/amqp_topology.hpp"
#include "reaper/model/text.hpp"

namespace reaper::amqp {
namespace {

constexpr int frames_per_round = 64;  // so that a flood does not keep acknowledgements waiting

template <class T>
const T& decoded(const amqp_method_t& method) {
    return *static_cast<const T*>(method.decoded);
}

}  // namespace

Outcome Session::serve_frames(bool& more) {
    return connection_.read_frames(frames_per_round, more,
                                   [this](const amqp_frame_t& frame) { return serve(frame); });
}

Outcome Session::serve(const amqp_frame_t& frame) {
    if (frame.frame_type == AMQP_FRAME_METHOD) {
        switch (frame.channel) {
            case 0: return serve_connection_method(frame.payload.method);
            case consume_channel: return serve_consume_method(frame.payload.method);
            case publish_channel: return serve_publish_method(frame.payload.method);
            case proof_channel: return serve_proof_method(frame.payload.method);
            case token_channel: return serve_token_method(frame.payload.method);
            default: return {};
        }
    }
    // The content of a returned copy arrives on the publishing channel and is of no use.
    if (frame.channel != consume_channel || epoch_ == 0) return {};
    if (auto message = assembler_.add(frame)) return deliver(std::move(*message));
    return {};
}

Outcome Session::serve_connection_method(const amqp_method_t& method) {
    switch (method.id) {
        case AMQP_CONNECTION_BLOCKED_METHOD:
            spdlog::warn(
                "{}: the broker takes no messages at present ({}); dead-letter copies wait",
                connection_.name(),
                printable(view(decoded<amqp_connection_blocked_t>(method).reason)));
            dead_letters_.set_blocked(true);
            return {};
        case AMQP_CONNECTION_UNBLOCKED_METHOD: dead_letters_.set_blocked(false); return {};
        case AMQP_CONNECTION_CLOSE_METHOD: {
            std::string why;
            return connection_.closed_by_broker(0, method, why);
        }
        default: return {};
    }
}

Outcome Session::serve_consume_method(const amqp_method_t& method) {
    switch (method.id) {
        case AMQP_BASIC_DELIVER_METHOD:
            assembler_.start(decoded<amqp_basic_deliver_t>(method));
            return {};
        case AMQP_BASIC_CANCEL_METHOD:
            // The queue was deleted, or its node is lost: when that comes back, another reaper may
            // be the first to get what we have here.
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

Outcome Session::serve_publish_method(const amqp_method_t& method) {
    switch (method.id) {
        case AMQP_BASIC_ACK_METHOD: {
            const auto& ack = decoded<amqp_basic_ack_t>(method);
            const auto original = dead_letters_.confirmed(ack.delivery_tag, ack.multiple != 0);
            return original ? acknowledge(*original) : Outcome();
        }
        case AMQP_BASIC_NACK_METHOD: {
            const auto& nack = decoded<amqp_basic_nack_t>(method);
            dead_letters_.refused(nack.delivery_tag, nack.multiple != 0);
            return {};
        }
        case AMQP_BASIC_RETURN_METHOD:
            dead_letters_.returned();
            topology_monitor_.check_at_once();  // declares the dead-letter queue again
            return {};
        case AMQP_CHANNEL_CLOSE_METHOD: {
            std::string why;
            if (auto failed = connection_.closed_by_broker(publish_channel, method, why))
                return failed;
            dead_letters_.channel_closed(why);
            return {};
        }
        default: return {};
    }
}

Outcome Session::serve_proof_method(const amqp_method_t& method) {
    switch (method.id) {
        case AMQP_QUEUE_DECLARE_OK_METHOD: proof_.answered(); return {};
        case AMQP_CHANNEL_CLOSE_METHOD: {
            std::string why;
            if (auto failed = connection_.closed_by_broker(proof_channel, method, why))
                return failed;
            proof_.channel_closed();
            return {};
        }
        default: return {};
    }
}

Outcome Session::serve_token_method(const amqp_method_t& method) {
    if (method.id != AMQP_CHANNEL_CLOSE_METHOD) return {};
    std::string why;
    if (auto failed = connection_.closed_by_broker(token_channel, method, why)) return failed;
    token_.channel_closed(why);
    return {};
}

}  // namespace reaper::amqp
