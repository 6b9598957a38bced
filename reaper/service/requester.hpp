// Completes a failure notice by asking Nova about the server that failed.
#pragma once

#include <optional>
#include <variant>

#include "reaper/ports/compute.hpp"
#include "reaper/trigger/request_builder.hpp"

namespace reaper {

/// What Nova tells now about the server that failed and the action that it was.
ResultTask<RequesterFacts> read_requester(Compute& compute, FailureNotice notice);

/// Both, put together: the request, or why it is not to be served.
/// `schedule`: the search for hosts that failed, if it was seen.
ResultTask<std::variant<Request, Refused>> complete_request(Compute& compute, FailureNotice notice,
                                                            std::optional<Schedule> schedule);

}  // namespace reaper
