#include "reaper/cli/setup/setup_slots.hpp"

#include <algorithm>
#include <fnmatch.h>
#include <set>
#include <utility>

#include "reaper/cloud_reader/cloud_lists.hpp"
#include "reaper/model/natural_order.hpp"
#include "reaper/model/text.hpp"
#include "reaper/reservations/reservation_record.hpp"

namespace reaper::cli {
namespace {

using Kind = SlotStep::Kind;

/// The compute hosts: hypervisors with a root provider of their own.
std::vector<SlotHost> hosts_of(const std::vector<HypervisorRecord>& hypervisors,
                               const std::vector<ProviderRecord>& providers,
                               const HostChoice& choice) {
    std::set<ProviderId> roots;
    for (const auto& provider : providers)
        if (provider.parent.empty()) roots.insert(provider.id);
    std::vector<SlotHost> hosts;
    for (const auto& hypervisor : hypervisors)
        if (roots.contains(hypervisor.id) && choice.takes(hypervisor))
            hosts.push_back(SlotHost{hypervisor.id, hypervisor.name, {}});
    std::sort(hosts.begin(), hosts.end(), [](const SlotHost& a, const SlotHost& b) {
        if (natural_less(a.name, b.name)) return true;
        return !natural_less(b.name, a.name) && a.id < b.id;
    });
    return hosts;
}

ResultTask<void> create_provider(PlacementSetup& setup, SlotStep& step, ResourceClass slot_class) {
    std::string name = step.name;
    if (step.root.empty()) {
        auto done = co_await setup.create_root(std::move(name), step.provider);
        if (!done) co_return done.error();
        co_return co_await setup.set_total(step.provider, std::move(slot_class), step.to);
    }
    HostId root = step.root;
    auto made = co_await setup.create_provider(std::move(name), std::move(root));
    if (!made) co_return made.error();
    step.provider = *made;
    if (step.to == 0) co_return Result<void>{};
    co_return co_await setup.set_total(*made, std::move(slot_class), step.to);
}

ResultTask<void> remove_provider(PlacementSetup& setup, SlotStep& step) {
    auto removed = co_await setup.remove_provider(step.provider);
    if (removed || removed.error().code != Errc::conflict) co_return removed;
    step.kind = Kind::refuse;
    step.why = "somebody holds something there by now: " + removed.error().what;
    co_return Result<void>{};
}

ResultTask<void> remove_class(PlacementSetup& setup, SlotStep& step, ResourceClass slot_class) {
    auto removed = co_await setup.remove_class(std::move(slot_class));
    if (removed || removed.error().code != Errc::conflict) co_return removed;
    step.kind = Kind::keep;
    step.why = "others use it";
    co_return Result<void>{};
}

/// A flavor without its extra specs would sell ordinary room: it does not stay.
ResultTask<void> create_flavor(FlavorSetup& setup, SlotStep& step, ResourceClass slot_class) {
    for (const auto& wanted : example_flavors(slot_class)) {
        if (wanted.name != step.name) continue;
        Flavor numbers = wanted;
        auto made = co_await setup.create_flavor(std::move(numbers));
        if (!made) co_return made.error();
        step.flavor = *made;
        std::string id = *made;
        auto specs = wanted.extra_specs;
        auto set = co_await setup.set_extra_specs(id, std::move(specs));
        if (set) co_return set;
        auto removed = co_await setup.remove_flavor(id);
        if (!removed)
            co_return Error{set.error().code,
                            set.error().what + "; flavor " + id +
                                " is without its properties, delete it: " + removed.error().what};
        co_return set;
    }
    co_return Result<void>{};
}

ResultTask<void> carry_out(Setups setup, SlotStep& step, ResourceClass slot_class) {
    switch (step.kind) {
        case Kind::create_class:
            co_return co_await setup.placement.create_class(std::move(slot_class));
        case Kind::create_provider:
            co_return co_await create_provider(setup.placement, step, std::move(slot_class));
        case Kind::set_total:
            co_return co_await setup.placement.set_total(step.provider, std::move(slot_class),
                                                         step.to);
        case Kind::remove_provider: co_return co_await remove_provider(setup.placement, step);
        case Kind::remove_class:
            co_return co_await remove_class(setup.placement, step, std::move(slot_class));
        case Kind::create_flavor:
            co_return co_await create_flavor(setup.flavors, step, std::move(slot_class));
        case Kind::remove_flavor: co_return co_await setup.flavors.remove_flavor(step.flavor);
        case Kind::keep:
        case Kind::refuse: break;
    }
    co_return Result<void>{};
}

}  // namespace

HostChoice hosts_named(const std::string& pattern) {
    return {[pattern](const HypervisorRecord& host) {
                return ::fnmatch(pattern.c_str(), host.name.c_str(), 0) == 0;
            },
            "is called '" + printable(pattern, 100) + "'"};
}

ResultTask<SlotView> read_slots(CloudPorts cloud, PlacementSetup& setup, HostChoice choice,
                                ResourceClass slot_class, bool capacities) {
    SlotView cache;
    auto exists = co_await setup.has_class(slot_class);
    if (!exists) co_return exists.error();
    cache.class_exists = *exists;
    auto hypervisors = co_await cloud.compute.hypervisors();
    if (!hypervisors) co_return hypervisors.error();
    auto providers = co_await cloud.placement.providers();
    if (!providers) co_return providers.error();
    cache.providers = std::move(*providers);
    cache.hosts = hosts_of(*hypervisors, cache.providers, choice);
    if (cache.hosts.empty())
        co_return Error{Errc::bad_input, "none of the " + std::to_string(hypervisors->size()) +
                                             " compute hosts " + choice.words};
    std::vector<ProviderId> wanted;
    for (const auto& [host, provider] : slot_providers(cache.hosts, cache.providers, slot_class))
        wanted.push_back(provider.id);
    if (capacities)
        for (const auto& host : cache.hosts) wanted.push_back(host.id);
    std::function<void(std::size_t, std::size_t)> silent;
    auto states = co_await read_providers(cloud, std::move(wanted), std::move(silent));
    if (!states) co_return states.error();
    cache.states = std::move(*states);
    for (auto& host : cache.hosts)
        if (const auto root = cache.states.find(host.id); root != cache.states.end())
            host.inventories = root->second.inventories;
    co_return cache;
}

ResultTask<RegisterView> read_register(CloudPorts cloud, PlacementSetup& setup) {
    RegisterView view;
    ResourceClass name{reservation_register::resource_class};
    auto exists = co_await setup.has_class(std::move(name));
    if (!exists) co_return exists.error();
    view.class_exists = *exists;
    auto providers = co_await cloud.placement.providers();
    if (!providers) co_return providers.error();
    view.providers = std::move(*providers);
    const ProviderRecord* const found = find_register(view.providers);
    if (found == nullptr) co_return view;
    std::vector<ProviderId> wanted;
    wanted.push_back(found->id);
    std::function<void(std::size_t, std::size_t)> silent;
    auto states = co_await read_providers(cloud, std::move(wanted), std::move(silent));
    if (!states) co_return states.error();
    const auto state = states->find(found->id);
    if (state != states->end()) view.state = std::move(state->second);
    co_return view;
}

ResultTask<void> carry_out(Setups setup, std::vector<SlotStep> steps, ResourceClass slot_class,
                           std::function<void(const SlotStep&)> done) {
    for (auto& step : steps) {
        ResourceClass name = slot_class;
        auto carried = co_await carry_out(setup, step, std::move(name));
        if (!carried) {
            const std::string where = step.host.empty() ? step.name : printable(step.host, 100);
            co_return Error{carried.error().code, where + ": " + carried.error().what};
        }
        done(step);
    }
    co_return Result<void>{};
}

}  // namespace reaper::cli
