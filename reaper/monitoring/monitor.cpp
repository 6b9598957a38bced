#include "reaper/monitoring/monitor.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>
#include <vector>

#include "reaper/monitoring/daemon_values.hpp"
#include "reaper/monitoring/health.hpp"
#include "reaper/monitoring/process_values.hpp"
#include "reaper/monitoring/room_values.hpp"

namespace reaper::monitoring {

namespace {

/// Hosts that are looked at before others run again: less than a millisecond.
constexpr std::size_t hosts_at_a_time = 50;
/// The same, of the page; a family is written in one go.
constexpr std::size_t lines_at_a_time = 1000;

bool is_good(const std::vector<api::HealthCheck>& checks) {
    return std::all_of(checks.begin(), checks.end(),
                       [](const api::HealthCheck& each) { return each.good; });
}

}  // namespace

Monitor::Monitor(About about) : about_(std::move(about)) {
    journal_.ask(
        [this](const HostId& host, const ServerId& server) { return taggers_of(host, server); });
}

void Monitor::watch(ObserveDaemon look) {
    look_ = std::move(look);
}

std::string Monitor::taggers_of(const HostId& host, const ServerId& server) const {
    const auto now = state();
    if (!now) return {};
    const Host* const found = now->refresher.cache().find(host);
    if (found == nullptr) return {};
    for (const Server& each : found->servers)
        if (each.id == server) return std::string{each.revocable_by.str()};
    return {};
}

api::Health Monitor::health() const {
    return health_of(state(), journal_.write_trouble());
}

Task<std::string> Monitor::metrics() {
    Values values;
    values.gauge("reaper_build_info", "1, with the version of the program.", 1,
                 {{"version", about_.version}});
    add_process(about_.started_at, values);
    const api::Health how = health();
    values.gauge("reaper_live", "1: /healthz says 200.", is_good(how.live) ? 1 : 0);
    values.gauge("reaper_ready", "1: /readyz says 200.", is_good(how.ready) ? 1 : 0);
    for (const auto& [port, expires] : certificates_)
        if (const auto at = expires())
            values.gauge("reaper_certificate_expiry_timestamp_seconds",
                         "When the TLS certificate of the port expires.",
                         std::chrono::duration<double>(at->time_since_epoch()).count(),
                         {{"port", port}});
    if (const auto now = state()) {
        add_daemon(*now, values);
        const auto oldest = journal_.oldest_open();
        const Duration age = oldest ? now->clock.now() - *oldest : Duration{};
        values.gauge("reaper_oldest_request_age_seconds",
                     "Age of the oldest request without an outcome; 0: there is none.",
                     std::max(std::chrono::duration<double>(age).count(), 0.0));
    }
    co_await add_room(values);
    Families all = registry_.Collect();
    for (auto& family : values.take()) all.push_back(std::move(family));
    const auto executor = co_await boost::asio::this_coro::executor;
    std::string page;
    std::size_t lines = 0;
    for (auto& family : all) {
        Families one;
        lines += family.metric.size();
        one.push_back(std::move(family));
        page += to_text(one);
        if (lines < lines_at_a_time) continue;
        lines = 0;
        co_await boost::asio::post(executor, boost::asio::use_awaitable);
    }
    co_return page;
}

/// The cache may change in between: hosts are looked up again, some may be gone.
Task<void> Monitor::add_room(Values& values) {
    const auto executor = co_await boost::asio::this_coro::executor;
    std::vector<HostId> ids;
    if (const auto now = state(); now && now->refresher.built())
        for (const Host* host : now->refresher.cache().hosts()) ids.push_back(host->id);
    RoomValues room(about_.per_host);
    for (std::size_t begin = 0; begin < ids.size(); begin += hosts_at_a_time) {
        if (begin > 0) co_await boost::asio::post(executor, boost::asio::use_awaitable);
        const auto now = state();
        if (!now) co_return;
        const std::size_t end = std::min(begin + hosts_at_a_time, ids.size());
        for (std::size_t i = begin; i < end; ++i)
            if (const Host* const host = now->refresher.cache().find(ids[i]))
                room.add(*host, now->settings.policy->revocable_classes, now->ledger);
    }
    if (!ids.empty()) room.give(values);
}

}  // namespace reaper::monitoring
