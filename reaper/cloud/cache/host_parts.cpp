#include "reaper/cloud/cache/host_parts.hpp"

#include <algorithm>
#include <utility>

#include "reaper/cloud/cache/estimate.hpp"
#include "reaper/model/text.hpp"

namespace reaper {
namespace {

const std::string zone_key = "availability_zone";
const std::string default_zone = "nova";  // Nova's own, for hosts in no zone

}  // namespace

void set_service(Host& host, const ComputeServiceRecord* service) {
    if (service == nullptr) {
        host.up = false;
        host.why_unavailable =
            "Nova lists no compute service for its host '" + printable(host.service_host) + "'";
        return;
    }
    host.enabled = service->enabled;
    host.up = service->up;
    host.why_unavailable = service->disabled_reason;
    host.availability_zone = service->zone;
}

void in_allowed_aggregates(Host& host, const std::vector<AggregateRecord>& aggregates) {
    std::set<std::string> zones;
    host.aggregates.clear();
    HostAggregates member_of;
    for (const auto& aggregate : aggregates) {
        if (std::ranges::find(aggregate.hosts, host.service_host) == aggregate.hosts.end())
            continue;
        host.aggregates.insert(aggregate.name);
        member_of.emplace(aggregate.uuid, HostAggregate{aggregate.name, aggregate.metadata});
        if (const auto zone = aggregate.metadata.find(zone_key);
            zone != aggregate.metadata.end() && !zone->second.empty())
            zones.insert(zone->second);
    }
    host.member_of = std::move(member_of);
    if (!host.availability_zone.empty()) return;
    host.availability_zone = zones.empty() ? default_zone : *zones.begin();
}

bool has_tree(const Host& host, const HostReading& reading) {
    return host.providers.size() == reading.states.size() &&
           std::ranges::all_of(host.providers, [&](const Provider& provider) {
               return reading.states.contains(provider.id);
           });
}

void set_room(Host& host, const HostReading& reading) {
    std::map<ServerId, Allocations> of_servers;
    for (const auto& server : host.servers) of_servers.try_emplace(server.id);
    for (auto& provider : host.providers) {
        const ProviderState& state = reading.states.at(provider.id);
        provider.inventories = state.inventories;
        provider.used = {};
        provider.other_consumers.clear();
        for (const auto& [consumer, held] : state.allocations) {
            if (held.empty()) continue;
            provider.used += held;
            const auto at = of_servers.find(consumer);
            if (at != of_servers.end())
                at->second[provider.id] = held;
            else
                provider.other_consumers.emplace(consumer, held);
        }
    }
    for (auto& server : host.servers) server.allocations = std::move(of_servers.at(server.id));
}

bool adopt(Host& host, Server& server) {
    bool listed = false;
    for (auto& provider : host.providers) {
        const auto at = provider.other_consumers.find(server.id);
        if (at == provider.other_consumers.end()) continue;
        server.allocations.insert_or_assign(provider.id, at->second);
        provider.other_consumers.erase(at);
        listed = true;
    }
    return listed;
}

bool adopt_unread(Host& host, const Server& server) {
    const auto held_on = [&](const Provider& provider) -> const Resources* {
        const auto at = server.allocations.find(provider.id);
        return at == server.allocations.end() ? nullptr : &at->second;
    };
    const bool covered = std::ranges::all_of(host.providers, [&](const Provider& provider) {
        const Resources* const held = held_on(provider);
        if (held == nullptr) return true;
        const auto rest = provider.other_consumers.find(unread_consumers);
        return rest != provider.other_consumers.end() && held->fits_in(rest->second);
    });
    if (!covered || server.allocations.empty()) return false;
    for (auto& provider : host.providers) {
        const Resources* const held = held_on(provider);
        if (held == nullptr) continue;
        const auto rest = provider.other_consumers.find(unread_consumers);
        rest->second -= *held;
        if (rest->second.empty()) provider.other_consumers.erase(rest);
    }
    return true;
}

bool drop_consumer(Host& host, const ServerId& consumer) {
    bool listed = false;
    for (auto& provider : host.providers) {
        const auto at = provider.other_consumers.find(consumer);
        if (at == provider.other_consumers.end()) continue;
        provider.used -= at->second;
        provider.other_consumers.erase(at);
        listed = true;
    }
    return listed;
}

void give_back(Host& host, const Server& server) {
    for (auto& provider : host.providers)
        if (const auto held = server.allocations.find(provider.id);
            held != server.allocations.end())
            provider.used -= held->second;
}

void take_up(Host& host, const Server& server) {
    for (auto& provider : host.providers)
        if (const auto held = server.allocations.find(provider.id);
            held != server.allocations.end())
            provider.used += held->second;
}

}  // namespace reaper
