// What a simulated cloud is made of, with defaults. Read from YAML by settings_file.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/cloudsim/core/clock.hpp"

namespace reaper::cloudsim {

struct HostShape {
    std::string name = "host-";  ///< followed by 1, 2, ...
    std::int64_t vcpus = 64;
    std::int64_t memory_mb = 262'144;
    std::int64_t disk_gb = 4'096;
    double cpu_ratio = 1.0;
    double memory_ratio = 1.0;
    double disk_ratio = 1.0;
    std::int64_t reserved_memory_mb = 0;
    std::vector<std::string> traits;                ///< besides those that every host has
    std::map<std::string, std::int64_t> classes{};  ///< further ones, with their totals
};

/// What makes a server revocable: its project's tag, what it holds of a class, one of them, both.
enum class RevocableBy { project, resource, either, both };

struct FlavorEntry {
    std::int64_t vcpus = 1;
    std::int64_t memory_mb = 1024;
    std::int64_t disk_gb = 10;
    std::int64_t ephemeral_gb = 0;
    std::int64_t swap_mb = 0;
    std::map<std::string, std::string> extra_specs;
};

struct AggregateEntry {
    std::vector<std::string> hosts;
    std::map<std::string, std::string> metadata;
};

struct UserEntry {
    std::string password;
    std::string project;
    std::vector<std::string> roles;
};

struct Delays {
    Micros schedule = std::chrono::milliseconds(50);
    Micros build = std::chrono::milliseconds(200);
    Micros erase = std::chrono::milliseconds(300);  ///< key `delete`
    /// How long a server is DELETED, and holds its room still, before Nova forgets it.
    Micros forget = std::chrono::milliseconds(20);
    Micros resize = std::chrono::milliseconds(200);
    Micros call{0};  ///< each call of an API, besides the way to it
    Micros list{0};  ///< Nova's lists of servers, besides that
};

struct Settings {
    int hosts = 3;
    double fill = 0;         ///< of each host's VCPU, by regular and revocable servers together
    double revocable = 0.3;  ///< of what is filled
    std::optional<int> revocable_per_host;  ///< that many servers, in place of a share
    RevocableBy revocable_by = RevocableBy::project;
    std::string revocable_class = "CUSTOM_PREEMPTIBLE";
    /// The first servers' projects, besides `regular` and `spot`, where a class may tell them
    /// apart.
    std::vector<std::string> mixed_projects;
    std::uint64_t seed = 1;
    HostShape host;
    std::map<std::string, FlavorEntry> flavors;
    std::map<std::string, std::vector<std::string>> zones;  ///< name to hosts
    /// Cells: name to hosts; those in none are in one without a name. A moved server stays in its
    /// cell.
    std::map<std::string, std::vector<std::string>> cells;
    std::vector<std::string> disabled_cells;  ///< builds skip them
    std::map<std::string, AggregateEntry> aggregates;
    std::map<std::string, std::vector<std::string>> projects;  ///< name to tags
    std::map<std::string, UserEntry> users;
    std::map<std::string, std::int64_t> nested;  ///< class to total, on a child of each host
    std::map<std::string, std::vector<std::string>> traits;  ///< name to hosts
    int page_limit = 1000;
    int nova_minor = 93;  ///< the newest microversion, 2.93; 2.100 shows hints
    Delays delays;
    /// Deletion is deferred by so much (0: at once) in RegionOne, and in SoftRegion.
    Micros reclaim{0};
    Micros soft_region_reclaim = std::chrono::hours(1);
    Micros token_life = std::chrono::hours(24);
    bool tenant_isolation = false;  ///< filter_tenant_id of aggregates
    /// Aggregates with trait:T=required are for requests that require T.
    bool trait_isolation = false;
    bool extra_specs_filter = false;  ///< AggregateInstanceExtraSpecsFilter is on
    bool state_changes = true;        ///< instance.update is sent
    bool default_queues = true;       ///< oslo.messaging's own queues are declared
    bool respawn = false;
    std::optional<Time> start;
    double speed = 1.0;
    std::size_t log_limit = 200'000;  ///< entries of the witness
};

/// Flavors, projects and users, if none are given: those of the lab.
void fill_defaults(Settings& settings);

}  // namespace reaper::cloudsim
