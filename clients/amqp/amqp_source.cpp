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
using amqp::Outlet;

/// What the thread shares with the source; lives as long as either.
struct SourceState {
    config::Broker broker;
    AmqpTuning tuning;
    amqp::CommandQueue commands;
    amqp::Cutter cutter;
    std::shared_ptr<Outlet> outlet;

    void work() {
        const auto live = [this](amqp::Connection& connection, const amqp::Tell& tell) {
            return amqp::Session(connection, broker, tuning, commands, *outlet, tell).run();
        };
        const auto state = [this](bool consuming, const std::string& detail) {
            outlet->state({consuming, detail});
        };
        amqp::Worker(broker, tuning.answer_timeout, commands, cutter, live, state).run();
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
        if (shared_->outlet) return;  // started before
        shared_->outlet =
            std::make_shared<Outlet>(executor_, std::move(handlers), thread_.on_finished());
        thread_.start("amqp", shared_->outlet, {shared_, &shared_->commands},
                      {shared_, &shared_->cutter}, [shared = shared_] { shared->work(); });
    }

    bool holds(const DeliveryTicket& ticket) const override {
        return shared_->outlet && shared_->outlet->holds(ticket);
    }

    void acknowledge(DeliveryTicket ticket) override {
        if (!shared_->outlet || !shared_->outlet->answer(ticket)) return;
        shared_->commands.push(Command{ticket, std::nullopt, {}});
    }

    void set_aside(Delivery delivery, std::string reason) override {
        const DeliveryTicket ticket = delivery.ticket;
        if (!shared_->outlet || !shared_->outlet->answer(ticket)) return;
        shared_->commands.push(Command{ticket, std::move(reason), std::move(delivery)});
    }

    void publish(std::string body) override {
        if (!shared_->outlet) return;
        shared_->commands.push(Command{{}, std::nullopt, {}, std::move(body)});
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
