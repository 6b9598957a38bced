#include "reaper/daemon/sd_notify.hpp"

#include <cstdint>
#include <systemd/sd-daemon.h>
#include <time.h>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

constexpr std::size_t longest_status = 1'000;

}  // namespace

ServiceManager::ServiceManager() {
    std::uint64_t microseconds = 0;
    if (sd_watchdog_enabled(0, &microseconds) > 0)
        watchdog_ = std::chrono::microseconds(microseconds);
}

// What can't be told to systemd is not worth a failure: it will notice by itself.
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

}  // namespace reaper
