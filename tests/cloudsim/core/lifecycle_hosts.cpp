// Hosts and aggregates.
#include <algorithm>

#include "tests/cloudsim/core/lifecycle.hpp"

namespace reaper::cloudsim {

namespace {

void tell_service(World& world, const Host& host, const ContextPtr& by) {
    const ServiceEvent event{host, world.clock.now(), by};
    world.tell([&](Listener& listener) { listener.on_service(event); });
}

void tell_aggregate(World& world, std::string_view name, const Aggregate& aggregate,
                    const ContextPtr& by) {
    const AggregateEvent event{name, aggregate, by};
    world.tell([&](Listener& listener) { listener.on_aggregate(event); });
}

}  // namespace

void Lifecycle::set_service(Host& host, bool disabled, std::optional<std::string> reason,
                            const ContextPtr& by) {
    host.disabled = disabled;
    host.disabled_reason = std::move(reason);
    // nova-compute marks its provider, so that Placement leaves the host out.
    const NameId trait = world_.names.id("COMPUTE_STATUS_DISABLED");
    if (host.provider->has_trait(trait) != disabled) {
        std::vector<NameId> traits = host.provider->traits;
        if (disabled)
            traits.push_back(trait);
        else
            std::erase(traits, trait);
        world_.placement.set_traits(*host.provider, std::move(traits));
    }
    tell_service(world_, host, by);
}

void Lifecycle::force_down(Host& host, bool down, const ContextPtr& by) {
    host.forced_down = down;
    tell_service(world_, host, by);
}

void Lifecycle::release(Host& host) {
    host.held = false;
    const std::vector<Uuid> waiting = std::move(host.held_back);
    host.held_back.clear();
    for (const Uuid& id : waiting)
        if (Server* server = world_.nova.find_server(id))
            erase(*server, compute_publisher(host), world_.own_context(*server));
}

Aggregate& Lifecycle::create_aggregate(const std::string& name, const std::string& zone,
                                       const ContextPtr& by) {
    auto made = std::make_unique<Aggregate>();
    made->id = world_.rng.uuid();
    made->name = name;
    if (!zone.empty()) made->metadata["availability_zone"] = zone;
    tell_aggregate(world_, "create.start", *made, by);
    made->number = ++world_.nova.last_aggregate;
    made->created = to_seconds(world_.clock.now());
    world_.nova.aggregates.push_back(std::move(made));
    Aggregate& aggregate = *world_.nova.aggregates.back();
    tell_aggregate(world_, "create.end", aggregate, by);
    return aggregate;
}

void Lifecycle::delete_aggregate(Aggregate& aggregate, const ContextPtr& by) {
    tell_aggregate(world_, "delete.start", aggregate, by);
    tell_aggregate(world_, "delete.end", aggregate, by);
    std::erase_if(world_.nova.aggregates,
                  [&](const auto& each) { return each.get() == &aggregate; });
}

void Lifecycle::sync_zone(Host& host) {
    host.zone = world_.nova.zone_of(host);
}

void Lifecycle::add_to_aggregate(Aggregate& aggregate, Host& host, const ContextPtr& by) {
    tell_aggregate(world_, "add_host.start", aggregate, by);
    aggregate.hosts.push_back(host.name);
    std::vector<Uuid> ids = host.provider->aggregates;
    ids.push_back(aggregate.id);
    world_.placement.set_aggregates(*host.provider, std::move(ids), true);
    sync_zone(host);
    tell_aggregate(world_, "add_host.end", aggregate, by);
}

void Lifecycle::remove_from_aggregate(Aggregate& aggregate, Host& host, const ContextPtr& by) {
    tell_aggregate(world_, "remove_host.start", aggregate, by);
    std::erase(aggregate.hosts, host.name);
    std::vector<Uuid> ids = host.provider->aggregates;
    std::erase(ids, aggregate.id);
    world_.placement.set_aggregates(*host.provider, std::move(ids), true);
    sync_zone(host);
    tell_aggregate(world_, "remove_host.end", aggregate, by);
}

void Lifecycle::set_aggregate_metadata(
    Aggregate& aggregate, const std::map<std::string, std::optional<std::string>>& changes,
    const ContextPtr& by) {
    tell_aggregate(world_, "update_metadata.start", aggregate, by);
    for (const auto& [key, value] : changes) {
        if (value)
            aggregate.metadata[key] = *value;
        else
            aggregate.metadata.erase(key);
    }
    aggregate.updated = to_seconds(world_.clock.now());
    for (const std::string& name : aggregate.hosts)
        if (Host* host = world_.nova.find_host(name)) sync_zone(*host);
    tell_aggregate(world_, "update_metadata.end", aggregate, by);
}

}  // namespace reaper::cloudsim
