#include "clients/amqp/amqp_worker.hpp"

#include <spdlog/fmt/fmt.h>

#include "clients/amqp/amqp_session.hpp"

namespace reaper::amqp {
namespace {

/// A connection that lasted this long was a good one: the next pause is a short one again.
constexpr auto good_life = std::chrono::seconds(30);

std::string seconds_text(std::chrono::milliseconds time) {
    return fmt::format("{:.1f} s", static_cast<double>(time.count()) / 1000.0);
}

}  // namespace

Worker::Worker(std::shared_ptr<Shared> shared)
    : shared_(std::move(shared)),
      backoff_(shared_->broker.reconnect_backoff, shared_->broker.reconnect_backoff_max) {
    for (const auto& url : shared_->broker.urls) urls_.push_back(parse_broker_url(url));
}

void Worker::run() {
    while (!stopping()) {
        const auto connection = connect();
        if (!connection) {
            if (!stopping()) pause_before_retry(why_not_);
            continue;
        }
        const auto born = Steady::now();
        const auto lost = live_on(*connection);
        if (!lost) break;
        if (Steady::now() - born > good_life) backoff_.reset();
        pause_before_retry(lost->what);
    }
}

std::unique_ptr<Connection> Worker::connect() {
    why_not_ = urls_.empty() ? "broker.urls is empty" : "";
    const std::size_t first = current_;
    for (std::size_t i = 0; i < urls_.size() && !stopping(); ++i) {
        const std::size_t index = (first + i) % urls_.size();
        const auto& url = urls_[index];
        std::string why;
        if (url) {
            auto connection = Connection::open(*url, shared_->broker,
                                               shared_->tuning.answer_timeout, shared_->cutter);
            if (connection) {
                current_ = index;
                return std::move(*connection);
            }
            why = connection.error().what;
        } else {
            why = url.error().what;
        }
        why_not_ += (why_not_.empty() ? "" : "; ") + why;
    }
    return nullptr;
}

std::optional<Error> Worker::live_on(Connection& connection) {
    const Tell teller = [this](bool consuming, const std::string& what,
                               std::optional<std::chrono::milliseconds> pause) {
        tell(consuming, what, pause);
    };
    Session session(connection, shared_->broker, shared_->tuning, shared_->commands,
                    *shared_->outlet, teller);
    return session.run();
}

void Worker::pause_before_retry(const std::string& why) {
    const auto pause = backoff_.next();
    tell(false, why, pause);
    shared_->commands.sleep_until(Steady::now() + pause);
}

void Worker::tell(bool consuming, const std::string& what,
                  std::optional<std::chrono::milliseconds> pause) {
    const std::string key = (consuming ? "+" : "-") + what;
    if (key == told_) return;
    told_ = key;
    std::string detail = what;
    if (pause) {
        detail += "; next try in " + seconds_text(*pause) + ", then with pauses of up to " +
                  seconds_text(backoff_.most());
    }
    shared_->outlet->state({consuming, detail});
}

}  // namespace reaper::amqp
