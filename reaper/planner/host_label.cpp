#include "reaper/planner/host_label.hpp"

#include <algorithm>

namespace reaper {
namespace {

const ResourceClass shared_cpu{"VCPU"};
const ResourceClass pinned_cpu{"PCPU"};
const ResourceClass memory{"MEMORY_MB"};

/// Of all providers together.
struct Room {
    Resources capacity;
    Resources offered;  ///< of inventories that could give a consumer any of it
    Resources used;
    ResourceClasses inventoried;
};

/// Does the capacity hold the least amount that its units allow?
bool gives_some(const Inventory& inventory, Amount capacity) {
    const Amount step = std::max<Amount>(inventory.step_size, 1);
    const Amount least = (std::max<Amount>(inventory.min_unit, 1) + step - 1) / step * step;
    return inventory.allows(least) && least <= capacity;
}

Room room_on(const Host& host) {
    Room room;
    for (const auto& provider : host.providers) {
        for (const auto& [resource_class, inventory] : provider.inventories) {
            const Amount capacity = provider.capacity(resource_class, inventory);
            room.inventoried.insert(resource_class);
            room.capacity.add(resource_class, capacity);
            if (gives_some(inventory, capacity)) room.offered.add(resource_class, capacity);
        }
        room.used += provider.used;
    }
    return room;
}

bool offers_regular(const Host& host, const ResourceClasses& revocable_classes) {
    const Room room = room_on(host);
    const bool has_cpu =
        room.inventoried.contains(shared_cpu) || room.inventoried.contains(pinned_cpu);
    if (has_cpu || room.inventoried.contains(memory))
        return room.offered.get(memory) > 0 &&
               (room.offered.get(shared_cpu) > 0 || room.offered.get(pinned_cpu) > 0);
    return std::any_of(room.offered.begin(), room.offered.end(), [&](const auto& offered) {
        return offered.second > 0 && !revocable_classes.contains(offered.first);
    });
}

bool holds(const Host& host, ResType type) {
    return std::any_of(host.servers.begin(), host.servers.end(), [&](const Server& server) {
        return server.revocable() == (type == ResType::revocable);
    });
}

std::optional<ResType> declared(const Host& host) {
    return host.providers.empty() ? std::nullopt : declared_type(host.root().traits);
}

bool has_room_of(const Host& host, ResType type, const ResourceClasses& revocable_classes) {
    if (declared(host).value_or(type) != type) return false;
    return holds(host, type) ||
           (type == ResType::regular ? offers_regular(host, revocable_classes)
                                     : offers_revocable(host, revocable_classes));
}

Resources held_by_revocable(const Host& host) {
    Resources held;
    for (const auto& server : host.servers)
        if (server.revocable()) held += server.resources();
    return held;
}

WrappedHost as_regular(const Host& host, const ResourceClasses& revocable_classes) {
    WrappedHost wrapped{&host, ResType::regular, {}, {}};
    const Room room = room_on(host);
    for (const auto& [resource_class, capacity] : room.capacity) {
        if (revocable_classes.contains(resource_class)) continue;
        wrapped.total.set(resource_class, capacity);
        wrapped.free.set(resource_class,
                         std::max<Amount>(capacity - room.used.get(resource_class), 0));
    }
    return wrapped;
}

WrappedHost as_revocable(const Host& host, const ResourceClasses& revocable_classes) {
    WrappedHost wrapped{&host, ResType::revocable, held_by_revocable(host), {}};
    const Room room = room_on(host);
    const auto free_of = [&](const ResourceClass& resource_class) {
        return std::max<Amount>(room.capacity.get(resource_class) - room.used.get(resource_class),
                                0);
    };
    bool more = false;
    for (const auto& resource_class : revocable_classes) {
        more = more || free_of(resource_class) > 0;
        wrapped.total.set(resource_class, room.capacity.get(resource_class));
    }
    for (const auto& [resource_class, capacity] : room.capacity) {
        const bool ordinary = !revocable_classes.contains(resource_class);
        if (ordinary && !more) continue;
        wrapped.free.set(resource_class, free_of(resource_class));
        if (ordinary) wrapped.total.add(resource_class, free_of(resource_class));
    }
    return wrapped;
}

}  // namespace

std::string_view to_string(HostLabel label) {
    switch (label) {
        case HostLabel::regular: return "regular";
        case HostLabel::revocable: return "revocable";
        case HostLabel::any: return "any";
    }
    return "unknown";
}

bool offers_revocable(const Host& host, const ResourceClasses& revocable_classes) {
    return std::any_of(host.providers.begin(), host.providers.end(), [&](const Provider& provider) {
        return std::any_of(revocable_classes.begin(), revocable_classes.end(),
                           [&](const ResourceClass& offered) {
                               const auto found = provider.inventories.find(offered);
                               return found != provider.inventories.end() &&
                                      gives_some(found->second, provider.capacity(offered));
                           });
    });
}

HostLabel label_of(const Host& host, const ResourceClasses& revocable_classes) {
    if (const auto type = declared(host))
        return *type == ResType::regular ? HostLabel::regular : HostLabel::revocable;
    if (!has_room_of(host, ResType::revocable, revocable_classes)) return HostLabel::regular;
    return has_room_of(host, ResType::regular, revocable_classes) ? HostLabel::any
                                                                  : HostLabel::revocable;
}

std::optional<WrappedHost> wrap(const Host& host, ResType type,
                                const ResourceClasses& revocable_classes) {
    if (!has_room_of(host, type, revocable_classes)) return std::nullopt;
    return type == ResType::regular ? as_regular(host, revocable_classes)
                                    : as_revocable(host, revocable_classes);
}

std::map<HostLabel, std::size_t> count_labels(const Snapshot& snapshot) {
    std::map<HostLabel, std::size_t> counts{
        {HostLabel::regular, 0}, {HostLabel::revocable, 0}, {HostLabel::any, 0}};
    for (const auto& host : snapshot.hosts) ++counts[label_of(host, snapshot.revocable_classes)];
    return counts;
}

}  // namespace reaper
