// The shell of the daemon: signals, systemd, reload; what is inside does the work.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "config/settings.hpp"
#include "reaper/daemon/exit_code.hpp"
#include "reaper/decision/live_settings.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

// Talks to systemd (Type=notify): readiness, status lines, the watchdog. Everything is a quiet
// no-op when the program was not started by systemd.

class ServiceManager {
public:
    /// Takes NOTIFY_SOCKET and WATCHDOG_USEC from the environment.
    ServiceManager();

    /// How often systemd wants a sign of life; none if it does not watch.
    std::optional<std::chrono::microseconds> watchdog_interval() const { return watchdog_; }

    void ready();
    /// One line for `systemctl status`; the same line again is not sent.
    void status(std::string_view line);
    /// Starts a reload; `ready` ends it.
    void reloading();
    void stopping();
    void alive();

private:
    void send(const std::string& text);

    std::optional<std::chrono::microseconds> watchdog_;
    std::string last_status_;
};

// What the daemon's shell runs: the service, the gateway, or both.

/// How it is, for readiness and `STATUS=`.
struct ServiceStatus {
    bool ready = false;  ///< the broker delivers, and the cloud answered; or the gateway listens
    std::string line = "starting";  ///< for people
    /// Of what is beside it, the gateway: for the status line alone.
    std::string beside{};
    /// Keystone or the broker refuses our credentials; which, and why. Only another configuration
    /// fixes that.
    std::optional<std::string> refused{};
    bool stands_by = false;  ///< ready for that: its start comes when it takes over
};

/// One thread: everything runs on the executor of the coroutine that calls `run`.
class DaemonWork {
public:
    virtual ~DaemonWork() = default;
    /// While another reaper is active: reads what `run` will need, and changes nothing. Returns at
    /// once; `run` comes after it, also after `stop`.
    virtual Task<void> prepare() { co_return; }
    /// Between the two: what the cloud refuses or does not answer for some time now; none: nothing.
    virtual std::optional<std::string> why_unfit() const { return std::nullopt; }
    /// Works until `stop`. Returns when everything in flight is finished.
    virtual ResultTask<void> run() = 0;
    /// Takes nothing new; `run` returns when what is in flight is done. Idempotent.
    virtual void stop() = 0;
    /// After `stop`: what still runs may be cut off, because nothing is in flight, and the next
    /// start does the rest.
    virtual bool may_be_cut_off() const { return false; }
    /// Another configuration holds from now on.
    virtual void reload(LiveSettings settings) = 0;
};

class DaemonShell {
public:
    /// What SIGHUP needs.
    struct Reload {
        std::string config_file;
        bool level_fixed = false;                             ///< the command line's log level wins
        std::function<void(const config::Settings&)> done{};  ///< what is in force then; or empty
    };

    /// `settings`: those that the work was made with. Without `reload`, SIGHUP changes nothing.
    DaemonShell(boost::asio::io_context& io, config::Settings settings,
                std::optional<Reload> reload);

    /// For the work: readiness and status line to systemd.
    void on_status(const ServiceStatus& status);
    /// Runs `work` to its end, on this thread.
    ExitCode run(DaemonWork& work, bool dry_run);
    /// Whether something that may never answer was not waited for.
    bool cut_off() const { return cut_off_; }

private:
    void wait_for_signal();
    void on_signal(int number);
    void stop(int number);
    void reload();
    void feed_watchdog();
    void tell_status(const std::string& line);
    void tell_status_later();
    /// Ends what can't get better by itself, in good order.
    void give_up(ExitCode code, const std::string& why);
    void limit_start();
    void limit_end(std::chrono::milliseconds from_now);
    void on_end(std::exception_ptr thrown, Result<void> result);

    boost::asio::io_context& io_;
    config::Settings in_force_;
    std::optional<Reload> reload_;
    ServiceManager manager_;
    boost::asio::signal_set signals_;
    boost::asio::steady_timer watchdog_;
    boost::asio::steady_timer status_due_;
    boost::asio::steady_timer start_due_;
    boost::asio::steady_timer end_due_;
    std::string status_;                       ///< the last one that systemd got
    std::string status_waiting_ = "starting";  ///< the next one for systemd
    bool status_timer_runs_ = false;
    DaemonWork* work_ = nullptr;
    bool dry_run_ = false;
    bool was_ready_ = false;  ///< systemd got READY=1
    bool worked_ = false;     ///< was ready, and did not stand by
    bool is_ready_ = false;
    std::string last_wait_ = "starting";
    bool stopping_ = false;
    bool gave_up_ = false;  ///< the last status gave the reason
    bool cut_off_ = false;
    ExitCode exit_code_ = ExitCode::ok;
};

}  // namespace reaper
