// Why hosts were not used: the best few in full, all of them counted by reason. In a small cloud
// every host is listed in full.
#pragma once

#include <functional>
#include <vector>

#include "reaper/model/plan.hpp"
#include "reaper/planner/host_filter.hpp"
#include "reaper/planner/minimal.hpp"

namespace reaper {

class Rejections {
public:
    /// Clouds of at most so many hosts are listed in full.
    static constexpr std::size_t small_cloud = 20;

    /// Those that the screen refused. The arguments must outlive this.
    Rejections(const HostFilter& host_filter, const FilterInput& input);

    /// Those that could give slots and were not chosen.
    void add_losers(const Selection& selection, const Chosen& chosen);
    /// Those that give slots, but all together too few.
    void add_too_few(Amount requested);
    /// Those that give slots, but not within the limits.
    void add_over_limit();

    /// First those that are ranked lower, the nearest first; then the others by name.
    std::vector<Rejection> told;
    std::vector<RejectionCount> counts;  ///< by code

private:
    void count(RejectionCode code, std::size_t hosts, const std::string& sample);
    void add_all(RejectionCode code, const std::function<Rejection(const HostOption&)>& reject);
    void sort_listed();

    const HostFilter& host_filter_;
    bool small_;
};

}  // namespace reaper
