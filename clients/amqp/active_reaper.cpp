#include "clients/amqp/active_reaper.hpp"

#include <algorithm>
#include <vector>

#include "clients/amqp/amqp_topology.hpp"
#include "clients/amqp/broker_probe.hpp"
#include "clients/amqp/frame_assembler.hpp"
#include "clients/amqp/serving_question.hpp"
#include "clients/amqp/wakeup.hpp"

namespace reaper {
namespace {

constexpr amqp_channel_t mailbox_channel = amqp::token_channel;
constexpr std::size_t answers_have_no_body = 1024;

/// The first answer that comes until then.
Result<std::optional<ActiveReaper>> answer_until(amqp::Connection& connection,
                                                 std::chrono::steady_clock::time_point end) {
    constexpr int frames_at_a_time = 16;
    amqp::FrameAssembler assembler{answers_have_no_body, answers_have_no_body};
    std::optional<ActiveReaper> found;
    const auto serve = [&](const amqp_frame_t& frame) -> amqp::Outcome {
        if (frame.channel != mailbox_channel) return {};
        if (frame.frame_type == AMQP_FRAME_METHOD) {
            const amqp_method_t& method = frame.payload.method;
            std::string why;
            if (method.id == AMQP_CHANNEL_CLOSE_METHOD) {
                auto lost = connection.closed_by_broker(mailbox_channel, method, why);
                return lost ? lost : amqp::Failure{{Errc::forbidden, why}};
            }
            if (method.id == AMQP_BASIC_DELIVER_METHOD)
                assembler.start(*static_cast<const amqp_basic_deliver_t*>(method.decoded));
        } else if (auto message = assembler.add(frame)) {
            if (!found) found = amqp::read_answer(message->properties);
        }
        return {};
    };
    while (!found && std::chrono::steady_clock::now() < end) {
        bool more = false;
        if (auto failed = connection.read_frames(frames_at_a_time, more, serve))
            return failed->error;
        if (!more && !found) connection.wait(-1, end);
    }
    return found;
}

}  // namespace

Result<std::optional<ActiveReaper>> ask_for_active_reaper(const config::Broker& broker,
                                                          std::chrono::milliseconds patience) {
    amqp::ConnectionAborter aborter;
    std::vector<std::string> remarks;
    auto connected = amqp::connect_any(broker, aborter, remarks);
    if (!connected) return connected.error();
    amqp::Connection& connection = **connected;
    const std::string queue = amqp::serving_queue(broker).name;
    amqp::QueueCounts counts;
    const auto looked = amqp::look_at_queue(connection, queue, counts);
    if (looked && looked->code != 404) return looked->error;
    if (counts.consumers == 0)
        return Error{Errc::not_found, "no reaper is at queue '" + broker.queue + "'"};
    if (auto failed = amqp::open_mailbox(connection, mailbox_channel)) return failed->error;
    if (auto failed = amqp::ask_who_serves(connection, mailbox_channel, queue, patience))
        return failed->error;
    auto answer = answer_until(connection, std::chrono::steady_clock::now() + patience);
    connection.close(broker.connect_timeout);
    return answer;
}

Result<ActiveReaper> look_for_active_reaper(config::Broker broker) {
    // A reaper that serves the queue answers at once.
    constexpr std::chrono::milliseconds longest_answer{3'000};
    constexpr std::chrono::milliseconds longest_connect{2'000};
    broker.connect_timeout = std::min(broker.connect_timeout, longest_connect);
    auto answer = ask_for_active_reaper(broker, longest_answer);
    if (!answer) return answer.error();
    if (!*answer)
        return Error{Errc::unreachable, "no answer within 3 s: the reaper that serves queue '" +
                                            broker.queue + "' is frozen, fully occupied or older"};
    return std::move(**answer);
}

}  // namespace reaper
