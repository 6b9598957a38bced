// Placement's part of the small cloud.
#include <algorithm>
#include <utility>

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
    for (const auto& [id, provider] : nested)
        records.push_back({id, provider.name, provider.parent, provider.parent});
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
            const auto ratio = vcpu_ratios.find(name);
            if (ratio != vcpu_ratios.end() && resource_class == ResourceClass{"VCPU"})
                inventory.allocation_ratio = ratio->second;
        }
    }
    if (const auto below = nested.find(id); below != nested.end())
        state.inventories = below->second.inventories;
    for (const auto& [server_id, server] : servers_) {
        if (server.provider == id && !server.resources.empty())
            state.allocations[server_id] = server.resources;
        if (const auto held = server.also.find(id); held != server.also.end())
            state.allocations[server_id] = held->second;
    }
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

ProviderSummary FakeCloud::summary_of(const ProviderId& id, const FakeNested& provider) const {
    ProviderSummary summary;
    summary.id = id;
    summary.parent = summary.root = provider.parent;
    for (const auto& [name, inventory] : provider.inventories) {
        summary.capacity.set(name, inventory.capacity());
        summary.used.set(name, held_of(id, name));
    }
    return summary;
}

ResultTask<std::vector<ProviderSummary>> FakeCloud::summaries(ResourceClass resource_class) {
    co_await breathe();
    if (auto error = note("summaries " + resource_class.str())) co_return *error;
    std::vector<ProviderSummary> summaries;
    for (const auto& [name, host] : hosts_) {
        ProviderSummary summary;
        summary.id = summary.root = host.id;
        summary.capacity = host.capacity;
        if (const auto ratio = vcpu_ratios.find(name); ratio != vcpu_ratios.end()) {
            const ResourceClass vcpu{"VCPU"};
            summary.capacity.set(vcpu, host.capacity.get(vcpu) * ratio->second);
        }
        if (const auto known = traits.find(name); known != traits.end())
            summary.traits = known->second;
        for (const auto& [id, server] : servers_)
            if (server.provider == host.id) summary.used += server.resources;
        if (summary.capacity.get(resource_class) <= summary.used.get(resource_class)) continue;
        summaries.push_back(std::move(summary));
        for (const auto& [id, provider] : nested)
            if (provider.parent == host.id) summaries.push_back(summary_of(id, provider));
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
    if (const auto below = nested.find(change.provider); below != nested.end()) {
        const auto at = below->second.inventories.find(change.resource_class);
        if (at != below->second.inventories.end()) {
            ReservedAnswer answer;
            answer.found = at->second;
            answer.done = at->second.reserved == change.to || at->second.reserved == change.from;
            if (answer.done) at->second.reserved = change.to;
            co_return answer;
        }
    }
    co_return Error{Errc::not_found, "placement: no such inventory"};
}

Amount FakeCloud::held_of(const ProviderId& id, const ResourceClass& resource_class) const {
    Amount held = 0;
    for (const auto& [server_id, server] : servers_)
        if (const auto at = server.also.find(id); at != server.also.end())
            held += at->second.get(resource_class);
    for (const auto& [consumer_id, consumer] : consumers)
        if (const auto at = consumer.holds.find(id); at != consumer.holds.end())
            held += at->second.get(resource_class);
    return held;
}

ResultTask<TotalAnswer> FakeCloud::change_total(TotalChange change, Duration) {
    co_await breathe();
    const std::string& name = change.resource_class.str();
    if (auto error =
            note("total " + change.provider.str() + " " + name + " " + std::to_string(change.to)))
        co_return *error;
    const auto below = nested.find(change.provider);
    if (below == nested.end()) co_return Error{Errc::not_found, "placement: no such provider"};
    auto& inventories = below->second.inventories;
    const auto at = inventories.find(change.resource_class);
    TotalAnswer answer;
    if (at != inventories.end()) answer.found = at->second;
    answer.done = answer.found.total == change.to &&
                  (change.to == 0 || (answer.found.min_unit == change.min_unit &&
                                      answer.found.allocation_ratio == 1.0));
    if (answer.done || answer.found.total != change.from) co_return answer;
    if (change.to == 0 && held_of(change.provider, change.resource_class) > 0)
        co_return Error{Errc::conflict, "placement: the inventory is in use"};
    if (change.to == 0) {
        inventories.erase(at);
    } else {
        inventories[change.resource_class] = inventory_after(change, answer.found);
    }
    ++below->second.generation;
    answer.done = true;
    co_return answer;
}

ResultTask<ProviderId> FakeCloud::create_provider(std::string name, ProviderId parent, Duration) {
    co_await breathe();
    if (auto error = note("create provider " + name)) co_return *error;
    for (const auto& [id, provider] : nested) {
        if (provider.name != name) continue;
        if (provider.parent == parent) co_return id;
        co_return Error{Errc::conflict, "placement: there is a provider of that name"};
    }
    const ProviderId id{"rp-" + name};
    nested.emplace(id, FakeNested{std::move(name), std::move(parent)});
    co_return id;
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
    co_return consumer_now(consumer).holds;
}

ResultTask<Consumer> FakeCloud::consumer(ServerId id) {
    co_await breathe();
    if (auto error = note("allocations " + id.str())) co_return *error;
    settle();
    co_return consumer_now(id);
}

Consumer FakeCloud::consumer_now(const ServerId& id) const {
    if (const auto known = consumers.find(id); known != consumers.end()) return known->second;
    Consumer consumer;
    const auto server = servers_.find(id);
    if (server == servers_.end()) return consumer;
    if (!server->second.resources.empty())
        consumer.holds[server->second.provider] = server->second.resources;
    consumer.holds.insert(server->second.also.begin(), server->second.also.end());
    if (consumer.holds.empty()) return consumer;
    // Another one with each change.
    consumer.generation = 1;
    for (const auto& [provider, amounts] : consumer.holds)
        for (const auto& [name, amount] : amounts) *consumer.generation += amount;
    consumer.project = server->second.record.server.project.str();
    consumer.user = "alice";
    consumer.type = "unknown";
    return consumer;
}

std::optional<ProviderId> FakeCloud::full_for(const std::vector<ConsumerChange>& changes) const {
    std::map<ProviderId, Resources> named;
    for (const auto& change : changes)
        for (const auto& [provider, amounts] : change.wanted.holds) named[provider] += amounts;
    for (const auto& [provider, wanted] : named) {
        const ProviderState state = state_of(provider);
        if (state.inventories.empty()) continue;  // none of this cloud
        Resources held = wanted;
        for (const auto& [id, amounts] : state.allocations) {
            const auto is_it = [&id = id](const ConsumerChange& each) { return each.id == id; };
            if (std::none_of(changes.begin(), changes.end(), is_it)) held += amounts;
        }
        for (const auto& [name, amount] : wanted) {
            const auto there = state.inventories.find(name);
            if (there == state.inventories.end() || amount < there->second.min_unit ||
                held.get(name) > there->second.capacity())
                return provider;
        }
    }
    return std::nullopt;
}

ResultTask<void> FakeCloud::set_holdings(std::vector<ConsumerChange> changes, Duration) {
    co_await breathe();
    std::string named = "holdings";
    for (const auto& change : changes)
        named += " " + change.id.str() + (change.wanted.holds.empty() ? ":none" : "");
    if (auto error = note(named)) co_return *error;
    settle();
    for (const auto& change : changes)
        if (consumer_now(change.id).generation != change.wanted.generation)
            co_return Error{Errc::conflict, "placement: another generation"};
    if (const auto full = full_for(changes))
        co_return Error{Errc::conflict, "placement: no room on " + full->str()};
    for (auto& [id, wanted] : changes) {
        consumers.erase(id);
        if (const auto server = servers_.find(id); server != servers_.end()) {
            FakeServer& known = server->second;
            known.resources = std::exchange(wanted.holds[known.provider], {});
            wanted.holds.erase(known.provider);
            known.also = std::move(wanted.holds);
        } else if (!wanted.holds.empty()) {
            wanted.generation = wanted.generation.value_or(0) + 1;
            consumers.emplace(id, std::move(wanted));
        }
    }
    if (lost_answer) co_return *lost_answer;
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
