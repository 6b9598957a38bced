#include "clients/amqp/connection_thread.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <pthread.h>
#include <spdlog/fmt/fmt.h>
#include <utility>

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

std::optional<Error> live_until_stop(
    Connection& connection, const Wakeup& wakeup, const std::function<Outcome()>& turn,
    const std::function<bool(Steady::time_point deadline)>& wind_down) {
    for (;;) {
        if (const auto deadline = wakeup.stop_deadline()) {
            if (wind_down && !wind_down(*deadline)) return std::nullopt;
            connection.close(
                std::chrono::duration_cast<std::chrono::milliseconds>(*deadline - Steady::now()));
            return std::nullopt;
        }
        if (auto failed = turn()) {
            if (wakeup.stop_deadline()) return std::nullopt;
            return failed->error;
        }
    }
}

namespace {

/// A connection that lasted this long was a good one: the next pause is a short one again.
constexpr auto good_life = std::chrono::seconds(30);

std::string seconds_text(std::chrono::milliseconds time) {
    return fmt::format("{:.1f} s", static_cast<double>(time.count()) / 1000.0);
}

}  // namespace

Worker::Worker(const config::Broker& broker, std::chrono::milliseconds answer_timeout,
               const Wakeup& wakeup, ConnectionAborter& aborter, Live live, State state)
    : broker_(broker),
      answer_timeout_(answer_timeout),
      wakeup_(wakeup),
      aborter_(aborter),
      live_(std::move(live)),
      state_(std::move(state)),
      backoff_(broker.reconnect_backoff, broker.reconnect_backoff_max) {
    for (const auto& secret : broker.urls) {
        const auto urls = parse_broker_urls(secret);
        if (!urls) urls_.emplace_back(urls.error());
        for (std::size_t i = 0; urls && i < urls->size(); ++i) urls_.emplace_back((*urls)[i]);
    }
}

void Worker::run() {
    const ProgressCallback teller = [this](bool consuming, const std::string& what,
                                           std::optional<std::chrono::milliseconds> pause) {
        tell(consuming, what, pause);
    };
    while (!stopping()) {
        const auto connection = connect();
        if (!connection) {
            // Many quick tries with a wrong password could lock an account.
            if (refused_) backoff_.slow_down();
            if (!stopping()) pause_before_retry(why_not_);
            continue;
        }
        const auto born = Steady::now();
        const auto lost = live_(*connection, teller);
        if (!lost) break;
        if (Steady::now() - born > good_life) backoff_.reset();
        current_ = (current_ + 1) % urls_.size();
        pause_before_retry(lost->what);
    }
}

std::unique_ptr<Connection> Worker::connect() {
    why_not_ = urls_.empty() ? "broker.urls is empty" : "";
    const std::size_t first = current_;
    std::size_t refusals = 0;
    refused_ = false;
    for (std::size_t i = 0; i < urls_.size() && !stopping(); ++i) {
        const std::size_t index = (first + i) % urls_.size();
        const auto& url = urls_[index];
        std::string why;
        if (url) {
            auto connection = Connection::open(*url, broker_, answer_timeout_, aborter_);
            if (connection) {
                current_ = index;
                return std::move(*connection);
            }
            why = connection.error().what;
            refusals += connection.error().code == Errc::unauthorized ? 1 : 0;
        } else {
            why = url.error().what;
        }
        why_not_ += (why_not_.empty() ? "" : "; ") + why;
    }
    refused_ = refusals > 0 && refusals == urls_.size();
    return nullptr;
}

void Worker::pause_before_retry(const std::string& why) {
    const auto pause = backoff_.next();
    tell(false, why, pause);
    wakeup_.sleep_until(Steady::now() + pause);
}

void Worker::tell(bool consuming, const std::string& what,
                  std::optional<std::chrono::milliseconds> pause) {
    const std::string key = (consuming ? "+" : "-") + what;
    if (key == told_) return;
    told_ = key;
    std::string detail = what;
    if (pause) {
        detail += "; next try in " + seconds_text(*pause) + ", then with pauses of up to " +
                  seconds_text(backoff_.longest());
    }
    state_(consuming, detail, refused_);
}

}  // namespace reaper::amqp
