// Rule 3: no victim of a plan could be left out.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "strategies/strategy.hpp"

namespace reaper {

/// What is taken on one host.
struct OnHost {
    std::vector<std::size_t> victims;  ///< candidates
    Amount slots = 0;                  ///< that count for the request
};

/// By index into the problem's hosts: those that give slots.
using Chosen = std::map<std::size_t, OnHost>;

/// Drops every victim without which the hosts still give as many slots (at most `wanted` count),
/// and sets the slots that count on each host. Returns their sum, at most `wanted`. One pass is
/// enough: a victim that was needed stays needed when others are dropped. But a victim that holds
/// room on two of the hosts (its resize is not confirmed) counts on both, in a second one.
Amount drop_needless(const Problem& problem, Chosen& chosen, Amount wanted);

}  // namespace reaper
