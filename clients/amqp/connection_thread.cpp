#include "clients/amqp/connection_thread.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <pthread.h>

namespace reaper::amqp {
namespace {

/// After the connection was cut, the thread needs some time to notice.
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
    SignalsBlocked& operator=(SignalsBlocked&&) = delete;

private:
    sigset_t before_{};
};

}  // namespace

/// Set when the thread has nothing more to do.
struct ConnectionThread::Done {
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

ConnectionThread::ConnectionThread(const boost::asio::any_io_executor& executor)
    : finished_(executor), done_(std::make_shared<Done>()) {
    finished_.expires_at(Steady::time_point::max());
}

ConnectionThread::~ConnectionThread() {
    if (!thread_.joinable()) return;
    wakeup_->request_stop(Steady::now());
    bridge_->close();
    aborter_->cut();
    end(grace);
}

std::function<void()> ConnectionThread::on_finished() {
    return [this] { finished_.cancel(); };
}

void ConnectionThread::start(const char* name, std::shared_ptr<ExecutorBridge> bridge,
                             std::shared_ptr<Wakeup> wakeup,
                             std::shared_ptr<ConnectionAborter> aborter,
                             std::function<void()> work) {
    bridge_ = std::move(bridge);
    wakeup_ = std::move(wakeup);
    aborter_ = std::move(aborter);
    const SignalsBlocked blocked;
    thread_ = std::thread([name, work = std::move(work), done = done_, last = bridge_] {
        pthread_setname_np(pthread_self(), name);
        work();
        done->set();
        last->finished();
    });
}

Task<void> ConnectionThread::stop(milliseconds limit) {
    if (!thread_.joinable() || stopping_) co_return;
    stopping_ = true;
    bridge_->mute();
    wakeup_->request_stop(Steady::now() + limit);
    const bool finished = co_await finished_within(limit);
    if (!finished) {
        aborter_->cut();
        co_await finished_within(grace);
    }
    bridge_->close();
    end(milliseconds(0));
}

/// True if the thread has said that it is finished.
Task<bool> ConnectionThread::finished_within(milliseconds limit) {
    if (done_->wait_for(milliseconds(0))) co_return true;
    finished_.expires_after(limit);
    boost::system::error_code error;
    auto token = boost::asio::redirect_error(boost::asio::use_awaitable, error);
    co_await finished_.async_wait(token);
    co_return error == boost::asio::error::operation_aborted;
}

/// A thread that is still stuck is left to itself: it owns what it uses, and the gate is closed.
void ConnectionThread::end(milliseconds patience) {
    if (done_->wait_for(patience)) {
        thread_.join();
    } else {
        thread_.detach();
    }
}

}  // namespace reaper::amqp
