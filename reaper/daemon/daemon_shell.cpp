#include "reaper/daemon/daemon_shell.hpp"

#include <boost/asio/co_spawn.hpp>
#include <csignal>
#include <cstdint>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>
#include <utility>

#include "config/visit.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/daemon/logging.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {
namespace {

constexpr std::size_t longest_status = 1'000;
/// What may be cut off gets this time to end by itself.
constexpr std::chrono::milliseconds patience_at_end{1'000};
constexpr std::chrono::milliseconds between_looks_at_end{50};

}  // namespace

ServiceManager::ServiceManager() {
    std::uint64_t microseconds = 0;
    if (sd_watchdog_enabled(0, &microseconds) > 0)
        watchdog_ = std::chrono::microseconds(microseconds);
}

// A failure to notify systemd is ignored: systemd will notice by itself.
void ServiceManager::send(const std::string& text) {
    sd_notify(0, text.c_str());
}

void ServiceManager::ready() {
    send("READY=1");
}

void ServiceManager::status(std::string_view line) {
    std::string text = printable(line, longest_status);  // a line of the protocol
    if (text == last_status_) return;
    send("STATUS=" + text);
    last_status_ = std::move(text);
}

void ServiceManager::reloading() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const std::int64_t microseconds = std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1'000;
    send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(microseconds));
}

void ServiceManager::stopping() {
    send("STOPPING=1");
}

void ServiceManager::alive() {
    send("WATCHDOG=1");
}

namespace {

const char* signal_name(int number) {
    return number == SIGINT ? "SIGINT" : "SIGTERM";
}

}  // namespace

DaemonShell::DaemonShell(boost::asio::io_context& io, config::Settings settings,
                         std::optional<Reload> reload)
    : io_(io),
      in_force_(std::move(settings)),
      reload_(std::move(reload)),
      signals_(io, SIGTERM, SIGINT, SIGHUP),
      watchdog_(io),
      status_due_(io),
      start_due_(io),
      end_due_(io) {}

void DaemonShell::on_status(const ServiceStatus& status) {
    if (gave_up_) return;
    tell_status(status.beside.empty() ? status.line : status.line + "; " + status.beside);
    if (stopping_) return;
    const bool turned = status.ready != is_ready_;
    is_ready_ = status.ready;
    // Where it stood by, the refusal may be over: systemd starts it once more.
    if (!worked_ && status.refused)
        return give_up(was_ready_ ? ExitCode::failed : ExitCode::refused, *status.refused);
    if (turned && !status.ready && !worked_) limit_start();  // it takes over
    if (!status.ready) {
        // What is waited for, and when the next try is: once each, not with every request. Of the
        // cloud the service logs the reasons itself.
        const bool news = status.line != "starting" && status.line != "waiting for the cloud";
        if (status.line != last_wait_ && news) spdlog::error("{}", status.line);
        last_wait_ = status.line;
        return;
    }
    last_wait_.clear();
    if (turned) spdlog::info("ready: {}", status_waiting_);
    if (!was_ready_) manager_.ready();
    was_ready_ = true;
    worked_ = worked_ || !status.stands_by;
    start_due_.cancel();
}

/// Nothing waits longer than this for a start: systemd waits out an outage by starting us again and
/// again.
void DaemonShell::limit_start() {
    if (in_force_.start_within <= std::chrono::milliseconds::zero()) return;
    start_due_.expires_after(in_force_.start_within);
    auto on_time = [this](boost::system::error_code error) {
        if (error || is_ready_) return;
        give_up(ExitCode::failed,
                "not ready within " +
                    format_duration(std::chrono::duration_cast<Duration>(in_force_.start_within)) +
                    " (start_within): " + last_wait_);
    };
    start_due_.async_wait(on_time);
}

void DaemonShell::give_up(ExitCode code, const std::string& why) {
    if (stopping_) return;
    stopping_ = gave_up_ = true;
    exit_code_ = code;
    spdlog::error("{}", why);
    manager_.status(why);
    manager_.stopping();
    work_->stop();
    limit_end(patience_at_end);
}

void DaemonShell::limit_end(std::chrono::milliseconds from_now) {
    end_due_.expires_after(from_now);
    auto on_time = [this](boost::system::error_code error) {
        if (error) return;
        if (!work_->may_be_cut_off()) return limit_end(between_looks_at_end);
        cut_off_ = true;
        spdlog::info("stopped; nothing was in flight");
        io_.stop();
    };
    end_due_.async_wait(on_time);
}

