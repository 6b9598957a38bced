#include "reaper/cloud_cache/host_parts.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

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
        if (std::find(aggregate.hosts.begin(), aggregate.hosts.end(), host.service_host) ==
            aggregate.hosts.end())
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

}  // namespace reaper
