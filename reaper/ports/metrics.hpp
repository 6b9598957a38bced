// Port: what a monitoring system measured, asked in its own query language (PromQL).
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reaper/model/time.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

/// One value. It may be NaN or infinite: its reader decides what that means.
struct Sample {
    std::map<std::string, std::string> labels;  ///< with `__name__` if it has one
    double value = 0;
    /// That the query was evaluated for: a value that was collected some minutes before counts as
    /// of the present time. PromQL's `timestamp()` shows its age.
    TimePoint at{};
};

/// The values of one set of labels, oldest first. A step without a value is left out.
struct SampleSeries {
    std::map<std::string, std::string> labels;
    std::vector<std::pair<TimePoint, double>> points;
};

/// Nothing that it is asked is asked again by itself, so that a call takes one deadline at most and
/// costs one evaluation. Failures beside those of any call to the outside: `rejected` (the
/// expression is wrong, or asks for too much), `timeout` (also: its evaluation took too long),
/// `bad_answer` (what came is no result, is another kind of result, or has too many samples). Their
/// text has the monitoring system's own words, and no secret.
class Metrics {
public:
    virtual ~Metrics() = default;
    /// The current values: one sample for each set of labels; of a scalar, one without labels. None
    /// if nothing matches, or if what matched is stale.
    virtual ResultTask<std::vector<Sample>> query(std::string expression) = 0;
    /// Evaluated at `from` and at each `step` after it up to and including `to`. `bad_input` unless
    /// `from <= to` and the step is positive.
    virtual ResultTask<std::vector<SampleSeries>> query_range(std::string expression,
                                                              TimePoint from, TimePoint to,
                                                              Duration step) = 0;
};

}  // namespace reaper
