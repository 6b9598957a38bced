#include "reaper/cli/cloud/host_filters.hpp"

#include <algorithm>
#include <set>

#include "reaper/model/name_list.hpp"
#include "reaper/model/named_host.hpp"
#include "reaper/model/text.hpp"
#include "reaper/report/natural_order.hpp"

namespace reaper::cli {
namespace {

bool is_named(const Host& host, const std::string& id) {
    return id.empty() || host.id.str() == id;
}

bool in_zone(const Host& host, const std::string& zone) {
    return zone.empty() || host.availability_zone == zone;
}

bool is_meant(const Server& server, const HostFilters& filters) {
    if (!filters.project.empty() && server.project.str() != filters.project) return false;
    if (!filters.flavor.empty() && server.flavor_name != filters.flavor) return false;
    return filters.type.empty() || (filters.type == "revocable") == server.revocable();
}

}  // namespace

Result<std::string> host_in(const Snapshot& snapshot, const std::string& written) {
    if (written.empty()) return written;
    std::vector<const Host*> hosts;
    for (const Host& host : snapshot.hosts) hosts.push_back(&host);
    const auto found = host_named(hosts, written);
    if (!found) return found.error();
    return (*found)->id.str();
}

std::optional<std::string> unknown_zone_in(const Snapshot& snapshot, const std::string& zone) {
    const auto& hosts = snapshot.hosts;
    if (hosts.empty() || std::any_of(hosts.begin(), hosts.end(),
                                     [&](const Host& host) { return in_zone(host, zone); }))
        return std::nullopt;
    std::set<std::string> zones;
    for (const Host& host : hosts) zones.insert(host.availability_zone);
    return "there is no availability zone " + in_quotes(zone) +
           " with hosts in this cloud; there are: " + name_list(zones);
}

Result<std::string> project_in(const Snapshot& snapshot, const std::string& written) {
    if (written.empty() || snapshot.project_names.contains(ProjectId{written})) return written;
    const auto is_its = [&](const Server& server) { return server.project.str() == written; };
    for (const Host& host : snapshot.hosts)
        if (std::any_of(host.servers.begin(), host.servers.end(), is_its)) return written;
    const auto named = projects_named(snapshot.project_names, written);
    if (named.size() == 1) return named.front().str();
    if (named.size() > 1)
        return Error{Errc::bad_input, "--project: " + several_projects(written, named)};
    return Error{Errc::not_found, "--project: no project of the id or name " + in_quotes(written) +
                                      " has servers there"};
}

bool has_flavor(const Snapshot& snapshot, const std::string& name) {
    const auto is_of = [&](const Server& server) { return server.flavor_name == name; };
    return name.empty() ||
           std::any_of(snapshot.hosts.begin(), snapshot.hosts.end(), [&](const Host& host) {
               return std::any_of(host.servers.begin(), host.servers.end(), is_of);
           });
}

Snapshot filtered(Snapshot snapshot, const HostFilters& filters, bool servers) {
    const bool of_servers =
        !filters.project.empty() || !filters.flavor.empty() || !filters.type.empty();
    std::erase_if(snapshot.hosts, [&](Host& host) {
        if (!is_named(host, filters.host) || !in_zone(host, filters.zone)) return true;
        if (!of_servers) return false;
        const auto meant = [&](const Server& server) { return is_meant(server, filters); };
        if (servers) std::erase_if(host.servers, [&](const Server& each) { return !meant(each); });
        return std::none_of(host.servers.begin(), host.servers.end(), meant);
    });
    std::stable_sort(
        snapshot.hosts.begin(), snapshot.hosts.end(),
        [](const Host& a, const Host& b) { return report::natural_less(a.name, b.name); });
    return snapshot;
}

}  // namespace reaper::cli
