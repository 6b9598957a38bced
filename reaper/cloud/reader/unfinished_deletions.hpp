// Deletions that a reaper began and that are not finished.
//
// Where Nova defers deletions (reclaim_instance_interval), a deleted server is SOFT_DELETED and
// keeps its room until it is forced. A reaper forces what it deleted; one that dies, or loses the
// broker, in between leaves it to the next one. Nova's instance actions report whose deletion it
// was: what a user deleted, the user may want back.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reaper/ports/cloud_ports.hpp"

namespace reaper {

/// Was it this user who deleted the server, before any other client did? None: it is not deleted,
/// as far as these show. `actions`: all that Nova remembers, the newest first.
std::optional<bool> deleted_by(const std::string& user, const std::vector<ActionRecord>& actions);

/// The same of the user that the reapers are, asked now; none also if we may not ask.
ResultTask<std::optional<bool>> deleted_by_a_reaper(CloudPorts ports, ServerId server);

/// Was it restored since this user deleted it last?
bool restored_since_deleted_by(const std::string& user, const std::vector<ActionRecord>& actions);

/// The same of the user that the reapers are, asked now.
ResultTask<bool> restored_since_a_reaper_deleted_it(CloudPorts ports, ServerId server);

/// Remembers what Nova listed, so that only changes are asked for, and which user deleted what, so
/// that each is asked about once. The ports must outlive it.
class UnfinishedDeletions {
public:
    explicit UnfinishedDeletions(CloudPorts ports) : ports_(ports) {}

    /// All servers that Nova shows as soft-deleted, by any client. Unless they are to be
    /// read `from_scratch`, some of those that no reaper deleted may no longer be soft-deleted. A
    /// cloud that does not list them to us has none (with a warning, once).
    ResultTask<std::vector<ServerRecord>> list(bool from_scratch);
    /// What the clock says is not what it said before: all are listed next time.
    void on_clock_step() {
        listed_at_.reset();
        ++clock_steps_;
    }
    /// Asks about those that are not known yet, and forgets those that are not among them.
    ResultTask<void> learn(std::vector<ServerId> soft_deleted);
    /// Nova lists soft-deleted servers, by any client.
    bool lists_any() const noexcept { return !listed_.empty(); }
    /// A reaper deleted it, as far as that is known.
    bool known_as_ours(const ServerId& server) const;
    bool knows(const ServerId& server) const { return by_a_reaper_.contains(server); }

private:
    void warn(const Error& refusal);
    Task<void> look_at_ours(std::set<ServerId> but);
    Task<void> look_at(ServerId server);
    Task<void> ask(ServerId server, const std::string& user, std::optional<Error>& error);

    CloudPorts ports_;
    std::map<ServerId, ServerRecord> listed_;
    std::optional<TimePoint> listed_at_;  ///< when the last list was begun; none: never
    std::uint64_t clock_steps_ = 0;
    std::map<ServerId, bool> by_a_reaper_;
    bool warned_ = false;
};

}  // namespace reaper
