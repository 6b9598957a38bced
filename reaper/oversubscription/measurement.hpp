// What is known of the use of a host's CPU, and how it follows from single readings.
//
// Use is an interval. Where metrics distinguish the servers, it is known what others than the
// holders of oversubscribed room use, and both ends are the same. Where one figure shows the use of
// the whole host, the holders' part of it is between nothing and all that they hold. Room rises by
// the upper end alone and falls by the lower one (estimator.hpp), so a busy holder neither drives
// itself out nor makes room. Pure.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "reaper/model/ids.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// Cores that others than the holders of oversubscribed room use: regular servers, revocable ones
/// in ordinary room, and the host itself. 0 <= least <= most.
struct UsageRange {
    double least = 0;
    double most = 0;

    friend bool operator==(const UsageRange&, const UsageRange&) = default;
};

/// Of a host of which one figure is known: `in_use` cores in all, while the holders of
/// oversubscribed room hold `held` vCPUs. A vCPU uses one core at most.
UsageRange usage_of_whole(double in_use, Amount held);

/// What is known of one host's CPU at one time.
struct HostUsage {
    HostId host;
    double cores = 0;       ///< as the metrics count them; above 0
    UsageRange now;         ///< mean over the smoothing window
    UsageRange peak;        ///< the largest such mean within the peak window
    double coverage = 0;    ///< the part of the trusted time of which there are readings; 0 to 1
    TimePoint measured_at;  ///< of the last reading
    /// Not empty: nothing of the above counts, and this says why, for people.
    std::string why_unknown;

    bool known() const noexcept { return why_unknown.empty(); }
};

/// Why a host with so many cores can't have been used so; empty: it can.
std::string why_impossible(const UsageRange& used, double cores);

/// The usage with `why_unknown` filled in where its numbers are impossible: not finite, negative,
/// more in use than there are cores, a peak below now.
HostUsage checked(HostUsage usage);

/// One reading.
struct UsagePoint {
    TimePoint at{};
    UsageRange used;
};

/// Over which times readings are put together.
struct UsageWindows {
    Duration smoothing{0};  ///< 0: each reading counts as it is
    Duration peak{0};       ///< 0: the peak is now
    Duration trusted{0};    ///< readings of this time are required before room rises; 0: none
    /// Between two readings. A longer hole is time of which nothing is known.
    Duration longest_gap{120'000};

    friend bool operator==(const UsageWindows&, const UsageWindows&) = default;
};

/// The readings of one host, as far as the windows reach back. One thread; what a reading
/// costs grows with the readings within the smoothing window alone.
class UsageHistory {
public:
    explicit UsageHistory(const UsageWindows& windows) : windows_{windows} {}

    /// Readings that are not later than the last one, or not finite, are left out: false.
    bool add(const UsagePoint& point);
    /// What is known at `now`; `why_unknown` if there are no readings within `longest_gap`.
    HostUsage at(const HostId& host, double cores, TimePoint now);

private:
    struct Mean {
        TimePoint at{};
        double value = 0;
    };
    struct Gap {
        TimePoint from{};
        TimePoint to{};
    };

    static void remember(std::deque<Mean>& falling, Mean mean);
    void forget_before(TimePoint now);
    double coverage(TimePoint now) const;

    UsageWindows windows_;
    std::optional<TimePoint> first_;  // reading of all
    std::deque<UsagePoint> recent_;   // within the smoothing window
    UsageRange now_;                  // their mean
    std::deque<Mean> least_, most_;   // within the peak window, falling: the first is the peak
    std::deque<Gap> gaps_;            // that are too long, within the trusted time
};

}  // namespace reaper
