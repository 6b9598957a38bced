// The one loop of everything that is done again and again.
#pragma once

#include <functional>
#include <string>

#include "reaper/runtime/backoff.hpp"

namespace reaper {

struct PeriodicTask {
    std::string name;  ///< for the log: what can't be done when it fails
    /// Between the end of one run and the beginning of the next, as of now; zero or less: off.
    std::function<Duration()> interval;
    /// An error is told once, and the next run is later and later, up to `longest`.
    std::function<ResultTask<void>()> run;
    Duration longest{std::chrono::minutes{2}};
    /// The first run waits for the interval too.
    bool wait_first = false;
};

/// Runs it until `stopping`, which must outlive it, as the clock must. Intervals of ten seconds and
/// more are spread by a tenth, so that several reapers do not ask at the same moment.
/// `already_logged`: somebody has logged this failure already; none: nobody has.
Task<void> run_periodically(PeriodicTask task, Clock& clock, const bool& stopping,
                            std::function<bool(const Error&)> already_logged = {});

}  // namespace reaper
