// Culling candidates for programs and people.
//
// The JSON has the shape of Aardvark's document, with the names of the hosts added:
//
//  {version, resources{class: n}, taken_at,
//   provider_summaries{provider: {host, has_room, resources{class: {used, capacity}}}},
//   preemptible_allocations{provider: {consumer: {class: n}}}}
//
// `provider_summaries` tells the requested classes, `preemptible_allocations` all that these
// consumers hold. A host with nested providers appears once for each of them.
#pragma once

#include <string>
#include <vector>

#include "reaper/model/time.hpp"
#include "reaper/planner/culling.hpp"
#include "reaper/report/table.hpp"

namespace reaper::report {

/// The JSON, put together host by host: a large cloud makes many megabytes, and whoever serves it
/// beside other work can pause after each host.
class CullingJson {
public:
    void add(const CullingCandidate& candidate);
    /// One line. Leaves nothing behind.
    std::string finish(const Resources& resources, TimePoint taken_at);

private:
    std::string summaries_;
    std::string allocations_;
};

/// The hosts, with the requested classes beside each other; the verdict is the summary.
Table candidates_table(const std::vector<CullingCandidate>& candidates, const Resources& resources,
                       std::size_t hosts);

}  // namespace reaper::report
