#include "clients/amqp/amqp_events.hpp"

#include <utility>

#include "clients/amqp/amqp_worker.hpp"
#include "clients/amqp/connection_thread.hpp"
#include "clients/amqp/event_dispatcher.hpp"
#include "clients/amqp/event_session.hpp"

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
