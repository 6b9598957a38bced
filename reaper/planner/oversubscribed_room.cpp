#include "reaper/planner/oversubscribed_room.hpp"

#include <algorithm>

#include "reaper/model/res_type.hpp"

namespace reaper {

OversubscribedRooms oversubscribed_room(const Host& host,
                                        const std::set<ResourceClass>& revocable_classes,
                                        const EstimatedRoom& estimated) {
    OversubscribedRooms rooms;
    for (const auto& name : revocable_classes) {
        if (stands_for(name).empty()) continue;
        for (const auto& provider : host.providers) {
            const auto inventory = provider.inventories.find(name);
            if (inventory == provider.inventories.end()) continue;
            const Amount capacity = inventory->second.capacity();
            const Amount published = inventory->second.min_unit > capacity ? 0 : capacity;
            const Amount used = provider.used.get(name);
            OversubscribedRoom& room = rooms[name];
            room.published += published;
            room.used += used;
            room.free += std::max<Amount>(published - used, 0);
            room.hosts = 1;
        }
    }
    if (const auto at = estimated.wanted.find(host.id); at != estimated.wanted.end())
        rooms[estimated.of].wanted = at->second;
    return rooms;
}

void add(OversubscribedRooms& all, const OversubscribedRooms& here) {
    for (const auto& [name, added] : here) {
        OversubscribedRoom& room = all[name];
        room.published += added.published;
        room.used += added.used;
        room.free += added.free;
        room.hosts += added.hosts;
        if (added.wanted) room.wanted = room.wanted.value_or(0) + *added.wanted;
    }
}

OversubscribedRooms oversubscribed_room(const Snapshot& snapshot, const EstimatedRoom& estimated) {
    OversubscribedRooms all;
    for (const auto& host : snapshot.hosts)
        add(all, oversubscribed_room(host, snapshot.revocable_classes, estimated));
    return all;
}

bool any_oversubscribed(const std::set<ResourceClass>& revocable_classes) {
    return std::any_of(revocable_classes.begin(), revocable_classes.end(),
                       [](const ResourceClass& name) { return !stands_for(name).empty(); });
}

}  // namespace reaper
