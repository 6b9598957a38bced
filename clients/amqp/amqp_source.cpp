#include "clients/amqp/amqp_source.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <pthread.h>
#include <thread>

#include "clients/amqp/amqp_worker.hpp"

namespace reaper {
namespace {

using amqp::Command;
using amqp::Outlet;
using amqp::Shared;
using amqp::Steady;

/// After the connection was cut, the thread needs a moment to notice.
constexpr std::chrono::milliseconds grace(1'000);

/// Signals are for the threads of the daemon that handle them.
class SignalsBlocked {
public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

private:
    sigset_t before_{};
};

/// Set when the thread has nothing more to do.
struct Done {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;

    void set() {
        const std::lock_guard lock(mutex);
        done = true;
        changed.notify_all();
    }
    bool wait_for(std::chrono::milliseconds time) {
        std::unique_lock lock(mutex);
        return changed.wait_for(lock, time, [this] { return done; });
    }
};

class AmqpSource final : public MessageSource {
public:
    AmqpSource(boost::asio::any_io_executor executor, const config::Broker& broker,
               const AmqpTuning& tuning)
        : executor_(executor), finished_(executor), shared_(std::make_shared<Shared>()) {
        shared_->broker = broker;
        shared_->tuning = tuning;
    }

    ~AmqpSource() override {
        if (!thread_.joinable()) return;
        shared_->commands.request_stop(Steady::now());
        shared_->outlet->close();
        shared_->cutter.cut();
        end_thread(grace);
    }

    void start(Handlers handlers) override {
        if (shared_->outlet) return;  // started before
        finished_.expires_at(Steady::time_point::max());
        shared_->outlet = std::make_shared<Outlet>(executor_, std::move(handlers),
                                                   [this] { finished_.cancel(); });
        const SignalsBlocked blocked;
        thread_ = std::thread([shared = shared_, done = done_] {
            pthread_setname_np(pthread_self(), "amqp");
            amqp::Worker(shared).run();
            done->set();
            shared->outlet->finished();
        });
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

    Task<void> stop() override {
        if (!thread_.joinable() || stopping_) co_return;
        stopping_ = true;
        shared_->outlet->mute();
        const auto limit = shared_->tuning.stop_timeout;
        shared_->commands.request_stop(Steady::now() + limit);
        const bool finished = co_await finished_within(limit);
        if (!finished) {
            shared_->cutter.cut();
            co_await finished_within(grace);
        }
        shared_->outlet->close();
        end_thread(std::chrono::milliseconds(0));
    }

private:
    /// True if the thread has said that it is finished.
    Task<bool> finished_within(std::chrono::milliseconds limit) {
        if (done_->wait_for(std::chrono::milliseconds(0))) co_return true;
        finished_.expires_after(limit);
        boost::system::error_code error;
        auto token = boost::asio::redirect_error(boost::asio::use_awaitable, error);
        co_await finished_.async_wait(token);
        co_return error == boost::asio::error::operation_aborted;
    }

    /// A thread that is still stuck (in name resolution, which nothing can cut) is left to itself:
    /// it owns what it uses, and the outlet is closed.
    void end_thread(std::chrono::milliseconds patience) {
        if (done_->wait_for(patience)) {
            thread_.join();
        } else {
            thread_.detach();
        }
    }

    boost::asio::any_io_executor executor_;
    boost::asio::steady_timer finished_;  // cancelled when the thread has finished
    std::shared_ptr<Shared> shared_;
    std::shared_ptr<Done> done_ = std::make_shared<Done>();
    std::thread thread_;
    bool stopping_ = false;
};

}  // namespace

std::unique_ptr<MessageSource> make_amqp_source(boost::asio::any_io_executor executor,
                                                const config::Broker& broker,
                                                const AmqpTuning& tuning) {
    return std::make_unique<AmqpSource>(std::move(executor), broker, tuning);
}

}  // namespace reaper
