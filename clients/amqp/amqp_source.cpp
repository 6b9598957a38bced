#include "clients/amqp/amqp_source.hpp"

#include <utility>

#include "clients/amqp/amqp_session.hpp"
#include "clients/amqp/amqp_worker.hpp"
#include "clients/amqp/command_queue.hpp"
#include "clients/amqp/connection_thread.hpp"
#include "clients/amqp/dispatcher.hpp"

namespace reaper {
namespace {

using amqp::Command;
using amqp::Dispatcher;

/// What the thread shares with the source; lives as long as either.
struct SourceState {
    config::Broker broker;
    AmqpTuning tuning;
    amqp::CommandQueue commands;
    amqp::ConnectionAborter aborter;
    std::shared_ptr<Dispatcher> dispatcher;

    void work() {
        const auto live = [this](amqp::Connection& connection, const amqp::ProgressCallback& tell) {
            return amqp::Session(connection, broker, tuning, commands, *dispatcher, tell).run();
        };
        const auto state = [this](bool consuming, const std::string& detail) {
            dispatcher->state({consuming, detail});
        };
        amqp::Worker(broker, tuning.answer_timeout, commands, aborter, live, state).run();
    }
};

class AmqpSource final : public MessageSource {
public:
    AmqpSource(boost::asio::any_io_executor executor, const config::Broker& broker,
               const AmqpTuning& tuning)
        : executor_(executor), shared_(std::make_shared<SourceState>()), thread_(executor) {
        shared_->broker = broker;
        shared_->tuning = tuning;
    }

    void start(Handlers handlers) override {
        if (shared_->dispatcher) return;  // started before
        shared_->dispatcher =
            std::make_shared<Dispatcher>(executor_, std::move(handlers), thread_.on_finished());
        thread_.start("amqp", shared_->dispatcher, {shared_, &shared_->commands},
                      {shared_, &shared_->aborter}, [shared = shared_] { shared->work(); });
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

    Task<void> stop() override { co_await thread_.stop(shared_->tuning.stop_timeout); }

private:
    boost::asio::any_io_executor executor_;
    std::shared_ptr<SourceState> shared_;
    amqp::ConnectionThread thread_;
};

}  // namespace

std::unique_ptr<MessageSource> make_amqp_source(boost::asio::any_io_executor executor,
                                                const config::Broker& broker,
                                                const AmqpTuning& tuning) {
    return std::make_unique<AmqpSource>(std::move(executor), broker, tuning);
}

}  // namespace reaper
