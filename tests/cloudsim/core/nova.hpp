// What Nova keeps: flavors, hosts, servers, aggregates, server groups. Plain data with the indexes
// that make every single-object request cheap; what happens to it is in lifecycle.hpp.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/cloudsim/core/clock.hpp"
#include "tests/cloudsim/core/placement.hpp"

namespace reaper::cloudsim {

struct Flavor {
    std::string id;
    std::string name;
    std::int64_t vcpus = 1;
    std::int64_t memory_mb = 512;
    std::int64_t root_gb = 0;
    std::int64_t ephemeral_gb = 0;
    std::int64_t swap_mb = 0;
    bool is_public = true;
    std::optional<std::string> description;
    std::map<std::string, std::string> extra_specs;
};

struct Image {
    Uuid id;
    std::string name;
    Time created{};
    std::string owner;
    std::map<std::string, std::string> properties;  ///< the owner's own
};

/// Who asked, and in which request: goes with everything that follows from it.
struct Context {
    std::string user_id;
    std::string user_name;
    std::string project_id;
    std::string project_name;
    std::vector<std::string> roles;
    bool is_admin = false;
    Uuid request;
    std::optional<Uuid> given{};  ///< by its client, in X-OpenStack-Request-ID

    std::string request_id() const { return "req-" + request.text(); }
    /// The request id that other services get.
    std::string global_id() const { return "req-" + given.value_or(request).text(); }
};
using ContextPtr = std::shared_ptr<const Context>;

enum class VmState {
    building,
    active,
    stopped,
    resized,
    error,
    shelved_offloaded,
    soft_deleted,
    deleted
};
enum class TaskState {
    none,
    scheduling,
    spawning,
    deleting,
    soft_deleting,
    resize_prep,
    resize_migrating,
    resize_finish,
    resize_reverting,
    powering_off,
    powering_on,
    migrating,
    rebuilding,
    shelving,
    unshelving,
};
const char* to_string(VmState state);   ///< `active`, `soft-delete`, ...
const char* to_string(TaskState task);  ///< `deleting`, ...; "" for none

struct Server;

/// A compute node with its nova-compute.
struct Host {
    std::string name;
    Provider* provider = nullptr;
    Uuid service;
    int number = 0;  ///< of service and hypervisor in its cell, in the API's oldest versions
    std::string cell;
    bool cell_disabled = false;
    bool disabled = false;
    std::optional<std::string> disabled_reason;
    bool forced_down = false;
    bool agent_down = false;  ///< nova-compute does not report
    std::string zone = "nova";
    std::vector<Server*> servers;
    bool held = false;            ///< deletions are accepted, but do not come to their end
    std::vector<Uuid> held_back;  ///< servers whose deletion waits for that

    bool up() const { return !forced_down && !agent_down; }
};

/// A part of an action, by the name that Nova gives it.
struct ActionEvent {
    std::string name;
    Time start{};
    std::optional<Time> finish;
};

struct Action {
    std::string name;  ///< create, resize, delete, ...
    Uuid request;
    NameId user = 0;
    NameId project = 0;
    Time start{};
    bool failed = false;
    std::string details{};  ///< why it failed
    std::vector<ActionEvent> events{};
    std::string host{};  ///< where it was carried out; empty: not told
};

struct Fault {
    int code = 500;
    std::string message;
    Time created{};
};

/// What most servers do not have.
struct ServerExtras {
    std::map<std::string, std::string> metadata;
    std::set<std::string> tags;
    std::string locked_reason;
    std::string availability_zone;  ///< that was asked for; empty if none
    std::string pinned_zone;        ///< the same, forever
    std::string forced_host;        ///< that was asked for
    std::optional<Uuid> group;
    std::vector<Uuid> same_host;  ///< hints
    std::vector<Uuid> different_host;
    std::optional<Fault> fault;
    std::string cell;  ///< that it is in, while it has no host
    // During a resize
    std::shared_ptr<const Flavor> old_flavor;
    std::shared_ptr<const Flavor> new_flavor;
    Host* old_host = nullptr;
    Uuid migration;
};

struct Server {
    Uuid id;
    std::string name;
    NameId project = 0;  ///< id
    NameId user = 0;
    std::shared_ptr<const Flavor> flavor;
    const Image* image = nullptr;  ///< none: boots from a volume
    Host* host = nullptr;
    std::uint32_t number = 0;  ///< instance-0000002a
    std::uint32_t launch_index = 0;
    VmState state = VmState::building;
    TaskState task = TaskState::none;
    bool locked = false;
    bool locked_by_admin = false;  ///< of a locked one: in another project than its own
    std::string reservation;       ///< `r-9b8xehul`
    Time created{};
    std::optional<Time> updated;
    std::optional<Time> launched;
    std::optional<Time> terminated;
    std::vector<Action> actions;
    std::unique_ptr<ServerExtras> extras;

