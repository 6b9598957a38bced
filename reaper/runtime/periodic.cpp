#include "reaper/runtime/periodic.hpp"

#include "reaper/runtime/log.hpp"

namespace reaper {
namespace {

/// How often it is looked whether a task that is off was switched on.
constexpr Duration between_looks{1'000};
constexpr Duration spread_from{10'000};

}  // namespace

Task<void> run_periodically(PeriodicTask task, Clock& clock, const bool& stopping,
                            std::function<bool(const Error&)> already_logged) {
    Backoff backoff{clock, task.longest, std::chrono::seconds{1}};
    bool failing = false;
    bool wait = task.wait_first;
    while (!stopping) {
        const Duration interval = task.interval();
        const bool off = interval <= Duration::zero();
        if (off) {
            co_await sleep_unless(stopping, clock, between_looks);
            continue;
        }
        if (wait) {
            const Duration pause = interval < spread_from ? interval : spread(interval);
            co_await sleep_unless(stopping, clock, pause);
            if (stopping) break;
            // It may have been switched off, or given another interval, meanwhile.
            if (task.interval() <= Duration::zero()) continue;
        }
        wait = true;
        auto done = co_await task.run();
        if (done) {
            if (failing) spdlog::info("{}: works again", task.name);
            failing = false;
            backoff.reset();
            continue;
        }
        const bool tell = !failing && !(already_logged && already_logged(done.error()));
        if (tell) spdlog::warn("{}: {}; trying again", task.name, done.error().what);
        failing = failing || tell;
        wait = false;
        co_await backoff.pause(stopping);
    }
}

}  // namespace reaper
