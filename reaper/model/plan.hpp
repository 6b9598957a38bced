// Decisions: a plan with its victims and reasons, or why there is none.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "reaper/model/ids.hpp"
#include "reaper/model/request.hpp"
#include "reaper/model/res_type.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// A revocable server chosen to be deleted, with why.
struct Victim {
    ServerId server;
    std::string name;
    ProjectId project;
    std::string host;     ///< service host on which the plan saw it
    Resources resources;  ///< that come free with it
    TimePoint created{};
    std::string reason;  ///< why it is revocable and why it is needed
    /// What names its workload in its metadata (`thrash.workload_key`); empty: its name does.
    std::string workload{};
    std::string flavor{};        ///< its name
    std::string project_name{};  ///< as Keystone called it then; empty: not known
    /// Of a server that is elsewhere: the consumer that holds what its resize left on `host`.
    ServerId held_by{};
    std::optional<TimePoint> launched{};  ///< by Nova: again when it came back from a shelf

    /// The holder of `resources` in Placement.
    const ServerId& holder() const { return held_by.empty() ? server : held_by; }
    friend bool operator==(const Victim&, const Victim&) = default;
};

/// A server being deleted already, by another's wish or another request's cull, whose room a plan
/// counts: the plan's slots are there only when it is gone too.
struct PendingRelease {
    ServerId server;
    std::string name;    ///< empty where Nova lists it no more
    std::string reason;  ///< which client deletes it, as far as it is known
    /// Not in progress: a reaper deleted it softly. To count its room, force the deletion.
    bool unfinished = false;
    ProjectId project{};  ///< these two of an unfinished one
    std::string host{};   ///< service host

    friend bool operator==(const PendingRelease&, const PendingRelease&) = default;
};

/// A revocable server on the host of a plan that stays, with why.
struct SparedServer {
    ServerId server;
    std::string name;
    ProjectId project;
    Resources resources;  ///< that it holds on the host
    TimePoint created{};
    std::string reason;
    bool might_have_gone = false;  ///< the strategy could choose it, and chose others
    std::string project_name{};    ///< as of a victim

    friend bool operator==(const SparedServer&, const SparedServer&) = default;
};

/// What happens on one host.
struct HostPlan {
    HostId host;
    std::string host_name;
    int slots = 0;        ///< slots on this host that the plan counts, `slots_ready` included
    int slots_ready = 0;  ///< of these, the ones that need no deletion
    std::vector<Victim> victims;
    std::vector<PendingRelease>
        pending_releases;   ///< by id; none whose room the slots can do without
    Resources free_before;  ///< room for the request's classes, promised room taken off
    Resources free_after;
    std::string reason;  ///< why this host
    /// What one slot takes, where that is not the request's own resources but its fallback's.
    Resources slot{};
    /// Of a host with victims: the first of the revocable servers that stay, those that might have
    /// gone before the others (reaper/planner/spared_servers.hpp).
    std::vector<SparedServer> spared{};
    std::optional<int> spared_in_all{};  ///< none: not examined

    friend bool operator==(const HostPlan&, const HostPlan&) = default;
};

/// Why a host was not used.
enum class RejectionCode {
    down,
    disabled,
    wrong_availability_zone,
    missing_trait,
    forbidden_trait,
    isolated,              ///< its aggregates keep the project or the request out
    unwatched,             ///< in none of the watched aggregates
    excluded,              ///< by the request (the server's own host, ...)
    not_requested,         ///< the request was for other hosts or aggregates
    not_in_placement,      ///< Placement does not know it in the aggregate that Nova does
    other_cell,            ///< its server can't be moved to that cell, or it is not known
    server_group,          ///< the server group, or a hint about other servers, forbids it
    no_such_class,         ///< offers no inventory of a class
    unit_limits,           ///< min_unit, max_unit or step_size refuse the amount
    not_enough_capacity,   ///< too small even when empty
    not_enough_revocable,  ///< even without all its revocable servers
    in_cooldown,           ///< room freed there lately was not taken: used only if needed
    over_limit,            ///< possible, but its victims would exceed a limit
    ranked_lower,          ///< possible, but another host was better
};

