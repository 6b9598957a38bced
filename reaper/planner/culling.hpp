// Culling candidates: where a server would fit if revocable ones made room. Aardvark's question, as
// its document puts it: for each class, `usage + requested - preemptible usage <= capacity`. Pure.
//
// A host answers it as the planner would: only revocable servers that may go count (not locked, not
// protected, nobody's room twice), room that is promised to others is not there, the inventories'
// units must allow the amounts, and the host must be up and enabled. A host with room for it as it
// is, is a candidate too: its revocable servers need not go.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "reaper/model/cloud.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/safeguards/protection.hpp"

namespace reaper {

/// One class on one provider, in Placement's units.
struct ClassUse {
    Amount used = 0;  ///< by everybody, as Placement counts
    Amount capacity = 0;
    friend bool operator==(const ClassUse&, const ClassUse&) = default;
};

/// One host that could take a server of that shape.
struct CullingCandidate {
    HostId host;
    std::string host_name;
    bool has_room = false;  ///< at once: nobody must go
    /// The requested classes, on each provider of the host that could give them.
    std::map<ProviderId, std::map<ResourceClass, ClassUse>> providers;
    /// What revocable servers that may go hold, on each provider of the host: all classes.
    std::map<ProviderId, std::map<ServerId, Resources>> preemptible;
};

/// None if a server that takes `resources` would not fit, even without all of them. Amounts of 0 or
/// less are not asked for; at least one must be.
std::optional<CullingCandidate> culling_candidate(const Host& host, const Resources& resources,
                                                  const Ledger& ledger,
                                                  const Protection& protection);

}  // namespace reaper
