// What `reaper plan` plans for: requests out of captured notifications, put together as the daemon
// does it, or described on the command line.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "reaper/cli/arguments/arguments.hpp"
#include "reaper/model/cloud.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/ports/identity.hpp"
#include "reaper/request_spec/request_builder.hpp"

namespace reaper::cli {

/// The bytes of a file; `-` is stdin. `bad_input` with the reason; more than `max_mib` are refused.
Result<std::string> read_input(const std::string& path, std::size_t max_mib = 16);

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
    std::vector<DescribedRequest> described;
};

/// Sorts messages (source and body) into requests. `bad_input` for one that can't be understood.
Result<Inputs> sort_messages(const std::vector<std::pair<std::string, std::string>>& messages);

/// A request, or why there is none, with remarks for people.
struct PlannedInput {
    std::variant<Request, Refused> request;
    std::vector<std::string> remarks;
};

/// Asks Nova about the requester, as the daemon does. If Nova knows it no more, the message alone
/// makes the request, and a remark says so. `rules`: how nova-scheduler is set up.
ResultTask<PlannedInput> complete_group(CloudPorts cloud, NoticeGroup group,
                                        SchedulerRules rules = {});

/// The same from the message and a snapshot alone; of an unknown release, as if it were the oldest.
PlannedInput complete_group_offline(const Snapshot& snapshot, NoticeGroup group,
                                    const SchedulerRules& rules);

/// Its own id, or one that is made; `number` makes it unique.
RequestId id_of(const DescribedRequest& described, TimePoint now, std::size_t number = 0);
/// A name that leads nowhere in this cloud.
struct UnknownName {
    std::string why;  ///< one line
};
/// The request that is described, with its project looked up.
ResultTask<std::variant<Request, UnknownName>> described_request(Identity& identity,
                                                                 DescribedRequest described,
                                                                 TimePoint now,
                                                                 std::size_t number = 0);

}  // namespace reaper::cli
