// Rule 1: the last look at a victim, on data read just before the deletion.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reaper/cloud_cache/assemble.hpp"
#include "reaper/cloud_reader/lock_holders.hpp"
#include "reaper/model/cloud.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/records.hpp"
#include "reaper/safeguards/protection.hpp"

namespace reaper {

/// What a fresh read means for the deletion of a victim.
struct FreshVerdict {
    enum class Kind {
        fit,           ///< as planned: delete it
        going,         ///< somebody deletes it already: nothing to send, its room is on the way
        soft_deleted,  ///< deleted, but it keeps its room until it is reclaimed
        vanished,      ///< gone, and it holds nothing
        unfit,         ///< must live; `reason` says why
    };
    Kind kind{};
    std::string reason;
};

/// Who may be a victim at all.
struct FreshRules {
    const Taggers& taggers;
    const TagData& tag_data;  ///< the answers to the taggers' questions
    const Protection& protection;
    Duration min_run_time{};
    const std::vector<AggregateRecord>& aggregates;  ///< if the protection goes by them
};

/// What was read of a victim.
struct FreshSight {
    const std::optional<ServerRecord>& record;  ///< none: Nova knows it no more
    const Allocations& allocations;             ///< what is to come free, by Placement
    const Allocations& own;                     ///< what the server itself holds
    LockHolder lock = LockHolder::unknown;      ///< of a locked one
};

/// Judges `victim` by what was read at `now`.
FreshVerdict judge_fresh(const Victim& victim, const FreshSight& sight, const FreshRules& rules,
                         TimePoint now);

}  // namespace reaper
