// What happens in one schedule, all of it drawn from its seed: the cloud, the reaper's settings,
// the demands of users, and the faults. Plain data; printed when a schedule fails.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"
#include "reaper/model/time.hpp"
#include "tests/cloudsim/core/settings.hpp"

namespace reaper::faults {

/// Demands, then faults. The names are in the table in plan.cpp.
enum class Kind {
    // Demands
    boot,
    boot_many,
    boot_revocable,
    boot_preemptible,
    boot_by_spot,
    boot_group,
    boot_hinted,
    boot_sold,  ///< on oversubscribed room
    resize,
    // What people and the cloud do meanwhile
    lock,
    user_delete,
    migrate,
    retag,
    power_off,
    regular_takes_room,
    revocable_takes_room,
    requester_deleted,
    orphan_allocation,
    allocation_missing,
    compute_down,
    host_disabled,
    deletion_lost,
    deletion_held,
    // The network and the services
    latency,
    status_500,
    status_502,
    status_503,
    status_504,
    busy_429,
    reset_before,
    reset_after,
    cut_body,
    short_json,
    garbage_body,
    wrong_type,
    missing_field,
    half_list,
    token_revoked,
    forbidden_403,
    conflict_409,
    // Messages
    duplicate,
    delayed,
    late_repeat,
    connection_lost,
    garbage_message,
    old_message,
    info_lost,
    info_late,
    flow_stops,
    // The reaper's own machine
    crash,
    disk_full,
    clock_step,
    paused,
    // Drawn apart, with the safeguards.
    protect,
    resumed,
    // Drawn apart.
    forged_message,
    reload,
    takeover,
    class_lost,
    // Drawn apart, with the gateway.
    evacuation,
    unshelving,
    client_leaves,
    other_gateway,  ///< percent of the calls
    // Drawn apart, with the reservations.
    reservation_changed,  ///< in the configuration
    reservation_touched,  ///< in Placement: the next change of it is refused
    // Drawn apart, with oversubscription.
    metrics_fault,  ///< of the monitoring; which one, `amount` tells (sold_room.cpp)
    // Drawn apart.
    lease_lost,    ///< with --shared-journal: the active reaper is frozen, or cut off from it
    slow_nova,     ///< its lists of servers and its deletions, for a while
    tenant_loops,  ///< boots and deletes, again and again, for a while
    count_,
};
constexpr std::size_t kinds = static_cast<std::size_t>(Kind::count_);
std::string_view name_of(Kind kind);
bool is_demand(Kind kind);
bool is_network(Kind kind);

/// One thing that happens, or a time in which it may.
struct Item {
    Kind kind{};
    Duration at{};        ///< from the start of the schedule
    Duration length{};    ///< zero: once
    int percent = 100;    ///< of the calls or messages in that time
    std::string service;  ///< of the cloud; empty: any
    bool writes_only = false;
    bool in_mid_cull = false;   ///< once a deletion is accepted, after `at`
    std::string at_write{};     ///< ... or once the journal is about to hold this
    bool orderly = false;       ///< of a takeover: the reaper stops in good order
    bool in_mid_claim = false;  ///< once nova-scheduler claims through the reaper, after `at`
    int amount = 1;             ///< servers, handlers until the crash, ...
    std::uint64_t seed = 0;     ///< of its own choices: another item's absence does not change them
};

/// Unused vCPUs are sold.
struct SoldPlan {
    std::optional<Amount> fixed{};  ///< so many on each host; else by what is in use:
    double margin = 0.1;
    Duration peak{};
    PublicationRules publication{};
    bool drain = false;       ///< who holds too much stays
    bool per_server = false;  ///< the metrics tell servers apart
    /// What is not to be exceeded; 0: it is not checked.
    double load5 = 0, load15 = 0;
    bool per_core = false;  ///< the two are for each core
    double pressure = 0;    ///< the part of the time in which threads wait
    int in_a_row = 1;       ///< of the pressure
    bool evict_all = false;

    bool watches() const { return load5 > 0 || load15 > 0 || pressure > 0; }
};

struct SchedulePlan {
    std::uint64_t seed = 0;
    cloudsim::Settings cloud;
    config::Policy policy;
    config::Cull cull;
    config::Trigger trigger;
    config::Cache cache;
    config::Http http;
    config::Gateway gateway;  ///< `listen` is empty: nova-scheduler asks Placement itself
    config::Reservations reservations;
    std::optional<SoldPlan> sold;
    int reapers = 1;  ///< that stand by for each other, on one journal
    bool dry_run = false;
    bool soft_delete = false;
    std::string protected_project;          ///< name; empty: none
    bool holds_room = false;                ///< freed room, by `reserved` of the revocable class
    std::vector<std::string> tenant_hosts;  ///< for the project `regular2` alone
    Duration storm{};                       ///< no fault begins after it
    std::vector<Item> items;

    bool with_gateway() const { return !gateway.listen.empty(); }
    bool with_reservations() const { return reservations.enabled; }
    bool shares_journal() const { return reapers > 1; }
    bool with_notice() const { return policy.notice.period > Duration::zero(); }
    bool with_shelving() const { return !policy.shelve.servers.empty(); }
    bool by_tag() const { return cloud.revocable_by != cloudsim::RevocableBy::resource; }
    bool by_class() const { return cloud.revocable_by != cloudsim::RevocableBy::project; }
    /// Whether anything tells the reaper an untruth that it can't know for one.
    bool lies() const;
    bool has(Kind kind) const;
};

constexpr Duration calm_start = std::chrono::seconds{20};  // the first views are read

SchedulePlan make_plan_of(std::uint64_t seed);
/// What the configuration says from a reload on.
struct Reloaded {
    SafeguardSettings safeguards;
    std::string protected_project;  ///< name; empty: none
    config::Reservations reservations{};
};
/// What was in force before it is `now`.
Reloaded reloaded_by(const SchedulePlan& plan, const Item& item, const Reloaded& now);
/// From the start.
Reloaded configured_by(const SchedulePlan& plan);
/// Several lines, items numbered.
std::string describe(const SchedulePlan& plan);
std::string describe(const Item& item);

/// How often each fault really happened.
using FaultCounts = std::array<std::uint64_t, kinds>;

}  // namespace reaper::faults
