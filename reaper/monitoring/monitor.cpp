#include "reaper/monitoring/monitor.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "reaper/model/time.hpp"

namespace reaper::monitoring {

// Is the daemon alive, and could it help? The one place that defines both.

/// What is done every second was done within this time, or the daemon is not alive.
inline constexpr Duration longest_step{60'000};

namespace {

double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

void add_cpu(Values& values) {
    rusage usage{};
    if (::getrusage(RUSAGE_SELF, &usage) != 0) return;
    values.counter("process_cpu_seconds_total", "User and system CPU time spent.",
                   seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime));
}

void add_memory(Values& values) {
    std::ifstream file("/proc/self/statm");
    double virtual_pages = 0;
    double resident_pages = 0;
    if (!(file >> virtual_pages >> resident_pages)) return;
    const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
    values.gauge("process_virtual_memory_bytes", "Virtual memory size.", virtual_pages * page);
    values.gauge("process_resident_memory_bytes", "Resident memory size.", resident_pages * page);
}

void add_files(Values& values) {
    std::error_code trouble;
    std::filesystem::directory_iterator open("/proc/self/fd", trouble);
    if (!trouble)  // one of them is the directory itself
        values.gauge("process_open_fds", "Open file descriptors.",
                     static_cast<double>(std::distance(begin(open), end(open)) - 1));
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0)
        values.gauge("process_max_fds", "File descriptors that may be open.",
                     static_cast<double>(limit.rlim_cur));
}

/// The process itself, under the names that Prometheus' clients have in all languages. What the
/// system does not report is left out. `started_at`: of the process.
void add_process(TimePoint started_at, Values& values) {
    values.gauge("process_start_time_seconds", "When the process started, since the epoch.",
                 std::chrono::duration<double>(started_at.time_since_epoch()).count());
    add_cpu(values);
    add_memory(values);
    add_files(values);
}

using api::HealthCheck;

HealthCheck loop_of(const DaemonState& state) {
    const Duration since = state.clock.steady() - state.stepped_at;
    if (state.stopping) return {"loop", true, "stopping: what is in flight is finished first"};
    if (since <= longest_step) return {"loop", true, "does what is due every second"};
    return {"loop", false,
            "what is due every second was done " + format_duration(since) +
                " ago: restart the daemon, and report it with its log"};
}

HealthCheck broker_of(const DaemonState& state) {
    if (state.broker.consuming) return {"broker", true, state.broker.detail};
    return {"broker", false,
            state.broker.detail.empty() ? "not connected yet" : state.broker.detail};
}

HealthCheck cloud_of(const DaemonState& state) {
    if (state.cloud_refused) return {"cloud", false, *state.cloud_refused};
    if (!state.cloud_answered) return {"cloud", false, "it has not answered yet; the log says why"};
    if (state.cloud_silent) return {"cloud", false, *state.cloud_silent};
    return {"cloud", true, "each of its services answers"};
}

HealthCheck clock_of(const DaemonState& state) {
    if (state.clock_trouble) return {"clock", false, *state.clock_trouble};
    return {"clock", true, "no other than that of the cloud's services"};
}

/// Twice the time after which it is read again: one reading may fail.
HealthCheck cache_of(const DaemonState& state) {
    if (!state.refresher.built()) return {"cache", false, state.refresher.status()};
    const Duration age = state.clock.now() - state.refresher.cache().ages().built_at;
    const bool fresh = age <= 2 * state.settings.cache.max_age;
    return {"cache", fresh,
            fresh ? state.refresher.status()
                  : "the cloud was read " + format_duration(age) + " ago, and it should be every " +
                        format_duration(Duration{state.settings.cache.max_age}) +
                        " (cache.max_age); the log says why it can't be"};
}

HealthCheck journal_of(const DaemonState& state, const std::optional<std::string>& write_trouble) {
    if (state.journal_trouble) return {"journal", false, *state.journal_trouble};
    if (write_trouble) return {"journal", false, *write_trouble};
    return {"journal", true, "it takes what is written"};
}

/// An operator's pause and the breaker are distinguished from what is not as it must be.
bool switched_off(const DaemonState& state) {
    return state.pause.paused() || state.breaker.paused();
}

HealthCheck preconditions_of(const DaemonState& state) {
    if (const auto unknown = state.safeguards.not_known_yet())
        return {"preconditions", false, *unknown};
    const auto held_back = switched_off(state) ? std::nullopt : state.safeguards.paused_reason();
    if (held_back) return {"preconditions", false, *held_back};
    return {"preconditions", true, "the facts that a deletion depends on are known"};
}

std::vector<HealthCheck> notes_of(const DaemonState& state) {
    std::vector<HealthCheck> notes;
    if (const auto paused = state.pause.paused()) notes.push_back({"paused", true, *paused});
    if (const auto open = state.breaker.paused()) notes.push_back({"breaker", true, *open});
    if (state.settings.dry_run)
        notes.push_back({"dry-run", true, "plans are reported, nothing is deleted"});
    if (state.broker.consuming && state.messages.serving() == 0)
        notes.push_back({"standby", true, not_serving});
    if (!state.settings.gateway.listen.empty())
        if (const auto passes = state.gateway.passes_through())
            notes.push_back({"gateway", true, "everything passes through: " + *passes});
    if (state.stopping) notes.push_back({"stopping", true, "nothing new is taken"});
    return notes;
}

/// `state`: none before the service runs. `write_trouble`: why the journal's last write failed;
/// none if it did not.
api::Health health_of(const std::optional<DaemonState>& state,
                      const std::optional<std::string>& write_trouble) {
    api::Health health;
    if (!state) {
        health.live.push_back({"loop", true, "starting"});
        health.ready.push_back({"service", false, "starting"});
        return health;
    }
    health.live.push_back(loop_of(*state));
    health.notes = notes_of(*state);
    if (state->stopping)
        health.ready.push_back({"service", false, "stopping"});
    else if (!state->listening)
        health.ready.push_back({"service", false, "reading its journal"});
    else
        health.ready.push_back({"service", true, "takes requests"});
    health.ready.push_back(broker_of(*state));
    health.ready.push_back(cloud_of(*state));
    health.ready.push_back(clock_of(*state));
    health.ready.push_back(cache_of(*state));
    health.ready.push_back(journal_of(*state, write_trouble));
    health.ready.push_back(preconditions_of(*state));
    return health;
}

/// Hosts that are looked at before others run again: less than a millisecond.
constexpr std::size_t hosts_at_a_time = 50;
/// The same, of the page; a family is written in one go.
constexpr std::size_t lines_at_a_time = 1000;

bool is_good(const std::vector<api::HealthCheck>& checks) {
    return std::ranges::all_of(checks, [](const api::HealthCheck& each) { return each.good; });
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
    if (auto standby = standby_ ? standby_() : std::nullopt) return std::move(*standby);
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
