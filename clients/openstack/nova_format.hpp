// Nova's answers as records. Pure. `where` names the call in the error.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/error.hpp"
#include "reaper/ports/compute.hpp"

namespace reaper::openstack {

struct ServerPage {
    std::vector<ServerRecord> servers;
    bool more = false;  ///< Nova says that there is a next page
};
/// `{"servers": [...], "servers_links": [...]}`. A row whose cell is down has the status UNKNOWN
/// and little else. `forbidden` if Nova hides what only administrators see.
Result<ServerPage> read_servers(std::string_view body, const std::string& where);
/// `{"server": {...}}`
Result<ServerRecord> read_server(std::string_view body, const std::string& where);
/// `{"instanceAction": {"action", "request_id", "project_id", "message", "start_time", "events"}}`,
/// each event with `event`, `start_time`, `finish_time`, `result` and, for administrators,
/// `traceback` and `details`.
Result<ActionRecord> read_action(std::string_view body, const std::string& where);
/// `{"flavor": {...}}`; none where its extra specs are not in it (before 2.61).
struct ShownFlavor {
    Flavor flavor;
    bool has_extra_specs = false;
};
Result<ShownFlavor> read_flavor(std::string_view body, const std::string& where);
/// `{"extra_specs": {...}}`
Result<std::map<std::string, std::string>> read_extra_specs(std::string_view body,
                                                            const std::string& where);

/// The body that sets one key.
std::string metadata_body(const std::string& key, const std::string& value);

/// `{"server_group": {"id", "name", "policy" or "policies", "rules", "members"}}`
Result<ServerGroup> read_server_group(std::string_view body, const std::string& where);

struct ActionPage {
    std::vector<ActionRecord> actions;  ///< newest first
    bool more = false;                  ///< Nova says that there is a next page
};
/// `{"instanceActions": [{"action", "request_id", "project_id", "message", "start_time"}]}`
Result<ActionPage> read_actions(std::string_view body, const std::string& where);

struct MigrationPage {
    std::vector<UnconfirmedResize> resizes;
    std::map<ServerId, std::set<ServerId>> consumers;  ///< of all migrations, by server
    std::string last;                                  ///< what the next page is asked after
    bool more = false;                                 ///< Nova says that there is one
};
/// `{"migrations": [{"uuid", "instance_uuid", "source_compute", "status"}]}`
Result<MigrationPage> read_migrations(std::string_view body, const std::string& where);

/// `{"instanceAction": {"events": [{"event": "compute_...", "host"}]}}`: the host of its newest
/// event on a compute host; empty if there is none, or Nova is too old to show it.
Result<std::string> read_action_host(std::string_view body, const std::string& where);

/// Answers before 2.53, whose ids are numbers.
Result<std::vector<HostNumbers::Numbered>> read_service_numbers(std::string_view body,
                                                                const std::string& where);
/// `{"hypervisor": {"uptime": " 08:32:11 up 93 days, 12 users,  load average: 0.20, 0.12, 0.14"}}`;
/// none if there is no such text.
Result<std::optional<LoadAverages>> read_load_averages(std::string_view body,
                                                       const std::string& where);
Result<std::vector<HostNumbers::Numbered>> read_hypervisor_numbers(std::string_view body,
                                                                   const std::string& where);

struct FlavorPage {
    std::map<std::string, Flavor> flavors;  ///< by id
    std::string last_id;  ///< what the next page is asked after; empty: the page is empty
};
/// `{"flavors": [{"id", "name", "vcpus", ...}]}`
Result<FlavorPage> read_flavors(std::string_view body, const std::string& where);
/// Of one that was made.
Result<std::string> read_flavor_id(std::string_view body, const std::string& where);

struct HypervisorPage {
    std::vector<HypervisorRecord> hypervisors;
    bool more = false;
};
Result<HypervisorPage> read_hypervisors(std::string_view body, const std::string& where);
/// Rows of nova-compute only.
Result<std::vector<ComputeServiceRecord>> read_services(std::string_view body,
                                                        const std::string& where);
Result<std::vector<AggregateRecord>> read_aggregates(std::string_view body,
                                                     const std::string& where);

}  // namespace reaper::openstack
