// Culling candidates: where a server would fit if revocable ones made room. Aardvark's question, as
// its document puts it: for each class, `usage + requested - preemptible usage <= capacity`. Pure.
//
// A host answers it as the planner would. Only revocable servers that may be deleted count (not
// locked, not protected, each server's room once). Room that is promised to others is not
// available. The inventories' units must allow the amounts, and the host must be up and enabled. A
// host that has room already is a candidate too: its revocable servers can stay.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "reaper/model/cloud.hpp"
#include "reaper/model/request.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/planner/cloud_index.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/safeguards/protection.hpp"

namespace reaper {

/// One class on one provider, in Placement's units.
struct ClassUse {
    Amount used = 0;  ///< by all consumers, as Placement counts
    Amount capacity = 0;
    friend bool operator==(const ClassUse&, const ClassUse&) = default;
};

/// One host that could take a server of that shape.
struct CullingCandidate {
    HostId host;
    std::string host_name;
    bool has_room = false;  ///< at once: no deletion is needed
    /// The requested classes, on each provider of the host that could give them.
    std::map<ProviderId, std::map<ResourceClass, ClassUse>> providers;
    /// What revocable servers that may go hold, on each provider of the host: all classes.
    std::map<ProviderId, std::map<ServerId, Resources>> preemptible;
};

/// One question, asked of host after host. Neither copied nor moved: its parts refer to each other.
class CullingQuestion {
public:
    /// A server of the request: its resources, groups, traits and, of a flavor, which aggregates it
    /// demands or may enter; it is of no project in particular, and where it waits does not matter.
    /// Cloud and ledger need not outlive it.
    CullingQuestion(Request request, SchedulerRules rules, const CloudIndex& cloud,
                    const Ledger& ledger);
    CullingQuestion& operator=(CullingQuestion&&) = delete;
    ~CullingQuestion();

    /// None if such a server would not fit, even without all revocable ones. Amounts of 0 or less
    /// are not asked for; at least one must be.
    std::optional<CullingCandidate> candidate(const Host& host, const Ledger& ledger,
                                              const Protection& protection) const;
    const Request& request() const;

private:
    struct Way;
    SchedulerRules rules_;
    std::unique_ptr<const Way> first_, second_;  ///< second: what Nova asks for besides, or null
};

}  // namespace reaper
