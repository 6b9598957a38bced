#include "tests/cloudsim/core/nova.hpp"

#include <algorithm>
#include <charconv>

namespace reaper::cloudsim {

const char* to_string(VmState state) {
    switch (state) {
        case VmState::building: return "building";
        case VmState::active: return "active";
        case VmState::stopped: return "stopped";
        case VmState::resized: return "resized";
        case VmState::error: return "error";
        case VmState::shelved_offloaded: return "shelved_offloaded";
        case VmState::soft_deleted: return "soft-delete";
        case VmState::deleted: return "deleted";
    }
    return "";
}

const char* to_string(TaskState task) {
    switch (task) {
        case TaskState::none: return "";
        case TaskState::scheduling: return "scheduling";
        case TaskState::spawning: return "spawning";
        case TaskState::deleting: return "deleting";
        case TaskState::soft_deleting: return "soft-deleting";
        case TaskState::resize_prep: return "resize_prep";
        case TaskState::resize_migrating: return "resize_migrating";
        case TaskState::resize_finish: return "resize_finish";
        case TaskState::resize_reverting: return "resize_reverting";
        case TaskState::powering_off: return "powering-off";
        case TaskState::powering_on: return "powering-on";
        case TaskState::migrating: return "migrating";
        case TaskState::rebuilding: return "rebuilding";
        case TaskState::shelving: return "shelving";
        case TaskState::unshelving: return "unshelving";
    }
    return "";
}

ServerExtras& Server::more() {
    if (!extras) extras = std::make_unique<ServerExtras>();
    return *extras;
}

const char* Server::status() const {
    switch (state) {
        case VmState::building: return "BUILD";
        case VmState::active:
            if (task == TaskState::resize_prep || task == TaskState::resize_migrating ||
                task == TaskState::resize_finish)
                return "RESIZE";
            if (task == TaskState::migrating) return "MIGRATING";
            if (task == TaskState::rebuilding) return "REBUILD";
            return "ACTIVE";
        case VmState::stopped: return task == TaskState::resize_prep ? "RESIZE" : "SHUTOFF";
        case VmState::resized:
            return task == TaskState::resize_reverting ? "REVERT_RESIZE" : "VERIFY_RESIZE";
        case VmState::error: return "ERROR";
        case VmState::shelved_offloaded: return "SHELVED_OFFLOADED";
        case VmState::soft_deleted: return "SOFT_DELETED";
        case VmState::deleted: return "DELETED";
    }
    return "UNKNOWN";
}

std::shared_ptr<const Flavor> Nova::find_flavor(const std::string& id) const {
    for (const auto& flavor : flavors)
        if (flavor->id == id) return flavor;
    return nullptr;
}

std::shared_ptr<const Flavor> Nova::find_flavor_name(const std::string& name) const {
    for (const auto& flavor : flavors)
        if (flavor->name == name) return flavor;
    return nullptr;
}

const Image* Nova::find_image(const std::string& id) const {
    for (const auto& image : images)
        if (image->id.text() == id) return image.get();
    return nullptr;
}

Host* Nova::find_host(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
}

Host* Nova::host_of(const Provider& root) const {
    const auto found = by_provider_.find(root.uuid);
    return found == by_provider_.end() ? nullptr : found->second;
}

Host* Nova::host_of_service(const Uuid& service) const {
    const auto found = by_service_.find(service);
    return found == by_service_.end() ? nullptr : found->second;
}

Host& Nova::add_host(std::string name, Provider& provider, const Uuid& service) {
    auto host = std::make_unique<Host>();
    host->name = std::move(name);
    host->provider = &provider;
    host->service = service;
    host->number = static_cast<int>(hosts.size()) + 1;
    by_name_[host->name] = host.get();
    by_provider_[provider.uuid] = host.get();
    by_service_[service] = host.get();
    hosts.push_back(std::move(host));
    return *hosts.back();
}

Server* Nova::find_server(const Uuid& id) const {
    const auto found = servers_.find(id);
    return found == servers_.end() ? nullptr : found->second.get();
}

Server& Nova::add_server(std::unique_ptr<Server> server) {
    Server& added = *server;
    if (added.host) added.host->servers.push_back(&added);
    (added.state == VmState::soft_deleted ? soft_deleted_ : listed_).insert(&added);
    servers_[added.id] = std::move(server);
    return added;
}

void Nova::remove_server(Server& server) {
    Host* const host = server.host;
    move_server(server, nullptr);
    server.host = host;  // a deleted server still names it
    listed_.erase(&server);
    soft_deleted_.erase(&server);
    const auto at = servers_.find(server.id);
    if (at == servers_.end()) return;
    std::unique_ptr<Server> gone = std::move(at->second);
    servers_.erase(at);
    if (!gone->terminated) return;
    deleted_.push_back(std::move(gone));
    if (deleted_.size() > most_deleted) deleted_.pop_front();
}

const Server* Nova::find_deleted(const Uuid& id) const {
    for (const auto& server : deleted_)
        if (server->id == id) return server.get();
    return nullptr;
}

void Nova::move_server(Server& server, Host* host) {
    if (server.host) std::erase(server.host->servers, &server);
    server.host = host;
    if (host) host->servers.push_back(&server);
}

void Nova::set_soft_deleted(Server& server, bool soft) {
    (soft ? listed_ : soft_deleted_).erase(&server);
    (soft ? soft_deleted_ : listed_).insert(&server);
}

void Nova::clear_servers() {
    deleted_.clear();
    for (const auto& host : hosts) {
        host->servers.clear();
        host->held_back.clear();
    }
    listed_.clear();
    soft_deleted_.clear();
    servers_.clear();
    for (const auto& group : groups) group->members.clear();
}

Aggregate* Nova::find_aggregate(int number) const {
    for (const auto& aggregate : aggregates)
        if (aggregate->number == number) return aggregate.get();
    return nullptr;
}

ServerGroup* Nova::find_group(const Uuid& id) const {
    for (const auto& group : groups)
        if (group->id == id) return group.get();
    return nullptr;
}

std::string Nova::zone_of(const Host& host) const {
    for (const auto& aggregate : aggregates) {
        const auto zone = aggregate->metadata.find("availability_zone");
        if (zone == aggregate->metadata.end()) continue;
        const auto& hosts_there = aggregate->hosts;
        if (std::find(hosts_there.begin(), hosts_there.end(), host.name) != hosts_there.end())
            return zone->second;
    }
    return "nova";
}

std::map<std::string, std::map<std::string, std::int64_t>> resources_of(const Flavor& flavor,
                                                                        bool from_volume) {
    std::map<std::string, std::map<std::string, std::int64_t>> groups;
    auto& plain = groups[""];
    plain["VCPU"] = flavor.vcpus;
    plain["MEMORY_MB"] = flavor.memory_mb;
    plain["DISK_GB"] =
        (from_volume ? 0 : flavor.root_gb) + flavor.ephemeral_gb + (flavor.swap_mb + 1023) / 1024;
    for (const auto& [key, value] : flavor.extra_specs) {
        const auto colon = key.find(':');
        if (!key.starts_with("resources") || colon == std::string::npos) continue;
        std::int64_t amount = 0;
        const auto read = std::from_chars(value.data(), value.data() + value.size(), amount);
        if (read.ec != std::errc{} || read.ptr != value.data() + value.size()) continue;
        const std::string suffix = key.substr(9, colon - 9);
        groups[suffix][key.substr(colon + 1)] = amount;
        // What a group gives counts instead of the flavor's own.
        if (!suffix.empty() && !flavor.extra_specs.contains("resources" + key.substr(colon)))
            plain.erase(key.substr(colon + 1));
    }
    for (auto& [suffix, amounts] : groups)
        std::erase_if(amounts, [](const auto& each) { return each.second <= 0; });
    std::erase_if(groups, [](const auto& group) { return group.second.empty(); });
    return groups;
}

}  // namespace reaper::cloudsim