// At most one a second, the newest: the socket to systemd is short, and a full one would hold us
// up.
void DaemonShell::tell_status(const std::string& line) {
    status_waiting_ = line;
    if (!status_timer_runs_) tell_status_later();
}

void DaemonShell::tell_status_later() {
    status_timer_runs_ = false;
    if (gave_up_ || status_waiting_ == status_) return;
    status_ = status_waiting_;
    manager_.status(status_);
    status_timer_runs_ = true;
    status_due_.expires_after(std::chrono::seconds(1));
    auto on_time = [this](boost::system::error_code error) {
        if (!error) tell_status_later();
    };
    status_due_.async_wait(on_time);
}

ExitCode DaemonShell::run(DaemonWork& work, bool dry_run) {
    work_ = &work;
    dry_run_ = dry_run;
    wait_for_signal();
    feed_watchdog();
    limit_start();
    auto on_end = [this](std::exception_ptr thrown, Result<void> result) {
        this->on_end(thrown, std::move(result));
    };
    boost::asio::co_spawn(io_, work.run(), on_end);
    io_.run();
    work_ = nullptr;
    return exit_code_;
}

void DaemonShell::on_end(std::exception_ptr thrown, Result<void> result) {
    if (thrown) {
        exit_code_ = ExitCode::failed;
        try {
            std::rethrow_exception(thrown);
        } catch (const std::exception& error) {
            spdlog::critical("stopped by a failure that should not happen, please report it: {}",
                             error.what());
        }
    } else if (!result) {
        exit_code_ = ExitCode::failed;
        spdlog::error("{}", result.error().what);
    } else {
        spdlog::info("stopped; all requests in flight are finished");
    }
    if (!stopping_) manager_.stopping();
    io_.stop();
}

void DaemonShell::wait_for_signal() {
    auto on_caught = [this](boost::system::error_code error, int number) {
        if (error) return;
        wait_for_signal();
        on_signal(number);
    };
    signals_.async_wait(on_caught);
}

void DaemonShell::on_signal(int number) {
    if (number == SIGHUP)
        reload();
    else
        stop(number);
}

void DaemonShell::stop(int number) {
    if (stopping_) {
        // Every entry of the journal is durable when written: the next start resumes from it.
        spdlog::warn("{} again: leaving at once; the next start resumes what was in flight",
                     signal_name(number));
        spdlog::default_logger()->flush();
        ::_exit(static_cast<int>(ExitCode::failed));
    }
    stopping_ = true;
    manager_.stopping();
    manager_.status("draining");
    spdlog::info("{}: draining; repeat to force", signal_name(number));
    work_->stop();
    limit_end(patience_at_end);
}

void DaemonShell::reload() {
    if (stopping_) return;
    if (!reload_) {
        spdlog::warn("SIGHUP: nothing is read again; a restart does it");
        return;
    }
    manager_.reloading();
    const auto complain = [](const std::string& line) { spdlog::error("{}", line); };
    const auto warn = [](const std::string& line) { spdlog::warn("{}", line); };
    auto wanted = load_config(reload_->config_file, complain, warn);
    if (wanted) {
        if (auto compiled = compile_settings(*wanted); !compiled) {
            complain(reload_->config_file + ": " + compiled.error().what);
            wanted.reset();
        } else {
            const config::Difference change = config::difference(in_force_, *wanted);
            in_force_ = config::with_live_values(std::move(in_force_), *wanted);
            if (!reload_->level_fixed) set_log_level(in_force_.log.level);
            // With what only a restart changes.
            if (auto sold = compile_oversubscription(in_force_.oversubscription))
                compiled->oversubscription = std::move(*sold);
            work_->reload(live_settings(in_force_, std::move(*compiled), dry_run_));
            if (reload_->done) reload_->done(in_force_);
            spdlog::info("SIGHUP: {} read again; {}", reload_->config_file, to_string(change));
        }
    }
    if (!wanted) spdlog::error("SIGHUP: reload refused, the old configuration stays in force");
    // Ends the reload for systemd. Before the first readiness there is none to return to.
    if (was_ready_) manager_.ready();
}

// From the loop itself: when it hangs, systemd misses the sign and restarts us.
void DaemonShell::feed_watchdog() {
    const auto interval = manager_.watchdog_interval();
    if (!interval) return;
    manager_.alive();
    watchdog_.expires_after(*interval / 2);
    auto on_time = [this](boost::system::error_code error) {
        if (!error) feed_watchdog();
    };
    watchdog_.async_wait(on_time);
}

}  // namespace reaper
