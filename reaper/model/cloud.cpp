#include "reaper/model/cloud.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace reaper {
namespace {

/// The root of an Ironic node has one unit of a custom class, and none of a hypervisor's classes.
bool is_bare_metal(const Provider& provider, const ResourceClass& resource_class,
                   const Inventory& inventory) {
    static const ResourceClass of_hypervisors[]{ResourceClass{"VCPU"}, ResourceClass{"PCPU"},
                                                ResourceClass{"MEMORY_MB"}};
    return provider.parent.empty() && inventory.total == 1 &&
           resource_class.str().starts_with("CUSTOM_") &&
           std::none_of(
               std::begin(of_hypervisors), std::end(of_hypervisors),
               [&](const ResourceClass& name) { return provider.inventories.contains(name); });
}

/// `int(amount * ratio)`, in double precision.
Amount times(Amount amount, double ratio) {
    const double exact = static_cast<double>(amount) * ratio;
    if (!(exact > 0)) return 0;
    if (exact >= static_cast<double>(std::numeric_limits<Amount>::max()))
        return std::numeric_limits<Amount>::max();
    return static_cast<Amount>(std::floor(exact));
}

}  // namespace

Amount Inventory::capacity() const {
    // Its searches calculate in the database, where MySQL and MariaDB keep the ratio in single
    // precision: 1.4 as 1.39999998, so that 111 of 80 * 1.4 are found.
    constexpr double most = std::numeric_limits<float>::max();
    const double searched = static_cast<float>(std::min(allocation_ratio, most));
    return times(total - reserved, std::min(allocation_ratio, searched));
}

Amount Inventory::shown_capacity() const {
    return times(total - reserved, allocation_ratio);
}

Amount Provider::capacity(const ResourceClass& resource_class) const {
    const auto at = inventories.find(resource_class);
    return at == inventories.end() ? 0 : capacity(resource_class, at->second);
}

Amount Provider::capacity(const ResourceClass& resource_class, const Inventory& inventory) const {
    static const Trait one_time_use{"HW_PCI_ONE_TIME_USE"};
    const bool reserved = inventory.reserved >= inventory.total;
    const bool in_use = used.get(resource_class) > 0;
    if (reserved && in_use && is_bare_metal(*this, resource_class, inventory)) {
        Inventory without = inventory;
        without.reserved = 0;
        return without.capacity();
    }
    if (in_use && !traits.empty() && traits.contains(one_time_use)) return 0;
    return inventory.capacity();
}

Resources Server::resources() const {
    Resources sum;
    for (const auto& [provider, held] : allocations) sum += held;
    return sum;
}

Resources sum_of(const Allocations& allocations) {
    Resources sum;
    for (const auto& each : allocations) sum += each.second;
    return sum;
}

Resources held_on(const Server& server, const Host& host) {
    Resources held;
    for (const auto& provider : host.providers)
        if (const auto at = server.allocations.find(provider.id); at != server.allocations.end())
            held += at->second;
    return held;
}

}  // namespace reaper
