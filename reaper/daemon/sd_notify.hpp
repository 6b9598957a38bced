// Talks to systemd (Type=notify): readiness, status lines, the watchdog. Everything is a quiet
// no-op when the program was not started by systemd.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace reaper {

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

}  // namespace reaper
