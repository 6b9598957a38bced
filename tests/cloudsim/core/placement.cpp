#include "tests/cloudsim/core/placement.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace reaper::cloudsim {

namespace {

constexpr const char* concurrent = "placement.concurrent_update";

Refusal in_use(const std::string& classes, const Provider& provider) {
    return {409,
            "update conflict: Inventory for '" + classes + "' on resource provider '" +
                provider.uuid.text() + "' in use.",
            "placement.inventory.inuse"};
}

void put_room(Provider& provider, NameId resource_class, const Inventory& inventory) {
    if (Room* room = provider.room(resource_class))
        room->inventory = inventory;
    else
        provider.rooms.push_back({resource_class, inventory, 0});
}

}  // namespace

Placement::Placement(Names& names) : names_(names) {
    for (const char* name : {"VCPU",
                             "MEMORY_MB",
                             "DISK_GB",
                             "PCI_DEVICE",
                             "SRIOV_NET_VF",
                             "NUMA_SOCKET",
                             "NUMA_CORE",
                             "NUMA_THREAD",
                             "NUMA_MEMORY_MB",
                             "IPV4_ADDRESS",
                             "VGPU",
                             "VGPU_DISPLAY_HEAD",
                             "NET_BW_EGR_KILOBIT_PER_SEC",
                             "NET_BW_IGR_KILOBIT_PER_SEC",
                             "PCPU",
                             "MEM_ENCRYPTION_CONTEXT",
                             "FPGA",
                             "PGPU",
                             "NET_PACKET_RATE_KILOPACKET_PER_SEC",
                             "NET_PACKET_RATE_EGR_KILOPACKET_PER_SEC",
                             "NET_PACKET_RATE_IGR_KILOPACKET_PER_SEC"})
        classes_.emplace_back(name);
    for (const char* name :
         {"COMPUTE_VOLUME_ATTACH_WITH_TAG", "COMPUTE_TRUSTED_CERTS", "COMPUTE_DEVICE_TAGGING",
          "COMPUTE_NODE", "COMPUTE_NET_ATTACH_INTERFACE", "COMPUTE_ACCELERATORS",
          "COMPUTE_VOLUME_EXTEND", "COMPUTE_VOLUME_MULTI_ATTACH",
          "COMPUTE_NET_ATTACH_INTERFACE_WITH_TAG", "COMPUTE_IMAGE_TYPE_RAW",
          "COMPUTE_STATUS_DISABLED", "HW_CPU_X86_AVX", "HW_CPU_X86_AVX2", "HW_CPU_X86_SSE",
          "HW_CPU_X86_VMX", "HW_CPU_HYPERTHREADING", "STORAGE_DISK_SSD", "STORAGE_DISK_HDD",
          "MISC_SHARES_VIA_AGGREGATE"})
        traits_.emplace_back(name);
}

Provider* Placement::find(const Uuid& uuid) const {
    const auto found = providers_.find(uuid);
    return found == providers_.end() ? nullptr : found->second.get();
}

Provider* Placement::find_name(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
}

Outcome Placement::create_provider(const Uuid& uuid, const std::string& name, Provider* parent) {
    std::string duplicate;
    if (find(uuid)) duplicate = "uuid: " + uuid.text();
    if (find_name(name)) duplicate += (duplicate.empty() ? "name: " : ", name: ") + name;
    if (!duplicate.empty())
        return Refusal{409, "Conflicting resource provider " + duplicate + " already exists.",
                       "placement.duplicate_name"};
    auto made = std::make_unique<Provider>();
    made->uuid = uuid;
    made->name = name;
    made->parent = parent;
    made->root = parent ? parent->root : made.get();
    if (parent) parent->children.push_back(made.get());
    order_.push_back(made.get());
    by_name_[name] = made.get();
    providers_[uuid] = std::move(made);
    return {};
}

Outcome Placement::delete_provider(Provider& provider) {
    const std::string id = provider.uuid.text();
    if (!provider.children.empty())
        return Refusal{409,
                       "Unable to delete parent resource provider " + id +
                           ": It has child resource providers.",
                       "placement.resource_provider.cannot_delete_parent"};
    if (!provider.consumers.empty())
        return Refusal{
            409,
            "Unable to delete resource provider " + id + ": Resource provider has allocations.",
            "placement.resource_provider.inuse"};
    if (provider.parent) std::erase(provider.parent->children, &provider);
    std::erase(order_, &provider);
    by_name_.erase(provider.name);
    providers_.erase(Uuid(provider.uuid));
    return {};
}

Outcome Placement::rename(Provider& provider, const std::string& name) {
    if (name == provider.name) return {};
    if (find_name(name))
        return Refusal{409, "Conflicting resource provider " + name + " already exists.",
                       "placement.duplicate_name"};
    by_name_.erase(provider.name);
    provider.name = name;
    by_name_[name] = &provider;
    ++provider.generation;
    return {};
}

Outcome Placement::set_inventories(Provider& provider,
                                   const std::map<NameId, Inventory>& inventories,
                                   std::int64_t generation) {
    if (generation != provider.generation)
        return Refusal{409, "resource provider generation conflict", concurrent};
    std::string kept;
    for (const Room& room : provider.rooms)
        if (room.used > 0 && !inventories.contains(room.resource_class))
            kept += (kept.empty() ? "" : ", ") + names_.text(room.resource_class);
    if (!kept.empty()) return in_use(kept, provider);
    std::erase_if(provider.rooms,
                  [&](const Room& room) { return !inventories.contains(room.resource_class); });
    for (const auto& [resource_class, inventory] : inventories)
        put_room(provider, resource_class, inventory);
    ++provider.generation;
    return {};
}

Outcome Placement::set_inventory(Provider& provider, NameId resource_class,
                                 const Inventory& inventory) {
    put_room(provider, resource_class, inventory);
    ++provider.generation;
    return {};
}

Outcome Placement::delete_inventory(Provider& provider, NameId resource_class) {
    const Room* room = provider.room(resource_class);
    const std::string& name = names_.text(resource_class);
    if (!room)
        return Refusal{404, "No inventory of class " + name +
                                " found for delete: No inventory of class " + name + " found."};
    if (room->used > 0) {
        Refusal refusal = in_use(name, provider);
        refusal.code = concurrent;
        return refusal;
    }
    std::erase_if(provider.rooms,
                  [&](const Room& each) { return each.resource_class == resource_class; });
    ++provider.generation;
    return {};
}

void Placement::set_traits(Provider& provider, std::vector<NameId> traits) {
    provider.traits = std::move(traits);
    ++provider.generation;
}

void Placement::set_aggregates(Provider& provider, std::vector<Uuid> aggregates, bool bump) {
    provider.aggregates = std::move(aggregates);
    if (bump) ++provider.generation;
}

namespace {

bool contains(const std::vector<std::string>& all, const std::string& name) {
    return std::find(all.begin(), all.end(), name) != all.end();
}

bool add(std::vector<std::string>& all, const std::string& name) {
    if (contains(all, name)) return false;
    all.push_back(name);
    return true;
}

}  // namespace

bool Placement::knows_class(const std::string& name) const {
    return contains(classes_, name);
}
bool Placement::knows_trait(const std::string& name) const {
    return contains(traits_, name);
}
bool Placement::add_class(const std::string& name) {
    return add(classes_, name);
}
bool Placement::add_trait(const std::string& name) {
    return add(traits_, name);
}
bool Placement::remove_class(const std::string& name) {
    return std::erase(classes_, name) > 0;
}
bool Placement::remove_trait(const std::string& name) {
    return std::erase(traits_, name) > 0;
}

}  // namespace reaper::cloudsim
