// A request: what Nova could not place, and what it takes to place it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/correction.hpp"
#include "reaper/model/ids.hpp"
#include "reaper/model/placement_constraints.hpp"
#include "reaper/model/res_type.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/model/role.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// A request that is not to be served, and why.
struct Refused {
    std::string reason;
    std::string safeguard{};      ///< the one that refuses it, as one word; or empty
    bool no_room_at_all = false;  ///< it admits no kind of room: its server must not boot
    friend bool operator==(const Refused&, const Refused&) = default;
};

// Granular groups of a request, as Placement knows them (`resources1`, `required1`, ...): all of a
// group comes from one resource provider. What is in no group may come from several, each class
// from one.
//
// Source: Placement's GET /allocation_candidates; Nova fills groups in from a flavor's extra specs
// (`resources1:VGPU=1`, `trait1:CUSTOM_X=required`, `group_policy=isolate`).

struct RequestGroup {
    std::string suffix;  ///< what stands after `resources`: `1`, `_GPU`; never empty
    Resources resources;
    std::set<Trait> required_traits;  ///< the provider has them all
    std::set<Trait> forbidden_traits;
    /// The provider itself is in one aggregate (by UUID) of each set.
    std::vector<std::set<std::string>> aggregates;
    ProviderId in_tree;  ///< its tree has this provider; empty: any

    friend bool operator==(const RequestGroup&, const RequestGroup&) = default;
};

/// May several groups of one slot come from one provider?
enum class GroupPolicy { none, isolate };

std::string_view to_string(GroupPolicy policy);
/// The inverse; none for any other text.
std::optional<GroupPolicy> group_policy_from(std::string_view text);

/// Of all groups together.
Resources sum_of(const std::vector<RequestGroup>& groups);

/// For people: `1: VGPU=1 with CUSTOM_X without CUSTOM_Y`.
std::string to_string(const RequestGroup& group);

/// For people: the groups, and that they exclude each other where they do; empty if there are none.
std::string groups_text(const std::vector<RequestGroup>& groups,
                        const std::optional<GroupPolicy>& policy);

/// What the user asked Nova to do.
enum class Operation { build, resize, migrate, live_migrate, rebuild, evacuate, unshelve, manual };

std::string_view to_string(Operation operation);

/// The inverse of to_string; none for any other text.
std::optional<Operation> operation_from(std::string_view text);

/// Does it find another host for a server that there is? Nova keeps such a one in its cell.
bool is_move(Operation operation);

/// What reported the need.
enum class RequestSource {
    nova_failure,      ///< Nova's NoValidHost or MaxRetriesExceeded
    unshelve,          ///< an unshelving that found no host, which Nova does not report
    operator_,         ///< `reaper request`
    gateway,           ///< nova-scheduler, which waits for the answer
    reservation,       ///< one that takes back what it lent
    oversubscription,  ///< a host that is loaded too much, or sold more than it has
    watermark,         ///< more of the cloud is used than its high mark
    life_span,         ///< servers whose life spans are over
};

std::string_view to_string(RequestSource source);
std::optional<RequestSource> request_source_from(std::string_view text);
/// Does a requester wait for the room, so that the reaper watches who takes it? A reservation takes
/// its own by itself, and that of a correction belongs to no request.
bool is_awaited(RequestSource source);

/// What one slot takes.
struct SlotShape {
    Resources resources;  ///< those of its groups too
    std::set<Trait> required_traits;
    std::set<Trait> forbidden_traits;

    friend bool operator==(const SlotShape&, const SlotShape&) = default;
};

/// A person looked at a plan, and approved that these servers are deleted.
struct Approval {
    std::string by;  ///< who
    TimePoint planned_at{};
    std::set<ServerId> victims;

    friend bool operator==(const Approval&, const Approval&) = default;
};

