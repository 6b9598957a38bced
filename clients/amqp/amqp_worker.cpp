#include "clients/amqp/amqp_worker.hpp"

#include <spdlog/fmt/fmt.h>
#include <utility>

namespace reaper::amqp {
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
