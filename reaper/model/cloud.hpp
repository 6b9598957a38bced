// The cloud as the planner sees it: hosts with their providers, and the servers on them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reaper/model/ids.hpp"
#include "reaper/model/placement_constraints.hpp"
#include "reaper/model/project_names.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/model/shared.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// Placement's inventory of one class on one provider, with Placement's rules for what fits.
struct Inventory {
    Amount total = 0;
    Amount reserved = 0;
    double allocation_ratio = 1.0;
    Amount min_unit = 1;
    Amount max_unit = 0x7fffffff;
    Amount step_size = 1;
    /// By a bulk answer: its total is its capacity, and neither ratio nor what is reserved is
    /// known.
    bool capacity_only = false;

    /// `(total - reserved) * allocation_ratio`, rounded down as Placement's searches do: what new
    /// consumers may hold now. For what a deletion gives, see Provider::capacity.
    Amount capacity() const;
    /// What Placement's answers call its capacity, which may be one more.
    Amount shown_capacity() const;
    /// May one consumer hold so much of it?
    bool allows(Amount amount) const {
        return amount >= min_unit && amount <= max_unit &&
               (step_size <= 1 || amount % step_size == 0);
    }

    friend bool operator==(const Inventory&, const Inventory&) = default;
};

/// One resource provider of a host's tree.
struct Provider {
    ProviderId id;
    std::string name;
    ProviderId parent;  ///< empty for the root
    std::map<ResourceClass, Inventory> inventories;
    Resources used;  ///< by all consumers, the evicted ones too until they are gone
    Shared<std::set<Trait>> traits;
    /// What consumers hold here that are no servers of the host: migrations, other parties'
    /// allocations, servers that Nova lists no more. Part of `used`.
    std::map<ServerId, Resources> other_consumers;

    /// What it can give of the class once its consumers are gone: the capacity of the inventory
    /// where Nova sets that without regard to them. Two things Nova reserves because they are in
    /// use: a bare metal node (nova/virt/ironic/driver.py, update_provider_tree) comes back when
    /// its server goes; a one-time-use PCI device (nova/compute/pci_placement_translator.py) does
    /// not, and counts as reserved from its first use on. 0 without such an inventory.
    Amount capacity(const ResourceClass& resource_class) const;
    Amount capacity(const ResourceClass& resource_class, const Inventory& inventory) const;
};

/// What consumers hold, per provider.
using Allocations = std::map<ProviderId, Resources>;

/// Over all providers.
Resources sum_of(const Allocations& allocations);

/// A server as Nova and Placement together describe it.
struct Server {
    ServerId id;
    std::string name;
    ProjectId project;
    SharedText host;        ///< Nova's service host; empty while it has none
    SharedText status;      ///< Nova's status: ACTIVE, SHUTOFF, SOFT_DELETED, ...
    SharedText task_state;  ///< empty if none: a server that is being changed has one
    bool locked = false;
    TimePoint created{};
    std::optional<TimePoint> launched;
    SharedText flavor_name;
    Shared<std::map<std::string, std::string>> flavor_extra_specs;
    Shared<std::map<std::string, std::string>> metadata;
    Shared<std::set<std::string>> tags;
    Shared<Allocations> allocations;  ///< what Placement says that it holds; empty if nothing
    /// Why the server is revocable, in a tagger's words; absent for a regular server.
    std::optional<SharedText> revocable_because;
    SharedText revocable_by;  ///< the names of the taggers that say so; empty for a regular server
    /// Only where the cloud is read for people: what protects it; empty if nothing does.
    SharedText protected_because{};

    /// Of one that is not here (Host::left_behind): the consumer that holds its room here.
    ServerId held_by{};

    /// A reaper deleted it softly, and the deletion has not been forced yet.
    bool unfinished_deletion = false;

    bool revocable() const noexcept { return revocable_because.has_value(); }
    /// Nova deletes it softly, or did: it keeps its room until it is forced or reclaimed.
    bool soft_deleted() const { return status == "SOFT_DELETED" || task_state == "soft-deleting"; }
    /// Nova deletes it for good, or did just now: the task state goes, and the status becomes
    /// DELETED, before its room leaves Placement's books.
    bool being_deleted() const {
        return status != "SOFT_DELETED" && (task_state == "deleting" || status == "DELETED");
    }
    /// Sum over all providers.
    Resources resources() const;

    friend bool operator==(const Server&, const Server&) = default;
};

/// A compute node: root provider in Placement, hypervisor and service in Nova.
struct Host {
    HostId id;                    ///< the root provider's UUID
    std::string name;             ///< hypervisor hostname
    std::string service_host;     ///< nova-compute's `host`, which servers name
    bool enabled = true;          ///< service status
    bool up = true;               ///< service state, and not forced down
    std::string why_unavailable;  ///< Nova's disabled reason, when it gives one
    std::string availability_zone;
    std::set<std::string> aggregates;  ///< names
    Shared<HostAggregates> member_of;  ///< the same in full
    /// UUIDs of those that Placement knows it in, if the last reading asked: what Nova's scheduler
    /// goes by.
    std::optional<std::set<std::string>> placement_aggregates;
    std::vector<Provider> providers;  ///< the root first, then nested ones by id
    std::vector<Server> servers;      ///< by id; servers whose Nova host is this one
    /// By id: servers that were resized, or moved, away from here, and what that still holds here
    /// (their allocations; `held_by` says which consumer's) until it is confirmed. Deleting one
    /// frees it.
    std::vector<Server> left_behind{};
    /// When the reading of its room from Placement was begun.
    TimePoint read_at{};
    /// Only bulk answers reported its room: capacities without unit limits, and what each server
    /// holds as its flavor says. Good for choosing hosts; a host is read exactly before servers are
    /// deleted on it.
    bool estimated = false;

    const Provider& root() const { return providers.front(); }
};

/// What the server holds on the host's providers.
Resources held_on(const Server& server, const Host& host);

/// One view of the cloud, at one time.
struct Snapshot {
    TimePoint taken_at{};
    std::vector<Host> hosts;  ///< by name, then id
    /// Things that make the cache doubtful (a provider without a hypervisor, ...), for people.
    std::vector<std::string> remarks;
    /// Classes whose inventories are room that is offered as revocable (reaper/restype).
    std::set<ResourceClass> revocable_classes{};
    ProjectNames project_names{};  ///< for people; empty where Keystone did not report them
};

}  // namespace reaper
