#include "reaper/oversubscription/inventory_plan.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "reaper/setup/slots.hpp"

namespace reaper {
namespace {

using Kind = InventoryStep::Kind;

class InventoryPlanner {
public:
    InventoryPlanner(const std::vector<ProviderRecord>& providers, const ResourceClass& room_class)
        : room_class_{room_class} {
        for (const auto& provider : providers) by_name_.emplace(provider.name, &provider);
    }

    InventoryStep step(const WantedRoom& host) {
        InventoryStep step;
        step.host = host.id;
        step.name = slot_provider_name(host.name, room_class_);
        step.to = std::max<Amount>(host.total, 0);
        const auto ours = std::ranges::find_if(host.nested, [&](const Provider& each) {
            return each.name == step.name && each.parent == host.id;
        });
        if (!planned_.insert(step.name).second)
            return refused(step, "another host has the same name");
        if (ours != host.nested.end()) return for_known(std::move(step), *ours, host.closed);
        return for_new(std::move(step), host);
    }

private:
    static InventoryStep refused(InventoryStep step, std::string why) {
        step.kind = Kind::refuse;
        step.why = std::move(why);
        return step;
    }

    InventoryStep for_new(InventoryStep step, const WantedRoom& host) {
        if (step.to == 0) return step;
        const auto other = by_name_.find(step.name);
        if (other != by_name_.end()) {
            step.provider = other->second->id;
            std::string why =
                other->second->parent == host.id
                    ? "its provider is new and has not been read yet"
                    : "there is a provider of that name elsewhere: " + step.provider.str();
            return refused(std::move(step), std::move(why));
        }
        step.kind = Kind::create_provider;
        return step;
    }

    InventoryStep for_known(InventoryStep step, const Provider& ours, bool closed) const {
        step.provider = ours.id;
        for (const auto& [other, inventory] : ours.inventories)
            if (other != room_class_)
                return refused(std::move(step), "it has an inventory of " + other.str() + " too");
        const Amount used = ours.used.get(room_class_);
        if (step.to == 0 && used > 0) {
            step.to = 1;
            closed = true;
        }
        step.min_unit = closed ? closed_min_unit : 1;
        if (used > 0 && (used > step.to || closed))
            step.why = std::to_string(used) + " are in use: no new one until these are fewer";
        const auto found = ours.inventories.find(room_class_);
        if (found == ours.inventories.end()) {
            if (step.to > 0) step.kind = Kind::set_total;
            return step;
        }
        return for_found(std::move(step), found->second);
    }

    static InventoryStep for_found(InventoryStep step, const Inventory& found) {
        step.from = found.total;
        if (step.to == 0)
            step.kind = Kind::remove_inventory;
        else if (!is_inventory_of(found, step.to, step.min_unit))
            step.kind = Kind::set_total;
        return step;
    }

    const ResourceClass& room_class_;
    std::map<std::string, const ProviderRecord*> by_name_;
    std::set<std::string> planned_;
};

}  // namespace

bool is_inventory_of(const Inventory& found, Amount total, Amount min_unit) {
    return found.total == total && found.min_unit == min_unit && found.allocation_ratio == 1.0;
}

Amount published_room(const Inventory& inventory) {
    return inventory.min_unit > inventory.total ? 0 : inventory.total;
}

std::vector<InventoryStep> inventory_plan(const std::vector<WantedRoom>& hosts,
                                          const std::vector<ProviderRecord>& providers,
                                          const ResourceClass& room_class) {
    InventoryPlanner planner{providers, room_class};
    std::vector<InventoryStep> steps;
    steps.reserve(hosts.size());
    for (const auto& host : hosts) steps.push_back(planner.step(host));
    return steps;
}

}  // namespace reaper
