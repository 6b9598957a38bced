// The planning of `reaper plan`: the daemon's way from requests to decisions, without the deed. The
// cloud is read in bulk once, and exactly where a decision rests on it, as the daemon does.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "reaper/cli/arguments/arguments.hpp"
#include "reaper/cli/cloud/offline.hpp"
#include "reaper/cloud/reader/cloud_reader.hpp"
#include "reaper/decision/policy.hpp"
#include "reaper/model/cloud.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/records.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/ports/identity.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/request_spec/request_builder.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/safeguards/safeguards.hpp"

namespace reaper::cli {

// What `reaper plan` plans for: requests out of captured notifications, put together as the daemon
// does it, or described on the command line.

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

/// What came of one request.
struct Answer {
    Request request;
    Decision decision;
    std::vector<std::string> remarks;
    /// What was said beside a flavor; none: there is no flavor.
    std::optional<Request> without_flavor{};
};

struct Answers {
    std::vector<Answer> planned;     ///< in order; none counts the room that one before it takes
    bool listed = false;             ///< they come from a file of requests
    std::vector<NoRequest> ignored;  ///< messages that make no request, or a refused one
    /// What described requests name and the cloud does not have; if there is any, nothing is
    /// planned.
    std::vector<std::string> unknown;
    std::vector<std::string> remarks;        ///< about all of them: what holds the daemon back
    std::optional<PauseNote> paused;         ///< the daemon; of a snapshot it is not known
    std::vector<std::string> cloud_remarks;  ///< about the cache
    TimePoint taken_at{};
};

/// All that the planning needs. References must live until the end.
struct PlanningInputs {
    CloudPorts cloud;
    const PlanCommand& command;
    std::shared_ptr<const CompiledPolicy> policy;
    Ledger ledger;
    Safeguards safeguards;                      ///< with what is known of the past
    std::function<void(std::string)> progress;  ///< what is being done; may be empty
    const config::Reservations& reservations;
    Journal& journal;  ///< that stores nothing
};

/// The command line over the configuration. A strategy of another name than the configured one has
/// its own parameters: the standard ones.
Result<config::Policy> effective_policy(config::Policy policy, const PlanCommand& command);

/// Plans for the requests of `inputs`, or for the one that the command describes.
ResultTask<Answers> plan_requests(PlanningInputs& planning, Inputs inputs);

/// The same on a snapshot, without a service to ask: a project must be named by its id.
Result<Answers> plan_offline(const OfflineCloud& cloud, const PlanCommand& command, Inputs inputs);

}  // namespace reaper::cli