std::string_view to_string(RejectionCode code);
std::optional<RejectionCode> rejection_code_from(std::string_view text);

struct Rejection {
    HostId host;
    std::string host_name;
    RejectionCode code{};
    std::string reason;  ///< in the units of the request

    friend bool operator==(const Rejection&, const Rejection&) = default;
};

/// All hosts that were not used for one reason.
struct RejectionCount {
    RejectionCode code{};
    int hosts = 0;       ///< those that are listed in full too
    std::string sample;  ///< the reason of the first of them

    friend bool operator==(const RejectionCount&, const RejectionCount&) = default;
};

/// What the strategy counts a plan as, level by level; empty if it has no figures. Only for
/// comparisons of plans for one slot shape, while they are made: no record has it.
struct PlanCost {
    std::vector<Amount> levels;
    friend bool operator==(const PlanCost&, const PlanCost&) { return true; }
};

/// At least the requested slots come free, and no victim could be left out. Of a correction: the
/// servers that go; it has no slots, and `note` lists those that do not.
struct Plan {
    RequestId request;
    std::string strategy;
    int slots_requested = 0;
    int slots_wanted = 0;  ///< requested times alternatives
    int slots_freed = 0;   ///< requested <= freed <= wanted
    std::vector<HostPlan> hosts;
    std::vector<Rejection> rejected;  ///< nearest first: all of a small cloud, else the best few
    std::vector<RejectionCount> rejected_counts{};  ///< of all, by code
    std::string note;  ///< e.g. a search that was cut short, with the remaining gap; or empty
    PlanCost cost{};

    std::vector<Victim> victims() const;
    /// Of all hosts: the servers that must be gone too before the slots are there.
    std::vector<PendingRelease> pending_releases() const;
    friend bool operator==(const Plan&, const Plan&) = default;
};

/// No deletion is needed (or none is right): the room is there, or the requester is revocable.
struct NothingToDo {
    std::string reason;
    std::vector<HostPlan> hosts;  ///< where the room is; no victims
    /// What kind of room it is: revocable room is reported, but not kept for the request, which
    /// must come again as a revocable server to get it.
    ResType room = ResType::regular;

    /// Of all hosts: as long as there are any, the room is not there yet, but on its way.
    std::vector<PendingRelease> pending_releases() const;
    friend bool operator==(const NothingToDo&, const NothingToDo&) = default;
};

/// Even all revocable servers together (that may go) don't give the requested slots: no servers
/// deleted.
struct NotEnough {
    int slots_requested = 0;
    int slots_possible = 0;
    std::string reason;
    std::vector<Rejection> rejected;                ///< as in a plan
    std::vector<RejectionCount> rejected_counts{};  ///< of all, by code
    /// The safeguard without which there would be a plan, as one word (`limit-window`, `protected`,
    /// ...; reaper/safeguards); empty: there would be none.
    std::string safeguard{};
    /// nova-scheduler waited for the answer: servers were left out that take longer to go.
    bool for_search = false;
    /// A search for slots was cut short: there may be more than were found. No record has it.
    bool cut = false;
    friend bool operator==(const NotEnough&, const NotEnough&) = default;
};

using Decision = std::variant<Plan, NothingToDo, NotEnough, Refused>;

/// Where it has its slots, freed or free already; none for a refusal.
std::vector<HostPlan> host_plans(const Decision& decision);
/// Of two decisions on one request by one strategy: room that is there is better than a plan, and a
/// plan than none; of two plans the one that costs less, then the one with fewer victims.
bool better(const Decision& one, const Decision& other);
/// Where both are for want of slots: if the search for the other was cut short, so was the one.
void add_cut(Decision& one, const Decision& other);
/// One line for people and logs.
std::string summary(const Decision& decision);

}  // namespace reaper
