// Hosts that a request may go to, whatever is free on them: by state, zone, aggregates, traits,
// cooldown and all else that HostFilter asks before room. One too many may be among them (a
// provider with a forbidden trait beside others), but none is missing.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "reaper/model/cloud.hpp"
#include "reaper/model/request.hpp"
#include "reaper/planner/cloud_index.hpp"
#include "reaper/planner/constraint_checker.hpp"
#include "reaper/rooms/ledger.hpp"

namespace reaper {

// Which servers may be victims, as far as the server itself shows: one rule for the planner and for
// the fresh read before a deletion.

/// Its deletion has begun (task state `deleting`, `soft-deleting`, or status DELETED), whatever
/// client asked for it.
bool is_being_deleted(const Server& server);

/// Whether it can be a victim: the quick answer to what `why_no_victim` explains.
bool may_be_victim(const Server& server);

/// Why the server can't be a victim: in a state in which it stays (reaper/model/server_state.hpp),
/// without a host or without room in Placement. None if it may. Says nothing about whether it is
/// revocable, locked or protected.
std::optional<std::string> why_no_victim(const Server& server);

class SuitableHosts {
public:
    /// `rules` may be null; hosts `in_cooldown` are left out. Cloud, ledger and rules must outlive
    /// this, and stay as they are.
    SuitableHosts(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
                  const SchedulerRules* rules, std::map<HostId, std::string> in_cooldown = {});
    ~SuitableHosts();
    SuitableHosts& operator=(SuitableHosts&&) = delete;

    bool contains(const HostId& host) const;

private:
    struct Way;  // the request as it is, or by its fallback

    const CloudIndex& cloud_;
    const std::map<HostId, std::string> in_cooldown_;
    std::unique_ptr<Way> first_;
    std::unique_ptr<Way> second_;  ///< null: it has no fallback
};

}  // namespace reaper
