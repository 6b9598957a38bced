// From a failure notice, and what Nova tells about the server when asked, to a request.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>

#include "reaper/model/failure_notice.hpp"
#include "reaper/model/request.hpp"
#include "reaper/model/schedule.hpp"

namespace reaper {

/// What the notification loses and the server itself still tells.
struct RequesterFacts {
    bool exists = true;     ///< false: Nova knows the server no more
    bool deleting = false;  ///< task state `deleting`, or status DELETED or SOFT_DELETED
    bool boot_from_volume = false;
    ProjectId project;             ///< whose it is; a live migration's notice does not tell
    std::string host;              ///< where it is now; empty while it has none
    std::optional<Flavor> flavor;  ///< its present one
    /// Its metadata and its image's properties (empty if there is no image, or it can't be read),
    /// where a res-type constraint may stand.
    std::map<std::string, std::string> metadata{};
    std::map<std::string, std::string> image_properties{};
    /// Nova's name of the action of this request id: create, resize, migrate, live-migration,
    /// evacuate, rebuild, unshelve; empty if unknown.
    std::string action;
    ServerGroup group;                 ///< that it is in; none if its policy is empty
    std::optional<Schedule> schedule;  ///< the search for hosts that failed, if it was seen
    /// What the user asked for when the server was made, where Nova tells it.
    std::optional<std::string> zone{};
    std::set<ServerId> same_host{};
    std::set<ServerId> different_host{};
};

/// What Placement is asked for one server of a flavor: VCPU, MEMORY_MB, DISK_GB (root unless from
/// volume, ephemeral, swap rounded up to GiB), then `resources[N]:CLASS=n` of the extra specs,
/// which override (0 removes); `hw:cpu_policy=dedicated` turns VCPU into PCPU. Groups are summed.
/// A malformed override is refused. Source: nova's ResourceRequest.
std::variant<Resources, Refused> resources_of(const Flavor& flavor, bool boot_from_volume);

/// The key of the request that a notice belongs to. All messages of one multi-create share it;
/// exhausted retries (`MaxRetriesExceeded`) come one for each server and have one each.
RequestId request_key(const FailureNotice& notice);

/// Builds the request. Refused: the requester is gone, no room can help (a rebuild stays on its
/// host), its res-type constraint can't be understood.
std::variant<Request, Refused> build_request(const FailureNotice& notice,
                                             const RequesterFacts& facts);

}  // namespace reaper
