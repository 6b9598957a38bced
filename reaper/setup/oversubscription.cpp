#include "reaper/setup/oversubscription.hpp"

#include <algorithm>
#include <utility>

#include "reaper/model/res_type.hpp"

namespace reaper {
namespace {

using Kind = SlotStep::Kind;
using Flavors = std::map<std::string, Flavor>;

Flavor example_flavor(const ResourceClass& room_class, const std::string& size, Amount vcpus) {
    Flavor flavor;
    flavor.name = "revocable." + size;
    flavor.vcpus = vcpus;
    flavor.memory_mb = 2048 * vcpus;
    flavor.root_gb = 10 * vcpus;
    flavor.extra_specs = {{"resources:" + stands_for(room_class).str(), "0"},
                          {"resources_revocable:" + room_class.str(), std::to_string(vcpus)}};
    return flavor;
}

/// A server of the flavor gets a smaller share of the CPU, or less of it: the operator wants that.
bool is_quota(const std::string& extra_spec) {
    return extra_spec.starts_with("quota:");
}

/// One of ours, with whatever quotas an operator gave it.
bool is_ours(Flavor found, const Flavor& wanted) {
    std::erase_if(found.extra_specs, [](const auto& each) { return is_quota(each.first); });
    return found == wanted;
}

const Flavors::value_type* of_its_name(const Flavors& flavors, const std::string& name) {
    const auto at =
        std::ranges::find_if(flavors, [&](const auto& each) { return each.second.name == name; });
    return at == flavors.end() ? nullptr : &*at;
}

SlotStep flavor_step(Kind kind, const std::string& name, std::string why = {}) {
    SlotStep step;
    step.kind = kind;
    step.name = name;
    step.why = std::move(why);
    return step;
}

SlotStep flavor_to_set_up(const Flavors& flavors, const Flavor& wanted) {
    const auto* const found = of_its_name(flavors, wanted.name);
    if (found == nullptr) return flavor_step(Kind::create_flavor, wanted.name);
    SlotStep step = flavor_step(Kind::keep, wanted.name);
    step.flavor = found->first;
    if (is_ours(found->second, wanted)) return step;
    step.kind = Kind::refuse;
    step.why = "a flavor of that name has other numbers or properties: " + found->first;
    return step;
}

SlotStep flavor_to_undo(const RoomView& view, const Flavors::value_type& found,
                        const Flavor& wanted) {
    SlotStep step = flavor_step(Kind::remove_flavor, wanted.name);
    step.flavor = found.first;
    if (!is_ours(found.second, wanted))
        step.why = "its numbers or properties differ from ours";
    else if (view.in_use.contains(wanted.name))
        step.why = "servers have it";
    if (!step.why.empty()) step.kind = Kind::refuse;
    return step;
}

SlotStep provider_to_set_up(const SlotView& slots, const SlotHost& host,
                            const std::map<HostId, ProviderRecord>& known,
                            const ResourceClass& room_class) {
    SlotStep step = new_provider_step(slots, host, room_class);
    const auto at = known.find(host.id);
    if (at == known.end()) return step;
    step.kind = Kind::keep;
    step.provider = at->second.id;
    step.why.clear();
    if (const auto state = slots.states.find(at->second.id); state != slots.states.end()) {
        const auto inventory = state->second.inventories.find(room_class);
        if (inventory != state->second.inventories.end()) step.from = inventory->second.total;
    }
    step.to = step.from;
    return step;
}

}  // namespace

std::vector<Flavor> example_flavors(const ResourceClass& room_class) {
    return {example_flavor(room_class, "small", 1), example_flavor(room_class, "medium", 2)};
}

bool asks_for(const Flavor& flavor, const ResourceClass& room_class) {
    const std::string end = ":" + room_class.str();
    return std::ranges::any_of(flavor.extra_specs, [&](const auto& each) {
        return each.first.starts_with("resources") && each.first.ends_with(end) &&
               each.second != "0";
    });
}

std::vector<SlotStep> room_to_set_up(const RoomView& view, const ResourceClass& room_class) {
    const SlotView& slots = view.slots;
    std::vector<SlotStep> steps{
        class_step(slots.class_exists ? Kind::keep : Kind::create_class, room_class)};
    const auto known = slot_providers(slots.hosts, slots.providers, room_class);
    for (const auto& host : slots.hosts)
        steps.push_back(provider_to_set_up(slots, host, known, room_class));
    for (const auto& wanted : example_flavors(room_class))
        steps.push_back(flavor_to_set_up(view.flavors, wanted));
    return steps;
}

std::vector<SlotStep> room_to_undo(const RoomView& view, const ResourceClass& room_class) {
    std::vector<SlotStep> steps;
    for (const auto& wanted : example_flavors(room_class))
        if (const auto* const found = of_its_name(view.flavors, wanted.name))
            steps.push_back(flavor_to_undo(view, *found, wanted));
    for (auto& step : slots_to_undo(view.slots, room_class)) steps.push_back(std::move(step));
    return steps;
}

}  // namespace reaper
