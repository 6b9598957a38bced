// Placement's allocations: who holds what, all or nothing, under generations.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "tests/cloudsim/core/placement.hpp"

namespace reaper::cloudsim {

std::int64_t Inventory::capacity() const {
    return static_cast<std::int64_t>(
        std::floor(static_cast<double>(total - reserved) * allocation_ratio));
}

bool Inventory::allows_amount(std::int64_t amount) const {
    return amount >= min_unit && amount <= max_unit && amount % step_size == 0;
}

Room* Provider::room(NameId resource_class) {
    for (Room& room : rooms)
        if (room.resource_class == resource_class) return &room;
    return nullptr;
}

const Room* Provider::room(NameId resource_class) const {
    for (const Room& room : rooms)
        if (room.resource_class == resource_class) return &room;
    return nullptr;
}

bool Provider::has_trait(NameId trait) const {
    return std::find(traits.begin(), traits.end(), trait) != traits.end();
}

bool Provider::in_aggregate(const Uuid& aggregate) const {
    return std::find(aggregates.begin(), aggregates.end(), aggregate) != aggregates.end();
}

Consumer* Placement::find_consumer(const Uuid& uuid) const {
    const auto found = consumers_.find(uuid);
    return found == consumers_.end() ? nullptr : found->second.get();
}

Outcome Placement::check_generation(const Claim& claim) const {
    if (!claim.generation) return {};
    const Consumer* consumer = find_consumer(claim.consumer);
    const auto& said = *claim.generation;
    auto text = [](std::optional<std::int64_t> generation) {
        return generation ? std::to_string(*generation) : std::string("null");
    };
    const std::optional<std::int64_t> is =
        consumer ? std::optional(consumer->generation) : std::nullopt;
    if (said == is) return {};
    return Refusal{409,
                   "consumer generation conflict - expected " + text(is) + " but got " + text(said),
                   "placement.concurrent_update"};
}

Outcome Placement::check_room(const std::vector<Claim>& claims) const {
    std::map<std::pair<Provider*, NameId>, std::int64_t> used;
    auto use = [&](const Held& held) -> std::int64_t& {
        const auto key = std::pair(held.provider, held.resource_class);
        const auto [at, is_new] = used.try_emplace(key, 0);
        if (is_new)
            if (const Room* room = held.provider->room(held.resource_class))
                at->second = room->used;
        return at->second;
    };
    for (const Claim& claim : claims)
        if (const Consumer* consumer = find_consumer(claim.consumer))
            for (const Held& held : consumer->held) use(held) -= held.amount;
    for (const Claim& claim : claims)
        for (const Held& held : claim.held) {
            const Room* room = held.provider->room(held.resource_class);
            const std::string what =
                "Unable to allocate inventory: Unable to create allocation "
                "for '" +
                names_.text(held.resource_class) + "' on resource provider '" +
                held.provider->uuid.text() + "'. The requested amount would ";
            if (!room)
                return Refusal{409, "Unable to allocate inventory: Inventory for '" +
                                        names_.text(held.resource_class) +
                                        "' on resource provider '" + held.provider->uuid.text() +
                                        "' invalid."};
            if (!room->inventory.allows_amount(held.amount))
                return Refusal{409, what + "violate inventory constraints."};
            if ((use(held) += held.amount) > room->inventory.capacity())
                return Refusal{409, what + "exceed the capacity."};
        }
    return {};
}

Outcome Placement::check_claims(const std::vector<Claim>& claims) const {
    for (const Claim& claim : claims)
        if (auto refused = check_generation(claim)) return refused;
    return check_room(claims);
}

void Placement::release(Consumer& consumer) {
    for (const Held& held : consumer.held) {
        if (Room* room = held.provider->room(held.resource_class)) room->used -= held.amount;
        std::erase(held.provider->consumers, &consumer);
    }
    consumer.held.clear();
}

Outcome Placement::claim(const std::vector<Claim>& claims) {
    if (auto refused = check_claims(claims)) return refused;
    set_held(claims);
    return {};
}

void Placement::set_held(const std::vector<Claim>& claims) {
    std::set<Provider*> touched;
    for (const Claim& claim : claims)
        if (Consumer* consumer = find_consumer(claim.consumer)) {
            for (const Held& held : consumer->held)
                if (claim.held.empty()) touched.insert(held.provider);
            release(*consumer);
        }
    for (const Claim& claim : claims) {
        if (claim.held.empty()) {
            consumers_.erase(claim.consumer);
            continue;
        }
        auto& consumer = consumers_[claim.consumer];
        if (!consumer) consumer = std::make_unique<Consumer>();
        consumer->uuid = claim.consumer;
        consumer->project = claim.project;
        consumer->user = claim.user;
        consumer->type = claim.type;
        consumer->held = claim.held;
        ++consumer->generation;
        for (const Held& held : claim.held) {
            if (Room* room = held.provider->room(held.resource_class)) room->used += held.amount;
            auto& here = held.provider->consumers;
            if (here.empty() || here.back() != consumer.get()) here.push_back(consumer.get());
            touched.insert(held.provider);
        }
    }
    for (Provider* provider : touched) ++provider->generation;
}

bool Placement::remove_consumer(const Uuid& uuid) {
    Consumer* consumer = find_consumer(uuid);
    if (!consumer) return false;
    release(*consumer);
    consumers_.erase(uuid);
    return true;
}

void Placement::clear_consumers() {
    for (auto& [uuid, consumer] : consumers_) release(*consumer);
    consumers_.clear();
}

}  // namespace reaper::cloudsim
