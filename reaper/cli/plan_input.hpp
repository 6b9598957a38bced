// What `reaper plan` plans for: requests out of captured notifications, put together as the daemon
// does it, or described on the command line.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "reaper/cli/arguments.hpp"
#include "reaper/ports/compute.hpp"
#include "reaper/ports/identity.hpp"
#include "reaper/trigger/request_builder.hpp"

namespace reaper::cli {

/// The bytes of a file; `-` is stdin. `bad_input` with the reason; more than 16 MiB are refused.
Result<std::string> read_input(const std::string& path);

/// The messages of one request, and from which file each came.
struct NoticeGroup {
    RequestId key;
    std::vector<FailureNotice> notices;  ///< at least one, no message twice
};

/// A message that makes no request.
struct NoRequest {
    std::string source;
    std::string reason;
};

struct Inputs {
    std::vector<NoticeGroup> groups;  ///< in order of their first message
    std::vector<NoRequest> ignored;   ///< another event, another cause, a duplicate
};

/// Sorts messages (source and body) into requests. `bad_input` for one that can't be understood.
Result<Inputs> sort_messages(const std::vector<std::pair<std::string, std::string>>& messages);

/// A request, or why there is none, with remarks for people.
struct PlannedInput {
    std::variant<Request, Refused> request;
    std::vector<std::string> remarks;
};

/// Asks Nova about the requester, as the daemon does. If Nova knows it no more, the message alone
/// makes the request, and a remark says so.
ResultTask<PlannedInput> complete_group(Compute& compute, NoticeGroup group);

/// The request of `--resources` and its companions; `not_found` if there is no such project.
ResultTask<Request> described_request(Identity& identity, PlanCommand command, TimePoint now);

}  // namespace reaper::cli