/// Room for `slots` servers of one shape.
struct Request {
    RequestId id;  ///< key in the journal: one cull for each, ever
    Operation operation = Operation::build;
    ProjectId project;
    std::string project_name{};  ///< as Keystone called it then, for people; empty: not known
    Resources resources;         ///< of one slot, its groups included
    int slots = 1;
    std::vector<ServerId> requesters;  ///< the servers that wait, as far as known
    /// Their names in Nova at that time; without unknown names.
    std::map<ServerId, std::string> requester_names{};
    std::optional<std::string> availability_zone;  ///< any, if absent
    /// The providers of what is in no group have these together, and none of them has any of those.
    std::set<Trait> required_traits;
    std::set<Trait> forbidden_traits;
    std::vector<RequestGroup> groups;         ///< what has to come from one provider each
    std::optional<GroupPolicy> group_policy;  ///< of two groups and more
    std::set<Trait> root_required_traits{};   ///< of the host's root provider
    /// What Nova asks for besides, in a second query: dedicated CPUs as VCPU. Its groups are the
    /// same.
    std::optional<SlotShape> fallback{};
    /// Service hosts that can't take it, each with the reason (a resize leaves its own host, ...).
    std::map<std::string, std::string> excluded_hosts;
    /// The service host where its server is, or was last; empty: a new server, or unknown.
    std::string from_host;
    /// The consumers in Placement that may hold what its server has while it moves; empty: not
    /// known. It is not journalled.
    std::set<ServerId> migrations{};
    PlacementConstraints placement;
    std::string flavor{};                                   ///< its name; empty if not known
    std::map<std::string, std::string> flavor_extra_specs;  ///< empty if not known
    std::string image;  ///< its id; empty: a volume, or not known
    RequestSource source = RequestSource::nova_failure;
    TimePoint sent_at{};   ///< when its source said so
    TimePoint deadline{};  ///< what is not begun by then never is; `TimePoint{}`: no deadline
    Phases phases{};       ///< the kinds of room that it admits (res_type.hpp)
    /// Where that was said, with what was written, for people; empty: nowhere.
    std::string phases_because{};
    bool runs_revocable = false;  ///< so says the metadata of its server, which ran before
    /// Traits of res-type that it requires, and that the gateway takes out of what Placement is
    /// asked (reaper/request_spec/res_type_query.hpp).
    std::set<Trait> res_type_traits{};
    // What is reserved, and for which role, is determined for each decision; it is not journalled.
    /// Of its project: what is reserved for it and for roles above is open to it. Empty: of none.
    Role role{};
    /// Of a revocable requester: the search is for room that reservations lend, and no server is
    /// deleted.
    bool borrows = false;
    /// Reservations that lend room to it.
    std::set<ReservationId> lent_by{};
    /// These alone may be deleted for it; empty: those that the strategy chooses.
    std::set<ServerId> victims_among{};
    /// A plan is carried out only if its victims are exactly these
    /// (reaper/requests/approved_plan.hpp).
    std::optional<Approval> approved{};
    /// These servers are to go, and no room is asked for: it has no slots.
    std::optional<Correction> correction{};

    friend bool operator==(const Request&, const Request&) = default;
};

/// Of one slot, what is in no group: each class from one provider of the host, whichever.
Resources ungrouped_resources(const Request& request);
/// Of all groups, and of what is in none.
std::set<Trait> all_required_traits(const Request& request);
/// The request as its fallback; it has one.
Request by_fallback(Request request);
/// Does any provider have to have, or to lack, a trait?
bool asks_for_traits(const Request& request);
/// Do nova-scheduler's filters refuse a full host before the claim: because of pinned CPUs or
/// memory, NUMA, PCI devices? Nova-compute gives those back last.
bool needs_room_first(const Request& request);

/// Why it is too late to begin with it; none if it is not.
std::optional<std::string> why_expired(const Request& request, TimePoint now);

/// The requester as text: `web-1 (5e2d...)`; the id alone where the name is not known.
std::string requester_text(const Request& request, const ServerId& requester);

/// For people: `2 x VCPU=4 MEMORY_MB=2048 for project p (build, req-...)`.
std::string to_string(const Request& request);

}  // namespace reaper
