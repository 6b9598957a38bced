// Placement's part of the small cloud.
#include <algorithm>

#include "fakes/breathe.hpp"
#include "fakes/fake_cloud.hpp"

namespace reaper::test {

ResultTask<std::set<ResourceClass>> FakeCloud::resource_classes() {
    co_await breathe();
    if (auto error = note("resource classes")) co_return *error;
    std::set<ResourceClass> all;
    for (const auto& name : classes) all.emplace(name);
    co_return all;
}

ResultTask<std::vector<ProviderRecord>> FakeCloud::providers() {
    co_await breathe();
    if (auto error = note("providers")) co_return *error;
    std::vector<ProviderRecord> records;
    for (const auto& [name, host] : hosts_) {
        ProviderRecord record;
        record.id = host.id;
        record.name = name;
        record.root = host.id;
        records.push_back(record);
    }
    co_return records;
}

ProviderState FakeCloud::state_of(const ProviderId& id) const {
    ProviderState state;
    for (const auto& [name, host] : hosts_) {
        if (host.id != id) continue;
        if (const auto known = traits.find(name); known != traits.end())
            state.traits = known->second;
        for (const auto& [resource_class, total] : host.capacity) {
            Inventory& inventory = state.inventories[resource_class];
            inventory.total = total;
            const auto kept = reserved.find({name, resource_class.str()});
            if (kept != reserved.end()) inventory.reserved = kept->second;
        }
    }
    for (const auto& [server_id, server] : servers_)
        if (server.provider == id && !server.resources.empty())
            state.allocations[server_id] = server.resources;
    for (const auto& [consumer_id, consumer] : consumers)
        if (const auto held = consumer.holds.find(id); held != consumer.holds.end())
            state.allocations[consumer_id] = held->second;
    return state;
}

ResultTask<ProviderState> FakeCloud::provider(ProviderId id) {
    co_await breathe();
    if (auto error = note("provider " + id.str())) co_return *error;
    co_return state_of(id);
}

ResultTask<ProviderState> FakeCloud::room(ProviderId id) {
    co_await breathe();
    if (auto error = note("room " + id.str())) co_return *error;
    co_return state_of(id);
}

ResultTask<std::vector<ProviderSummary>> FakeCloud::summaries(ResourceClass resource_class) {
    co_await breathe();
    if (auto error = note("summaries " + resource_class.str())) co_return *error;
    std::vector<ProviderSummary> summaries;
    for (const auto& [name, host] : hosts_) {
        ProviderSummary summary;
        summary.id = summary.root = host.id;
        summary.capacity = host.capacity;
        if (const auto known = traits.find(name); known != traits.end())
            summary.traits = known->second;
        for (const auto& [id, server] : servers_)
            if (server.provider == host.id) summary.used += server.resources;
        if (summary.capacity.get(resource_class) > summary.used.get(resource_class))
            summaries.push_back(std::move(summary));
    }
    co_return summaries;
}

ResultTask<ReservedAnswer> FakeCloud::change_reserved(ReservedChange change, Duration) {
    co_await breathe();
    const std::string& name = change.resource_class.str();
    if (auto error =
            note("reserve " + change.provider.str() + " " + name + " " + std::to_string(change.to)))
        co_return *error;
    for (const auto& [host_name, host] : hosts_) {
        if (host.id != change.provider || host.capacity.get(change.resource_class) == 0) continue;
        ReservedAnswer answer;
        answer.found = state_of(host.id).inventories.at(change.resource_class);
        Amount& kept = reserved[{host_name, name}];
        answer.done = kept == change.to || kept == change.from;
        if (answer.done) kept = change.to;
        co_return answer;
    }
    co_return Error{Errc::not_found, "placement: no such inventory"};
}

ResultTask<std::set<std::string>> FakeCloud::aggregates(ProviderId id) {
    co_await breathe();
    if (auto error = note("aggregates of " + id.str())) co_return *error;
    std::set<std::string> uuids;
    for (const auto& [name, host] : hosts_)
        for (const auto& aggregate : host_aggregates)
            if (host.id == id && !not_mirrored.contains(name) &&
                std::count(aggregate.hosts.begin(), aggregate.hosts.end(), name) > 0)
                uuids.insert(aggregate.uuid);
    co_return uuids;
}

ResultTask<Allocations> FakeCloud::allocations(ServerId consumer) {
    co_await breathe();
    if (auto error = note("allocations " + consumer.str())) co_return *error;
    Allocations held;
    const auto found = servers_.find(consumer);
    if (found != servers_.end() && !found->second.resources.empty())
        held[found->second.provider] = found->second.resources;
    co_return held;
}

ResultTask<Consumer> FakeCloud::consumer(ServerId id) {
    co_await breathe();
    if (auto error = note("consumer " + id.str())) co_return *error;
    settle();
    co_return consumer_now(id);
}

Consumer FakeCloud::consumer_now(const ServerId& id) const {
    if (const auto known = consumers.find(id); known != consumers.end()) return known->second;
    Consumer consumer;
    const auto server = servers_.find(id);
    if (server == servers_.end() || server->second.resources.empty()) return consumer;
    consumer.holds[server->second.provider] = server->second.resources;
    consumer.generation = 1;
    consumer.project = server->second.record.server.project.str();
    consumer.user = "somebody";
    consumer.type = "unknown";
    return consumer;
}

ResultTask<void> FakeCloud::set_holdings(std::vector<ConsumerChange> changes, Duration) {
    co_await breathe();
    std::string named = "holdings";
    for (const auto& change : changes)
        named += " " + change.id.str() + (change.wanted.holds.empty() ? ":none" : "");
    if (auto error = note(named)) co_return *error;
    settle();
    std::map<HostId, Resources> more;
    for (const auto& change : changes) {
        const Consumer now = consumer_now(change.id);
        if (now.generation != change.wanted.generation)
            co_return Error{Errc::conflict, "placement: another generation"};
        for (const auto& [provider, amounts] : change.wanted.holds) more[provider] += amounts;
        for (const auto& [provider, amounts] : now.holds) more[provider] -= amounts;
    }
    for (const auto& [name, host] : hosts_)
        if (more.contains(host.id) && !more.at(host.id).fits_in(free_on(name)))
            co_return Error{Errc::conflict, "placement: no room on " + name};
    for (auto& [id, wanted] : changes) {
        consumers.erase(id);
        if (const auto server = servers_.find(id); server != servers_.end()) {
            server->second.resources = {};
            if (!wanted.holds.empty()) server->second.resources = wanted.holds.begin()->second;
        } else if (!wanted.holds.empty()) {
            wanted.generation = wanted.generation.value_or(0) + 1;
            consumers.emplace(id, std::move(wanted));
        }
    }
    co_return Result<void>{};
}

ResultTask<Resources> FakeCloud::usage_of(std::string project) {
    co_await breathe();
    if (auto error = note("usage of " + project)) co_return *error;
    Resources sum;
    for (const auto& [id, consumer] : consumers)
        for (const auto& [provider, amounts] : consumer.holds)
            if (consumer.project == project) sum += amounts;
    co_return sum;
}

}  // namespace reaper::test
