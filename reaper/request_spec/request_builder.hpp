// From a failure notice, and what Nova reports about the server when asked, to a request.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "reaper/model/failure_notice.hpp"
#include "reaper/model/placement_constraints.hpp"
#include "reaper/model/records.hpp"
#include "reaper/model/request.hpp"
#include "reaper/model/schedule.hpp"
#include "reaper/request_spec/resource_request.hpp"
#include "reaper/request_spec/wishes.hpp"

namespace reaper {

// What nova-scheduler's request filters add to the query for Placement, aggregates aside: traits
// of the host itself.
//
// Source: nova.scheduler.request_filter of Zed to 2026.2.

/// Traits that the host's root provider must have. `bad_input`: Nova would refuse the flavor with
/// this image.
///
/// Not known from outside: what ports ask of their networks (routed networks, SmartNICs, bandwidth)
/// and the resources of device profiles, which come from Neutron and Cyborg.
Result<std::set<Trait>> root_traits(const ServerSpec& spec, const SchedulerRules& rules);

/// What the notification loses and the server itself still shows.
struct RequesterFacts {
    bool exists = true;     ///< false: Nova knows the server no more
    bool deleting = false;  ///< task state `deleting`, or status DELETED or SOFT_DELETED
    bool boot_from_volume = false;
    /// What Nova calls it, and its siblings.
    std::map<ServerId, std::string> names{};
    ProjectId project;      ///< whose it is; a live migration's notice does not say
    std::string host;       ///< where it is now; empty while it has none
    std::string last_host;  ///< of one that has none: where it was, as far as that is known
    std::set<ServerId> migrations{};  ///< the consumers of its moves; empty: not known
    std::optional<Flavor> flavor;     ///< its present one
    std::map<std::string, std::string> metadata{};  ///< where a res-type constraint may stand
    /// Its image as it is now, and as Nova took it over when the server was made; each empty if it
    /// can't be determined (there is none, no right to see it, an older Nova).
    ImageProperties image_properties{};
    ImageProperties kept_image{};
    bool image_is_read = false;  ///< `image_properties` are there, or can't be determined
    /// Nova's, as its API indicates.
    NovaRelease release = NovaRelease::zed;
    /// What Nova recorded of this request id: create, resize, migrate, live-migration, evacuate,
    /// rebuild, unshelve; none if it knows of no such action.
    std::optional<ActionRecord> action{};
    std::string status{};          ///< ERROR, ACTIVE, ...
    std::optional<Fault> fault{};  ///< of one in ERROR
    /// All that were asked for in the same request to boot and still have no host; none if the
    /// caller did not look for them.
    std::optional<std::vector<ServerId>> siblings{};
    /// The flavor that a resize asks for, as Nova knows it; none if it was not asked, or has none.
    std::optional<Flavor> new_flavor{};
    // What more can be asked about.
    std::string image{};  ///< empty: it boots from a volume
    std::vector<std::string> group_ids{};
    std::string reservation{};
    /// The zone that was asked for, of a server that never had a host; empty: any.
    std::string shown_zone{};
    ServerGroup group;                 ///< that it is in; none if its policy is empty
    std::optional<Schedule> schedule;  ///< the search for hosts that failed, if it was seen
    /// What the user asked for when the server was made, where Nova reports it.
    std::optional<std::string> zone{};
    std::set<ServerId> same_host{};
    std::set<ServerId> different_host{};
};

/// What a server of a flavor takes in Placement, whatever its image asks for besides: the resources
/// of resource_request.hpp. Groups are summed.
std::variant<Resources, Refused> resources_of(const Flavor& flavor, bool boot_from_volume);

/// Nova had found hosts, and all of them failed (MaxRetriesExceeded).
bool retries_exhausted(const FailureNotice& notice);

/// The key of the request that a notice belongs to. All messages of one multi-create share it;
/// exhausted retries of a boot (`MaxRetriesExceeded`) come one for each server and have one each.
RequestId request_key(const FailureNotice& notice);

/// Builds the request. What `facts` show counts, and what only the notice shows is believed:
/// whether it may be is another question (believed.hpp). Refused: the requester is gone, no room
/// can help (a rebuild stays on its host, Nova or Placement would refuse whatever there is), its
/// res-type constraint can't be understood. `rules`: how nova-scheduler is set up.
std::variant<Request, Refused> build_request(const FailureNotice& notice,
                                             const RequesterFacts& facts,
                                             const SchedulerRules& rules = {});

/// The same request for servers of the flavor, booted from an image that asks for nothing: what the
/// flavor says comes on top of its traits, and in place of its resources and groups.
std::variant<Request, Refused> of_flavor(Request request, const Flavor& flavor, NovaRelease release,
                                         const SchedulerRules& rules);

}  // namespace reaper
