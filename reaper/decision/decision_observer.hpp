// Observes what decisions rest on, as they are made: for a recording.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "reaper/cloud/cache/cloud_cache.hpp"
#include "reaper/decision/policy.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/safeguards/safeguards.hpp"

namespace reaper {

/// All that one decision rests on, and what it is. Good for the time of the call.
struct DecisionSight {
    const CompiledPolicy& policy;
    const Request& request;  ///< as it was decided: with its role, and what may be lent to it
    const CloudCache& cache;
    const Ledger& ledger;
    const Safeguards& safeguards;
    const std::map<ServerId, std::string>& skipped;
    const Decision& decision;
    TimePoint now{};
};

/// Takes little time and never fails: a decision does not wait for it.
class DecisionObserver {
public:
    virtual ~DecisionObserver() = default;
    /// A decision is made, and nothing has changed since.
    virtual void on_decision(const DecisionSight& sight) = 0;
    /// To be called at intervals, so that there is little to look at when a decision comes.
    virtual void keep_up(const CloudCache& cache) = 0;
    /// The interval.
    virtual Duration step() const = 0;
    /// False: nothing is kept now.
    virtual bool keeps() const = 0;
    /// How often what came could not be kept, since the start.
    virtual std::uint64_t losses() const = 0;
};

}  // namespace reaper
