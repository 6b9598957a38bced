#include "clients/amqp/amqp_source.hpp"

#include <string>
#include <utility>

#include "clients/amqp/amqp_session.hpp"
#include "clients/amqp/connection_thread.hpp"
#include "clients/amqp/dispatcher.hpp"
#include "clients/amqp/executor_bridge.hpp"
#include "clients/amqp/outbox.hpp"
#include "clients/amqp/publisher.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {
namespace {

using amqp::Command;
using amqp::Dispatcher;

/// What the threads share with the source; lives as long as one of them.
struct SourceState {
    config::Broker broker;
    AmqpTuning tuning;
    amqp::CommandQueue commands;
    amqp::Outbox outbox{commands};
    amqp::ConnectionAborter aborter;
    amqp::ConnectionAborter publisher_aborter;
    std::shared_ptr<Dispatcher> dispatcher;

    void consume() {
        const auto live = [this](amqp::Connection& connection, const amqp::ProgressCallback& tell) {
            return amqp::run_session(connection, broker, tuning, commands, outbox, *dispatcher,
                                     tell);
        };
        const auto state = [this](bool consuming, const std::string& detail, bool refused) {
            dispatcher->state({consuming, detail, refused});
        };
        amqp::Worker(broker, tuning.answer_timeout, commands, aborter, live, state).run();
    }

    void publish() {
        const auto live = [this](amqp::Connection& connection, const amqp::ProgressCallback&) {
            return amqp::run_publisher(connection, broker, tuning, outbox);
        };
        // The consumer reports errors of the same broker.
        const auto state = [](bool, const std::string& detail, bool) {
            spdlog::debug("publishing: {}", detail);
        };
        amqp::Worker(broker, tuning.answer_timeout, outbox, publisher_aborter, live, state).run();
    }
};

/// Only the end of the publisher's thread is reported.
class PublisherBridge final : public amqp::ExecutorBridge {
public:
    using ExecutorBridge::ExecutorBridge;

private:
    void forget_handlers() override {}
};

class AmqpSource final : public MessageSource {
public:
    AmqpSource(boost::asio::any_io_executor executor, const config::Broker& broker,
               const AmqpTuning& tuning)
        : executor_(executor),
          shared_(std::make_shared<SourceState>()),
          publisher_(executor),
          consumer_(executor) {
        shared_->broker = broker;
        shared_->tuning = tuning;
    }

    void start(Handlers handlers) override {
        if (shared_->dispatcher) return;  // started before
        shared_->dispatcher =
            std::make_shared<Dispatcher>(executor_, std::move(handlers), consumer_.on_finished());
        consumer_.start("amqp", shared_->dispatcher, {shared_, &shared_->commands},
                        {shared_, &shared_->aborter}, [shared = shared_] { shared->consume(); });
        if (shared_->broker.temporary_queue) return;
        publisher_.start("amqp-publish",
                         std::make_shared<PublisherBridge>(executor_, publisher_.on_finished()),
                         {shared_, &shared_->outbox}, {shared_, &shared_->publisher_aborter},
                         [shared = shared_] { shared->publish(); });
    }

    bool holds(const DeliveryTicket& ticket) const override {
        return shared_->dispatcher && shared_->dispatcher->holds(ticket);
    }

    void acknowledge(DeliveryTicket ticket) override {
        if (!shared_->dispatcher || !shared_->dispatcher->answer(ticket)) return;
        shared_->commands.push(Command{ticket, std::nullopt, {}});
    }

    void set_aside(Delivery delivery, std::string reason) override {
        const DeliveryTicket ticket = delivery.ticket;
        if (!shared_->dispatcher || !shared_->dispatcher->answer(ticket)) return;
        shared_->commands.push(Command{ticket, std::move(reason), std::move(delivery)});
    }

    std::uint64_t serving() const override {
        return shared_->dispatcher ? shared_->dispatcher->serving_epoch() : 0;
    }

    /// The publisher last: until then, copies are stored whose originals are acknowledged.
    Task<void> stop() override {
        co_await consumer_.stop(shared_->tuning.stop_timeout);
        co_await publisher_.stop(shared_->tuning.stop_timeout);
    }

private:
    boost::asio::any_io_executor executor_;
    std::shared_ptr<SourceState> shared_;
    amqp::ConnectionThread publisher_;
    amqp::ConnectionThread consumer_;  // ends first
};

}  // namespace

std::unique_ptr<MessageSource> make_amqp_source(boost::asio::any_io_executor executor,
                                                const config::Broker& broker,
                                                const AmqpTuning& tuning) {
    return std::make_unique<AmqpSource>(std::move(executor), broker, tuning);
}

}  // namespace reaper
