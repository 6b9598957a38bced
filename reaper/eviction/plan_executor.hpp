// The effect port of a cull: one implementation deletes, another only reports (a dry run).
#pragma once

#include <map>
#include <string>

#include "reaper/model/plan.hpp"
#include "reaper/model/request.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

/// How far a victim already was when a former process of ours ended.
enum class Progress {
    sent,      ///< its deletion was journalled; whether Nova heard it is not known
    gone,      ///< after that: its room is credited
    vanished,  ///< gone without us: its room is credited too
};

/// What carrying out a plan came to.
struct Execution {
    enum class End {
        freed,             ///< every victim, and every pending server, is gone from Placement
        replan,            ///< some victims must live (`skipped`): the rest of the plan was stopped
        no_longer_needed,  ///< nobody waits for all of it any more: the rest of the plan was
                           ///< stopped
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
    /// `known`: what the journal tells of victims of this plan; empty for a new one.
    virtual Task<Execution> carry_out(Request request, Plan plan,
                                      std::map<ServerId, Progress> known) = 0;
};

/// Sends nothing to anybody.
class DryRunExecutor final : public PlanExecutor {
public:
    Task<Execution> carry_out(Request request, Plan plan,
                              std::map<ServerId, Progress> known) override;
};

}  // namespace reaper
