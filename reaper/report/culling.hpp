// Culling candidates for programs and people.
//
// The JSON has the shape of Aardvark's document, with the names of the hosts added:
//
//  {version, resources{class: n}, taken_at,
//   provider_summaries{provider: {host, has_room, resources{class: {used, capacity}}}},
//   preemptible_allocations{provider: {consumer: {class: n}}}}
//
// `provider_summaries` has the requested classes, `preemptible_allocations` all that these
// consumers hold. A host with nested providers appears once for each of them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "reaper/model/error.hpp"
#include "reaper/model/time.hpp"
#include "reaper/planner/culling.hpp"
#include "reaper/report/table.hpp"

namespace reaper::report {

/// The JSON, put together host by host: a large cloud makes many megabytes, and a caller that
/// serves it beside other work can pause after each host.
class CullingJson {
public:
    void add(const CullingCandidate& candidate);
    /// One line. Leaves nothing behind.
    std::string finish(const Resources& resources, TimePoint taken_at);

private:
    std::string summaries_;
    std::string allocations_;
};

/// The inverse: host by host, sorted by name. The id of a host with several providers is not given,
/// and left empty. `bad_answer` with the place for anything of another shape.
Result<std::vector<CullingCandidate>> candidates_from_json(const nlohmann::json& json);

/// The hosts, with the requested classes beside each other; the verdict is the summary. `hosts`:
/// of how many, if it is known.
Table candidates_table(const std::vector<CullingCandidate>& candidates, const Resources& resources,
                       std::optional<std::size_t> hosts);

}  // namespace reaper::report
