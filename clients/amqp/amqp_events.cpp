#include "clients/amqp/amqp_events.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <poll.h>
#include <string>
#include <utility>
#include <vector>

#include "clients/amqp/amqp_bytes.hpp"
#include "clients/amqp/amqp_topology.hpp"
#include "clients/amqp/compression.hpp"
#include "clients/amqp/connection_thread.hpp"
#include "clients/amqp/executor_bridge.hpp"
#include "clients/amqp/frame_assembler.hpp"
#include "reaper/notifications/cloud_event_parser.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper::amqp {

// The way from the connection's thread to the handlers of events, with a bound on how many batches
// are on it. Internal to clients/amqp.

// Life on one connection: declares, binds, consumes and parses events, until the connection is lost
// or a stop is asked for. Internal to clients/amqp; runs in the connection's thread.

/// Written by the thread, read by any thread; over all connections.
struct EventCounters {
    std::atomic<std::uint64_t> received{0}, ignored{0}, malformed{0};
};

class EventDispatcher final : public ExecutorBridge {
public:
    /// The thread is woken each time that a batch was handled.
    EventDispatcher(boost::asio::any_io_executor executor, EventSource::Handlers handlers,
                    std::function<void()> on_finished, std::shared_ptr<Wakeup> thread, int most)
        : ExecutorBridge(std::move(executor), std::move(on_finished)),
          thread_(std::move(thread)),
          max_(most),
          handlers_(std::move(handlers)) {}

    // The thread's side.
    /// No further batch should be sent now.
    bool full() const { return in_flight_ >= max_; }

    void events(std::vector<CloudEvent> batch) {
        ++in_flight_;
        auto shared = std::make_shared<std::vector<CloudEvent>>(std::move(batch));
        post([this, shared] {
            if (!muted() && handlers_.events) handlers_.events(std::move(*shared));
            --in_flight_;
            thread_->wake();
        });
    }

    void state(EventFeedState state) {
        post([this, state = std::move(state)] {
            if (!muted() && handlers_.state) handlers_.state(state);
        });
    }

private:
    void forget_handlers() override { handlers_ = {}; }

    std::shared_ptr<Wakeup> thread_;
    const int max_;
    std::atomic<int> in_flight_{0};
    EventSource::Handlers handlers_;  // only used on the executor
};

namespace {

constexpr int frames_of_a_message = 3;  // method, header, body
constexpr std::uint64_t log_each = 1'000;

}  // namespace

