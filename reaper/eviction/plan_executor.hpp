// The effect port of a cull: one implementation deletes, another only reports (a dry run).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "reaper/decision/policy.hpp"
#include "reaper/model/cloud.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/request.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

// What a cull must ask before it deletes: may we still, and is the room still needed?

/// Of one request. Outlives the executor that asks it.
class EvictionGuard {
public:
    virtual ~EvictionGuard() = default;
    /// Asked right before each write goes out: why it must not (the reaper is paused, another
    /// reaper may serve the request by now); none if it may. Cheap; reads no cloud.
    virtual std::optional<std::string> blocked_reason() const = 0;
    /// Asked before the first deletion of a plan: why it is not needed in full (the requester is
    /// gone, or now runs elsewhere); none if a requester waits for each of its slots. An error if
    /// that is not known.
    virtual ResultTask<std::optional<std::string>> still_needed() = 0;
    /// Asked at intervals once deletions went out: why some slots have no requester that waits, as
    /// far as servers are gone or run elsewhere.
    virtual ResultTask<std::optional<std::string>> who_left() = 0;
    /// The reaper ends: what can wait is left to the next one.
    virtual bool stopping() const = 0;
};

/// How far a victim already was when a previous process of ours ended.
enum class Progress {
    sent,      ///< its deletion was journalled; whether Nova heard it is not known
    accepted,  ///< Nova answered that it deletes it
    gone,      ///< after that: its room is credited
    vanished,  ///< gone without us: its room is credited too
};

/// What carrying out a plan came to.
struct Execution {
    enum class End {
        freed,             ///< every victim, and every pending server, is gone from Placement
        replan,            ///< some victims must live (`skipped`): the rest of the plan was stopped
        no_longer_needed,  ///< no requester waits for all of it: the rest of the plan was stopped
        blocked,           ///< its eviction guard forbade it: the rest of the plan was stopped
        failed,            ///< an outside failure: the rest of the plan was stopped
        incomplete,        ///< some victims were deleted, but the room did not come
        reported,          ///< a dry run
    };
    End end{};
    std::string reason;
    std::map<ServerId, std::string> skipped;  ///< victims found unfit, each with the reason
    int deleted = 0;  ///< victims whose deletion went out, now or (as `known`) before
};

class PlanExecutor {
public:
    virtual ~PlanExecutor() = default;
    /// `known`: what the journal has of victims of this plan; empty for a new one. `policy`: that
    /// it was made under.
    virtual Task<Execution> carry_out(Request request, Plan plan,
                                      std::map<ServerId, Progress> known,
                                      std::shared_ptr<const CompiledPolicy> policy) = 0;
};

}  // namespace reaper
