// What a body says of a plan that a person approved: `approved: {by, planned_at, victims[]}`; one
// that is still to be looked at has no victims.
#pragma once

#include <optional>
#include <string>

#include "reaper/model/error.hpp"
#include "reaper/model/request.hpp"

namespace reaper::api {

struct ApprovedBody {
    std::string body;  ///< without it
    std::optional<Approval> approved;
};

/// A body that is no JSON object has no approval. What is wrong with one is `bad_input`.
Result<ApprovedBody> take_approval(const std::string& body);

}  // namespace reaper::api
