#include "reaper/controllers/oversubscription/nested_rooms.hpp"

#include <algorithm>
#include <utility>

#include "reaper/runtime/async.hpp"
#include "reaper/setup/slots.hpp"

namespace reaper {
namespace {

constexpr std::size_t rooms_at_a_time = 8;

const Provider* nested_provider(const Host& host, const ResourceClass& room_class) {
    const std::string name = slot_provider_name(host.name, room_class);
    const auto at = std::find_if(
        host.providers.begin(), host.providers.end(),
        [&](const Provider& each) { return each.name == name && each.parent == host.id; });
    return at == host.providers.end() ? nullptr : &*at;
}

}  // namespace

std::optional<NestedRoom> NestedRooms::of(const Host& host, const ResourceClass& room_class) const {
    const Provider* const provider = nested_provider(host, room_class);
    const auto known = exact_.find(host.id);
    if (known != exact_.end()) {
        const Exact& exact = known->second;
        const bool unseen = exact.differs && exact.build == refresher_.build();
        if (unseen || exact.at >= host.read_at) return exact.room;
    }
    NestedRoom room;
    if (provider == nullptr) return room;
    if (host.estimated) return std::nullopt;
    room.provider = provider->id;
    room.used = provider->used.get(room_class);
    const auto inventory = provider->inventories.find(room_class);
    if (inventory != provider->inventories.end()) room.inventory = inventory->second;
    return room;
}

Task<std::map<HostId, std::string>> NestedRooms::read(ResourceClass room_class) {
    std::map<HostId, std::string> failed;
    std::vector<HostId> unread;
    for (const Host* const host : refresher_.cache().hosts())
        if (!of(*host, room_class)) unread.push_back(host->id);
    for (std::size_t from = 0; from < unread.size(); from += rooms_at_a_time) {
        std::vector<Task<void>> some;
        for (std::size_t i = from; i < std::min(from + rooms_at_a_time, unread.size()); ++i)
            some.push_back(read_one(unread[i], room_class, failed));
        co_await run_all(std::move(some));
    }
    co_return failed;
}

Task<void> NestedRooms::read_one(HostId id, ResourceClass room_class,
                                 std::map<HostId, std::string>& failed) {
    const Host* const host = refresher_.cache().find(id);
    const Provider* const provider = host == nullptr ? nullptr : nested_provider(*host, room_class);
    if (provider == nullptr) co_return;
    NestedRoom room;
    room.provider = provider->id;
    ProviderId asked = provider->id;
    const TimePoint began = cloud_.clock.now();
    auto state = co_await cloud_.placement.room(std::move(asked));
    if (!state && state.error().code != Errc::not_found) {
        failed[id] = state.error().what;
        co_return;
    }
    if (!state) co_return note(id, NestedRoom{});
    const auto inventory = state->inventories.find(room_class);
    if (inventory != state->inventories.end()) room.inventory = inventory->second;
    for (const auto& [consumer, held] : state->allocations) room.used += held.get(room_class);
    exact_.insert_or_assign(id, Exact{std::move(room), began, refresher_.build(), false});
}

void NestedRooms::note(const HostId& host, NestedRoom room) {
    const Host* const cached = refresher_.cache().find(host);
    const bool there = cached != nullptr &&
                       std::any_of(cached->providers.begin(), cached->providers.end(),
                                   [&](const Provider& each) { return each.id == room.provider; });
    exact_.insert_or_assign(host,
                            Exact{std::move(room), cloud_.clock.now(), refresher_.build(), !there});
}

bool NestedRooms::differ_from_cache() const {
    return std::any_of(exact_.begin(), exact_.end(), [&](const auto& each) {
        return each.second.differs && each.second.build == refresher_.build();
    });
}

void NestedRooms::prune() {
    std::erase_if(exact_,
                  [&](const auto& each) { return refresher_.cache().find(each.first) == nullptr; });
}

void NestedRooms::shift(Duration by) {
    for (auto& [host, exact] : exact_) exact.at += by;
}

}  // namespace reaper