class EventSession {
public:
    /// All references must outlive the session.
    EventSession(Connection& connection, const config::Broker& broker, const EventTuning& tuning,
                 const Wakeup& wakeup, EventDispatcher& dispatcher, EventCounters& counters,
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

    /// Why the connection was lost; none after a stop.
    std::optional<Error> run() {
        return live_until_stop(connection_, wakeup_, [this] { return turn(); });
    }

private:
    Outcome turn() {
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
        return failed;
    }

    /// Reads what has arrived, at most one batch, and sends it on; `more` if there may be more.
    Outcome round(bool& more) {
        auto failed =
            connection_.read_frames(tuning_.batch_messages * frames_of_a_message, more,
                                    [this](const amqp_frame_t& frame) { return serve(frame); });
        send_batch();
        return failed;
    }

    /// Asks as little as may be while messages flow: each answer takes along all that lies before
    /// it.
    Outcome set_up() {
        if (auto failed = look_for_losses()) return failed;
        if (!consuming_) {
            if (auto failed = declare_events_queue(connection_, broker_, queue_)) return failed;
            if (auto failed = start_consuming()) return failed;
        }
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

    Outcome start_consuming() {
        if (auto failed = connection_.open_channel(consume_channel)) return failed;
        amqp_basic_consume(connection_.raw(), consume_channel, bytes(queue_), bytes("reaper"), 0, 1,
                           1, amqp_empty_table);
        auto failed = connection_.check(consume_channel, "consuming queue '" + queue_ + "'");
        consuming_ = !failed;
        return failed;
    }

    /// Whether we are behind: messages were lost, and not yet is most of the rest read.
    Outcome look_for_losses() {
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

    Outcome serve(const amqp_frame_t& frame) {
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

    Outcome serve_consume_method(const amqp_method_t& method) {
        switch (method.id) {
            case AMQP_BASIC_DELIVER_METHOD:
                assembler_.start(*static_cast<const amqp_basic_deliver_t*>(method.decoded));
                return {};
            case AMQP_BASIC_CANCEL_METHOD:
                consuming_ = false;
                send_batch();  // events before the gap are reported before it
                topology_monitor_.consumer_cancelled(queue_);
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

    void take(const Message& message) {
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

    void count_malformed(const std::string& reason) {
        const std::uint64_t before = counters_.malformed++;
        if (before % log_each != 0) return;
        spdlog::warn("{}: event {} that can't be understood: {} (of more, each {}th is shown)",
                     connection_.name(), before + 1, reason, log_each);
    }

    void send_batch() {
        if (!batch_.empty()) dispatcher_.events(std::exchange(batch_, {}));
    }

    /// Waits for the executor.
    void pause() const {
        pollfd wait{wakeup_.wake_fd(), POLLIN, 0};
        std::chrono::milliseconds most(1'000);
        const std::chrono::milliseconds heartbeat = connection_.heartbeat();
        if (heartbeat.count() > 0) most = std::min(most, heartbeat / 4);
        ::poll(&wait, 1, static_cast<int>(most.count()));
    }

    /// The library tells the broker that we live only while it reads from the socket: neither in a
    /// pause, nor while we work through what came along with an answer.
    Outcome stay_heard() {
        const std::chrono::milliseconds heartbeat = connection_.heartbeat();
        if (heartbeat.count() == 0 || Steady::now() - last_heartbeat_ < heartbeat / 2) return {};
        last_heartbeat_ = Steady::now();
        amqp_frame_t frame{};
        frame.frame_type = AMQP_FRAME_HEARTBEAT;
        return connection_.check_status(amqp_send_frame(connection_.raw(), &frame), "heartbeat");
    }

    Connection& connection_;
    const config::Broker& broker_;
    const EventTuning& tuning_;
    const Wakeup& wakeup_;
    EventDispatcher& dispatcher_;
    EventCounters& counters_;

    std::string queue_;
    bool consuming_ = false;
    bool behind_ = false;
    FrameAssembler assembler_;
    CloudEventParser parser_;
    std::vector<CloudEvent> batch_;
    TopologyMonitor topology_monitor_;
    Steady::time_point last_heartbeat_{};
};

}  // namespace reaper::amqp

namespace reaper {
namespace {

/// What the thread shares with the source; lives as long as either.
struct EventsState {
    config::Broker broker;
    EventTuning tuning;
    std::shared_ptr<amqp::Wakeup> wakeup = std::make_shared<amqp::Wakeup>();
    std::shared_ptr<amqp::ConnectionAborter> aborter = std::make_shared<amqp::ConnectionAborter>();
    amqp::EventCounters counters;
    std::shared_ptr<amqp::EventDispatcher> dispatcher;

    void work() {
        const auto live = [this](amqp::Connection& connection, const amqp::ProgressCallback& tell) {
            return amqp::EventSession(connection, broker, tuning, *wakeup, *dispatcher, counters,
                                      tell)
                .run();
        };
        const auto state = [this](bool flowing, const std::string& detail, bool) {
            dispatcher->state({flowing, detail});
        };
        amqp::Worker(broker, tuning.answer_timeout, *wakeup, *aborter, live, state).run();
    }
};

class AmqpEvents final : public EventSource {
public:
    AmqpEvents(boost::asio::any_io_executor executor, const config::Broker& broker,
               const EventTuning& tuning)
        : executor_(executor), shared_(std::make_shared<EventsState>()), thread_(executor) {
        shared_->broker = broker;
        shared_->tuning = tuning;
    }

    void start(Handlers handlers) override {
        if (shared_->dispatcher) return;  // started before
        shared_->dispatcher = std::make_shared<amqp::EventDispatcher>(
            executor_, std::move(handlers), thread_.on_finished(), shared_->wakeup,
            shared_->tuning.batches_in_flight);
        thread_.start("events", shared_->dispatcher, shared_->wakeup, shared_->aborter,
                      [shared = shared_] { shared->work(); });
    }

    EventCounts counts() const override {
        const amqp::EventCounters& counters = shared_->counters;
        return {counters.received, counters.ignored, counters.malformed};
    }

    Task<void> stop() override { co_await thread_.stop(shared_->tuning.stop_timeout); }

private:
    boost::asio::any_io_executor executor_;
    std::shared_ptr<EventsState> shared_;
    amqp::ConnectionThread thread_;
};

}  // namespace

std::unique_ptr<EventSource> make_amqp_events(boost::asio::any_io_executor executor,
                                              const config::Broker& broker,
                                              const EventTuning& tuning) {
    return std::make_unique<AmqpEvents>(std::move(executor), broker, tuning);
}

}  // namespace reaper
