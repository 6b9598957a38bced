// The judgement on corrections for one host's load: whether the reported load justifies it,
// and whether those that were chosen are the right ones. Its own arithmetic.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reaper/oversubscription/correction.hpp"

namespace reaper::faults {

/// What the operator configured.
struct LoadRules {
    std::optional<double> load5{}, load15{};  ///< the QoS controller `load`
    bool per_core = false;
    std::optional<double> steal{}, pressure{};  ///< `pressure`
    int in_a_row = 1;
    bool all = false;
    Duration settle{};
};

/// The reported figures of a host. A missing or invalid figure is none.
struct ToldLoad {
    TimePoint at{};
    std::optional<double> load5{}, load15{}, cores{}, steal{}, pressure{};
};

/// Follows the looks of one process at one host.
class LoadJudge {
public:
    explicit LoadJudge(LoadRules rules) : rules_(rules) {}

    /// A look at the last reported figures; none: they were not known. Returns what is wrong with
    /// the correction, or an empty text.
    std::string look(const std::optional<ToldLoad>& told, TimePoint now,
                     const std::optional<HostCorrection>& correction);
    /// The servers that went for it hold so much.
    void corrected(Amount vcpus, TimePoint at) { sheds_.emplace_back(at, vcpus), row_ = 0; }
    void restart();

    /// By how many vCPUs the load is above what it may be; below 0: it is not.
    double over(const ToldLoad& told, TimePoint now) const;

private:
    bool settles(TimePoint now) const;
    double left_of_sheds(TimePoint now, double minutes) const;

    LoadRules rules_;
    std::vector<std::pair<TimePoint, Amount>> sheds_;
    std::optional<TimePoint> looked_at_;  ///< the last measurement
    int row_ = 0;                         ///< measurements above the threshold
};

/// What is wrong with the choice of servers; empty: nothing is.
std::string judge_choice(const std::vector<CorrectionCandidate>& candidates,
                         const HostCorrection& correction, const std::vector<ServerId>& chosen);

}  // namespace reaper::faults
