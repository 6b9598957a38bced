// A plan in a file, for a person to look at and approve (`reaper plan --save`, `reaper apply`):
//
//  {format: "reaper-plan", version: 1, planned_at, planned_by, request{...}, decision{...}}
//
// `request` is in the words of POST /v1/requests, with the project's id and an id of its own, so
// that one file is one request however often it is applied; `decision` as in records.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "reaper/model/error.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/request_spec/described_request.hpp"

namespace reaper::cli {

struct SavedPlan {
    TimePoint planned_at{};
    std::string planned_by;
    nlohmann::json request;  ///< what the daemon is asked
    Plan plan;
};

/// As the command was given; the request as it was planned. `storage` if it can't be written.
Result<void> save_plan(const std::string& path, const DescribedRequest& described,
                       const Request& request, const Plan& plan, const std::string& planned_by);

/// `-` is stdin. `bad_input` in one line if it is no such file, or it deletes no server.
Result<SavedPlan> read_saved_plan(const std::string& path);

}  // namespace reaper::cli
