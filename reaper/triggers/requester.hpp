// Completes a failure notice by asking Nova about the server that failed, and Glance about its
// image.
#pragma once

#include <optional>
#include <variant>

#include "reaper/ports/cloud_ports.hpp"
#include "reaper/request_spec/request_builder.hpp"

namespace reaper {

/// What Nova tells now about the server that failed and the action that it was; and its image, for
/// its traits and, if neither metadata nor flavor say which room the server admits, for that. One
/// that is gone or may not be seen says nothing; what can't be asked now is an error.
ResultTask<RequesterFacts> read_requester(CloudPorts cloud, FailureNotice notice);

/// Both, put together: the request, or why it is not to be served.
/// `schedule`: the search for hosts that failed, if it was seen.
ResultTask<std::variant<Request, Refused>> complete_request(CloudPorts cloud, FailureNotice notice,
                                                            std::optional<Schedule> schedule);

}  // namespace reaper
