#include "clients/amqp/event_session.hpp"

#include <algorithm>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <utility>

#include "clients/amqp/amqp_bytes.hpp"
#include "clients/amqp/amqp_topology.hpp"
#include "clients/amqp/compression.hpp"

namespace reaper::amqp {
namespace {

constexpr int frames_of_a_message = 3;  // method, header, body
constexpr std::uint64_t log_each = 1'000;

}  // namespace

EventSession::EventSession(Connection& connection, const config::Broker& broker,
                           const EventTuning& tuning, const Wakeup& wakeup,
                           EventDispatcher& dispatcher, EventCounters& counters,
                           const ProgressCallback& tell)
    : connection_(connection),
      broker_(broker),
      tuning_(tuning),
      wakeup_(wakeup),
      dispatcher_(dispatcher),
      counters_(counters),
      queue_(unique_name(broker.queue, "events")),
      assembler_(tuning.max_body_bytes, 0),
      topology_monitor_(connection, broker, tuning, tell) {}

std::optional<Error> EventSession::run() {
    for (;;) {
        if (const auto deadline = wakeup_.stop_deadline()) {
            connection_.close(
                std::chrono::duration_cast<std::chrono::milliseconds>(*deadline - Steady::now()));
            return std::nullopt;
        }
        wakeup_.seen();
        bool more = false;
        Outcome failed = stay_heard();
        if (!failed && dispatcher_.full()) {
            pause();
        } else if (!failed) {
            failed = round(more);
            if (!failed && Steady::now() >= topology_monitor_.due()) {
                auto outcome = set_up();
                failed = topology_monitor_.checked(std::move(outcome), consuming_, queue_);
            }
            if (!failed && !more && !dispatcher_.full() && !wakeup_.stop_deadline()) {
                connection_.wait(wakeup_.wake_fd(), topology_monitor_.due());
            }
        }
        if (failed) {
            if (wakeup_.stop_deadline()) return std::nullopt;
            return failed->error;
        }
    }
}

Outcome EventSession::round(bool& more) {
    auto failed =
        connection_.read_frames(tuning_.batch_messages * frames_of_a_message, more,
                                [this](const amqp_frame_t& frame) { return serve(frame); });
    send_batch();
    return failed;
}

void EventSession::pause() const {
    pollfd wait{wakeup_.wake_fd(), POLLIN, 0};
    std::chrono::milliseconds most(1'000);
    const std::chrono::milliseconds heartbeat = connection_.heartbeat();
    if (heartbeat.count() > 0) most = std::min(most, heartbeat / 4);
    ::poll(&wait, 1, static_cast<int>(most.count()));
}

Outcome EventSession::stay_heard() {
    const std::chrono::milliseconds heartbeat = connection_.heartbeat();
    if (heartbeat.count() == 0 || Steady::now() - last_heartbeat_ < heartbeat / 2) return {};
    last_heartbeat_ = Steady::now();
    amqp_frame_t frame{};
    frame.frame_type = AMQP_FRAME_HEARTBEAT;
    return connection_.check_status(amqp_send_frame(connection_.raw(), &frame), "heartbeat");
}

/// Asks as little as may be while messages flow: each answer takes along all that lies before it.
Outcome EventSession::set_up() {
    if (auto failed = look_for_losses()) return failed;
    if (!consuming_) {
        if (auto failed = declare_events_queue(connection_, broker_, queue_)) return failed;
        if (auto failed = start_consuming()) return failed;
    }
    if (auto failed = look_for_exchange(connection_, broker_)) return failed;
    if (auto failed = bind_queue(connection_, broker_, queue_, binding_keys(broker_, "info")))
        return failed;
    if (!behind_) return {};
    return Failure{
        {Errc::server_error,
         connection_.name() + ": events arrive faster than the reaper handles them: queue '" +
             queue_ + "' was full (broker.events_max_length), and the oldest were lost"},
        0,
        false};
}

Outcome EventSession::start_consuming() {
    if (auto failed = connection_.open_channel(consume_channel)) return failed;
    amqp_basic_consume(connection_.raw(), consume_channel, bytes(queue_), bytes("reaper"), 0, 1, 1,
                       amqp_empty_table);
    auto failed = connection_.check(consume_channel, "consuming queue '" + queue_ + "'");
    consuming_ = !failed;
    return failed;
}

Outcome EventSession::look_for_losses() {
    bool lost = false;
    if (auto failed = take_losses(connection_, queue_, lost)) return failed;
    if (lost) {
        behind_ = true;
    } else if (behind_ && consuming_) {
        QueueCounts counts;
        if (auto failed = look_at_queue(connection_, queue_, counts)) return failed;
        behind_ = counts.messages * 2 > static_cast<std::uint64_t>(broker_.events_max_length);
    }
    return {};
}

Outcome EventSession::serve(const amqp_frame_t& frame) {
    if (frame.frame_type == AMQP_FRAME_METHOD) {
        const amqp_method_t& method = frame.payload.method;
        if (frame.channel == consume_channel) return serve_consume_method(method);
        if (frame.channel == 0 && method.id == AMQP_CONNECTION_CLOSE_METHOD) {
            std::string why;
            return connection_.closed_by_broker(0, method, why);
        }
        return {};
    }
    if (frame.channel != consume_channel) return {};
    if (const auto message = assembler_.add(frame)) take(*message);
    return {};
}

Outcome EventSession::serve_consume_method(const amqp_method_t& method) {
    switch (method.id) {
        case AMQP_BASIC_DELIVER_METHOD:
            assembler_.start(*static_cast<const amqp_basic_deliver_t*>(method.decoded));
            return {};
        case AMQP_BASIC_CANCEL_METHOD:
            consuming_ = false;
            send_batch();  // events before the gap are reported before it
            topology_monitor_.queue_vanished(queue_);
            return {};
        case AMQP_CHANNEL_CLOSE_METHOD: {
            std::string why;
            if (auto failed = connection_.closed_by_broker(consume_channel, method, why)) {
                return failed;
            }
            consuming_ = false;
            assembler_.reset();
            send_batch();
            topology_monitor_.channel_closed(why);
            return {};
        }
        default: return {};
    }
}

void EventSession::take(const Message& message) {
    ++counters_.received;
    if (message.full_size > message.body.size()) {
        count_malformed(fmt::format("the message has {} bytes, more than the {} that are taken",
                                    message.full_size, tuning_.max_body_bytes));
        return;
    }
    std::string whole;
    if (const auto how = message.headers.text(compression_header); !how.empty()) {
        auto result = unpacked(message.body, how, tuning_.max_body_bytes);
        if (!result) return count_malformed(result.error().what);
        whole = std::move(*result);
    }
    ParsedEvent parsed = parser_.parse(whole.empty() ? message.body : whole);
    if (auto* event = std::get_if<CloudEvent>(&parsed)) {
        batch_.push_back(std::move(*event));
    } else if (const auto* bad = std::get_if<Malformed>(&parsed)) {
        count_malformed(bad->reason);
    } else {
        ++counters_.ignored;
    }
}

void EventSession::count_malformed(const std::string& reason) {
    const std::uint64_t before = counters_.malformed++;
    if (before % log_each != 0) return;
    spdlog::warn("{}: event {} that can't be understood: {} (of more, each {}th is shown)",
                 connection_.name(), before + 1, reason, log_each);
}

void EventSession::send_batch() {
    if (!batch_.empty()) dispatcher_.events(std::exchange(batch_, {}));
}

}  // namespace reaper::amqp
