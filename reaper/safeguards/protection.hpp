// Protection: servers that are never victims because an operator says so: by server, project,
// flavor or aggregate. What owners do to their servers counts only where the operator says so. One
// rule for the planner and for the fresh read before a deletion.
//
// An administrator's lock always protects. It is not handled here: only Nova's record of its
// actions shows which user locked a server (reaper/cloud/reader/lock_holders.hpp).
//
// A protected project that is unknown (not looked up yet, or there is none of that name) protects
// all servers, as it is unknown which ones must be kept.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/safeguards/settings.hpp"

namespace reaper {

class Protection {
public:
    /// Protects no server.
    Protection() = default;
    explicit Protection(const ProtectSettings& settings);

    /// Whatever the time is, and wherever it is. The quick answer to what `why` explains.
    bool protects(const Server& server) const;
    /// All servers of a host in these aggregates.
    bool protects_host(const HostAggregates& of_host) const {
        return !aggregates_.empty() && aggregate_among(of_host) != nullptr;
    }
    /// What protects a server of a host in these aggregates; none if nothing does.
    std::optional<std::string> why(const Server& server, const HostAggregates& of_host) const;
    /// Has it to be known in which aggregates hosts are?
    bool by_aggregates() const { return !aggregates_.empty(); }
    /// Does a lock of its owner count?
    bool by_owners() const { return owners_; }
    bool empty() const { return *this == Protection{}; }

    friend bool operator==(const Protection&, const Protection&) = default;

private:
    const std::string* tag_of(const Server& server) const;
    const std::string* key_of(const Server& server) const;
    const std::string* aggregate_among(const HostAggregates& of_host) const;

    bool owners_ = false;
    std::vector<std::string> tags_;              ///< none, unless owners may protect
    std::vector<std::string> metadata_;          ///< as above
    std::map<ProjectId, std::string> projects_;  ///< as they were written
    std::set<std::string> flavors_;
    std::set<std::string> aggregates_;
    std::map<ServerId, std::string> servers_;  ///< each with the operator's reason
    std::string unknown_;  ///< the first project of which it is not known which one it is
};

/// Notes on the host's revocable servers what protects them, as text.
void note_protection(const Protection& protection, Host& host);

/// From when on its running time counts: its creation. Its launch is no measure: a resize or a
/// rebuild, which its owner may ask for at any time, begins that again.
TimePoint start_of(const Server& server);

/// Why the server runs too short to be a victim at `now`; none if it does not.
std::optional<std::string> why_too_young(const Server& server, Duration min_run_time,
                                         TimePoint now);

}  // namespace reaper