    ServerExtras& more();  ///< made when needed
    const ServerExtras* extra() const { return extras.get(); }
    /// ACTIVE, BUILD, SHUTOFF, VERIFY_RESIZE, RESIZE, ERROR, SOFT_DELETED, DELETED
    const char* status() const;
    int power_state() const {
        return state == VmState::active || state == VmState::resized ? 1
               : state == VmState::stopped                           ? 4
                                                                     : 0;
    }
};

struct Aggregate {
    int number = 0;
    Uuid id;
    std::string name;
    std::vector<std::string> hosts;
    std::map<std::string, std::string> metadata;
    Time created{};
    std::optional<Time> updated;
};

struct ServerGroup {
    Uuid id;
    std::string name;
    std::string policy;              ///< affinity, anti-affinity, soft-affinity, soft-anti-affinity
    std::int64_t max_on_a_host = 1;  ///< of anti-affinity
    std::string project_id;
    std::string user_id;
    std::vector<Uuid> members;
};

/// Newest first, as Nova lists them.
struct ListOrder {
    bool operator()(const Server* a, const Server* b) const {
        if (a->created != b->created) return a->created > b->created;
        return a->id > b->id;
    }
};

class Nova {
public:
    explicit Nova(Names& names) : names_(names) {}

    Names& names() { return names_; }
    const Names& names() const { return names_; }

    // Flavors, images
    std::vector<std::shared_ptr<const Flavor>> flavors;
    std::vector<std::unique_ptr<Image>> images;
    std::shared_ptr<const Flavor> find_flavor(const std::string& id) const;
    std::shared_ptr<const Flavor> find_flavor_name(const std::string& name) const;
    const Image* find_image(const std::string& id) const;

    // Hosts
    std::vector<std::unique_ptr<Host>> hosts;
    Host* find_host(const std::string& name) const;
    Host* host_of(const Provider& root) const;
    Host* host_of_service(const Uuid& service) const;
    Host& add_host(std::string name, Provider& provider, const Uuid& service);

    // Servers
    using Listed = std::set<Server*, ListOrder>;
    const Listed& listed() const { return listed_; }  ///< all but soft-deleted ones
    const std::set<Server*, ListOrder>& soft_deleted() const { return soft_deleted_; }
    /// The last ones that are gone, as Nova shows them until its rows are archived; oldest first.
    const std::deque<std::unique_ptr<Server>>& deleted() const { return deleted_; }
    const Server* find_deleted(const Uuid& id) const;
    std::size_t server_count() const { return servers_.size(); }
    Server* find_server(const Uuid& id) const;
    Server& add_server(std::unique_ptr<Server> server);
    void remove_server(Server& server);
    void move_server(Server& server, Host* host);
    void set_soft_deleted(Server& server, bool soft);
    std::uint32_t next_number() { return ++last_number_; }
    void clear_servers();

    // Groups of hosts and of servers
    std::vector<std::unique_ptr<Aggregate>> aggregates;
    std::vector<std::unique_ptr<ServerGroup>> groups;
    int last_aggregate = 0;
    Aggregate* find_aggregate(int number) const;
    ServerGroup* find_group(const Uuid& id) const;
    /// The zone of a host by its aggregates; `nova` if none says one.
    std::string zone_of(const Host& host) const;

private:
    Names& names_;
    std::unordered_map<std::string, Host*> by_name_;
    std::unordered_map<Uuid, Host*, UuidHash> by_provider_;
    std::unordered_map<Uuid, Host*, UuidHash> by_service_;
    std::unordered_map<Uuid, std::unique_ptr<Server>, UuidHash> servers_;
    Listed listed_;
    Listed soft_deleted_;
    static constexpr std::size_t most_deleted = 10'000;
    std::deque<std::unique_ptr<Server>> deleted_;
    std::uint32_t last_number_ = 0;
};

/// What a flavor asks of Placement, as Nova computes it: groups by suffix ("" is the unnumbered).
/// A server from a volume takes no root disk.
std::map<std::string, std::map<std::string, std::int64_t>> resources_of(const Flavor& flavor,
                                                                        bool from_volume);

}  // namespace reaper::cloudsim
