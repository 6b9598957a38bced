// What a decision leaves alone beyond what every decision does: servers that a safeguard keeps from
// being victims at that time (reaper/safeguards).
#pragma once

#include <optional>
#include <string>

#include "reaper/model/cloud.hpp"
#include "reaper/planner/host_row.hpp"

namespace reaper {

class VictimFilter {
public:
    virtual ~VictimFilter() = default;
    /// Why the server of the host must not be a victim now, in words that do not differ from server
    /// to server without need (they are counted); none if it may.
    virtual std::optional<std::string> why_kept(const Server& server, const Host& host) const = 0;
    /// The quick answer to the same.
    virtual bool keeps(const Server& server, const Host& host) const = 0;
    /// False if no candidate of the host is kept, as far as its row tells; true if one may be.
    virtual bool may_keep(const HostRow& row) const = 0;
};

}  // namespace reaper
