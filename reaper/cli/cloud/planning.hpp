// The planning of `reaper plan`: the daemon's way from requests to decisions, without the deed. The
// cloud is read in bulk once, and exactly where a decision rests on it, as the daemon does.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clients/pause/pause_file.hpp"
#include "reaper/cli/cloud/offline.hpp"
#include "reaper/cli/cloud/plan_input.hpp"
#include "reaper/cloud_reader/cloud_reader.hpp"
#include "reaper/decision/policy.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/safeguards/safeguards.hpp"

namespace reaper::cli {

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
    Journal& journal;  ///< of nobody: what is told goes with the command
};

/// The command line over the configuration. A strategy of another name than the configured one has
/// its own parameters: the standard ones.
Result<config::Policy> effective_policy(config::Policy policy, const PlanCommand& command);

/// Plans for the requests of `inputs`, or for the one that the command describes.
ResultTask<Answers> plan_requests(PlanningInputs& planning, Inputs inputs);

/// The same on a snapshot, with nobody to ask: a project must be named by its id.
Result<Answers> plan_offline(const OfflineCloud& cloud, const PlanCommand& command, Inputs inputs);

}  // namespace reaper::cli
