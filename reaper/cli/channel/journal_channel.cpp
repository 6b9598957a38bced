#include "reaper/cli/channel/journal_channel.hpp"

#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <optional>
#include <utility>

#include "reaper/api/answers.hpp"
#include "reaper/api/routes.hpp"
#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/requests/record_feed.hpp"
#include "reaper/runtime/run_task.hpp"
#include "reaper/runtime/system_clock.hpp"

namespace reaper::cli {
namespace {

class NoDaemon final : public api::Daemon {
public:
    std::optional<DaemonView> view() const override { return std::nullopt; }
    DaemonStatus status() const override { return {}; }
    Task<std::optional<Decision>> would_decide(Request) override { co_return std::nullopt; }
    Task<std::optional<RoomAnswer>> room_for(Request) override { co_return std::nullopt; }
    OperatorTrigger* operators() override { return nullptr; }
    ReservationController* reservations() override { return nullptr; }
    ServerProtections* protections() override { return nullptr; }
    const RoomPublisher* room_publisher() override { return nullptr; }
};

/// Waits between looks, until a signal ends it.
class Looks {
public:
    explicit Looks(boost::asio::io_context& io)
        : io_(io), timer_(io), signals_(io, SIGINT, SIGTERM) {
        signals_.async_wait([this](const boost::system::error_code& error, int) {
            if (error) return;
            stopped_ = true;
            timer_.cancel();
        });
    }

    /// False: no further one.
    bool wait() {
        if (stopped_) return false;
        timer_.expires_after(std::chrono::seconds{1});
        timer_.async_wait([this](const boost::system::error_code&) { io_.stop(); });
        io_.restart();
        io_.run();
        return !stopped_;
    }

private:
    boost::asio::io_context& io_;
    boost::asio::steady_timer timer_;
    boost::asio::signal_set signals_;
    bool stopped_ = false;
};

class JournalChannel final : public ApiChannel {
public:
    JournalChannel(boost::asio::io_context& io, JournalReader& journal, std::string name,
                   JournalChannelOptions options)
        : io_(io),
          name_(std::move(name)),
          clock_(make_system_clock(io.get_executor())),
          backend_{daemon_, journal, feed_} {
        backend_.clock = clock_.get();
        backend_.connect = std::move(options.connect);
        backend_.also = options.also;
        backend_.also_unread = std::move(options.also_unread);
        if (options.followed) looks_.emplace(io);
    }

    Result<http::LocalAnswer> ask(http::Method /*always GET*/, const std::string& target,
                                  const std::string& /*body*/) override {
        auto answer = answered(target);
        failure_.reset();
        if (!answer || answer->status != 200) failure_ = answer;
        return answer;
    }
    Result<http::LocalAnswer> stream(
        http::Method /*always GET*/, const std::string& /*of events*/, const std::string& /*body*/,
        const std::function<void(const std::string&)>& on_line) override {
        while (looks_ && looks_->wait()) {
            on_line("event: request");
            if (failure_) return *failure_;
        }
        return Error{Errc::cancelled, "interrupted"};
    }
    std::string name() const override { return name_; }
    bool remote() const override { return false; }

private:
    Result<http::LocalAnswer> answered(const std::string& target) {
        HttpRequest request{"GET", target};
        HttpResponse said = run_task(io_, api::answer(backend_, api::Caller{}, std::move(request)));
        http::LocalAnswer answer{said.status, std::move(said.body)};
        if (answer.status != 400 && answer.status != 503) return answer;
        std::string why = why_refused(answer);
        // It begins with the parameter, which has the name of its option.
        if (answer.status == 400) return Error{Errc::bad_input, "--" + why};
        if (why.starts_with(api::journal_trouble)) why.erase(0, api::journal_trouble.size());
        return Error{Errc::storage, std::move(why)};
    }

    boost::asio::io_context& io_;
    std::string name_;
    std::unique_ptr<Clock> clock_;
    NoDaemon daemon_;
    RecordFeed feed_;
    api::Backend backend_;
    std::optional<Looks> looks_;
    std::optional<Result<http::LocalAnswer>> failure_;  ///< of the last question
};

}  // namespace

std::unique_ptr<ApiChannel> journal_channel(boost::asio::io_context& io, JournalReader& journal,
                                            const std::string& name,
                                            JournalChannelOptions options) {
    return std::make_unique<JournalChannel>(io, journal, name, std::move(options));
}

}  // namespace reaper::cli
