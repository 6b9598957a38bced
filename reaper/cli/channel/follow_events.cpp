#include "reaper/cli/channel/follow_events.hpp"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <random>
#include <string>

namespace reaper::cli {
namespace {

using std::chrono::milliseconds;

/// Of server-sent events, those that may have changed what the journal lists.
bool tells_news(const std::string& line) {
    return line == "event: request" || line == "event: reset" || line == "event: hello";
}

/// False: a signal ended it.
bool waited(milliseconds span) {
    boost::asio::io_context io{1};
    boost::asio::steady_timer timer{io, span};
    boost::asio::signal_set signals{io, SIGINT, SIGTERM};
    bool interrupted = false;
    timer.async_wait([&](const boost::system::error_code&) { io.stop(); });
    signals.async_wait([&](const boost::system::error_code& error, int) {
        if (error) return;
        interrupted = true;
        io.stop();
    });
    io.run();
    return !interrupted;
}

/// Longer and longer, and not the same for all that wait for one daemon.
class Waits {
public:
    milliseconds next() {
        const milliseconds span = next_;
        next_ = std::min(2 * next_, longest);
        std::uniform_int_distribution<milliseconds::rep> some{span.count() / 2, span.count()};
        return milliseconds{some(random_)};
    }
    void begin_again() { next_ = shortest; }

private:
    static constexpr milliseconds shortest{1'000};
    static constexpr milliseconds longest{30'000};
    milliseconds next_ = shortest;
    std::minstd_rand random_{std::random_device{}()};
};

class Follower {
public:
    Follower(DaemonApi& api, const std::function<bool(ExitCode&)>& look, const Terminal& terminal)
        : api_(api), look_(look), terminal_(terminal) {}

    ExitCode run() {
        if (!look_(code_)) return code_;
        api_.complain_to([this](const std::string& why) { why_ = why; });
        const ExitCode code = follow();
        api_.complain_to({});
        return code;
    }

private:
    ExitCode follow() {
        while (true) {
            bool interrupted = false;
            why_.clear();
            const auto on_line = [this](const std::string& line) { take(line); };
            const bool ended = api_.get_lines("/v1/events", on_line, interrupted, code_);
            if (interrupted) return ExitCode::ok;
            if (over_ || (!ended && !api_.may_pass())) return end();
            tell_lost();
            if (!waited(waits_.next())) return ExitCode::ok;
        }
    }
    void take(const std::string& line) {
        if (lost_) {
            terminal_.warn(api_.name() + ": connected again");
            lost_ = false;
            waits_.begin_again();
        }
        if (over_ || !(tells_news(line) || missed_)) return;
        missed_ = !look_(code_);
        over_ = missed_ && !api_.may_pass();
    }
    void tell_lost() {
        if (!lost_)
            terminal_.warn(api_.name() + ": the connection ended" +
                           (why_.empty() ? "" : " (" + why_ + ")") + "; connecting again");
        lost_ = true;
    }
    ExitCode end() const {
        if (!why_.empty()) terminal_.complain(why_);
        return code_;
    }

    DaemonApi& api_;
    const std::function<bool(ExitCode&)>& look_;
    const Terminal& terminal_;
    Waits waits_;
    ExitCode code_{};
    std::string why_;      ///< the last complaint
    bool lost_ = false;    ///< the connection; that was printed
    bool missed_ = false;  ///< a look failed: the next line, whatever it is, asks for another
    bool over_ = false;    ///< no other try would help
};

}  // namespace

ExitCode follow_events(DaemonApi& api, const std::function<bool(ExitCode&)>& look,
                       const Terminal& terminal) {
    return Follower{api, look, terminal}.run();
}

}  // namespace reaper::cli
