// The one loop of everything that is done again and again.
#pragma once

#include <functional>
#include <string>

#include "reaper/runtime/backoff.hpp"

namespace reaper {

struct PeriodicTask {
    std::string name;  ///< for the log: what can't be done when it fails
    /// Between the end of one run and the beginning of the next, its current value; zero or less:
    /// off.
    std::function<Duration()> interval;
    /// An error is logged once, and runs become rarer, up to `longest` apart.
    std::function<ResultTask<void>()> run;
    Duration longest{std::chrono::minutes{2}};
    /// The first run waits for the interval too.
    bool wait_first = false;
};

/// Runs it until `stopping`, which must outlive it, as the clock must. Intervals of ten seconds and
/// more are spread by a tenth, so that several reapers do not ask at the same time.
/// `already_logged`: has another part logged this failure already? Empty: no.
Task<void> run_periodically(PeriodicTask task, Clock& clock, const bool& stopping,
                            std::function<bool(const Error&)> already_logged = {});

}  // namespace reaper
