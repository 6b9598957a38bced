// What is to be changed in Placement, so that it shows the room that is published: on each host a
// nested provider of ours (slot_provider_name) with an inventory of the oversubscribed class.
// What is reserved stays so: while freed room is promised, all of the class is, on its host.
// What others made is never taken. Where the room is closed, `min_unit` is above the total, so that
// nothing new fits, whatever server leaves. Pure.
#pragma once

#include <string>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/records.hpp"

namespace reaper {

/// Of an inventory with a total of 1 on which nothing may start.
inline constexpr Amount closed_min_unit = 2;

/// One host, and what is to be published there.
struct WantedRoom {
    HostId id;         ///< the root provider's
    std::string name;  ///< hypervisor hostname
    /// Its nested providers, as they were read.
    std::vector<Provider> nested;
    Amount total = 0;     ///< wanted; 0: none
    bool closed = false;  ///< see Published
};

/// One thing to do on a host, or to leave as it is.
struct InventoryStep {
    enum class Kind {
        keep,             ///< it is as it should be
        create_provider,  ///< and then an inventory with `to`
        set_total,  ///< from `from` (0: no inventory) to `to`, with `min_unit` and a ratio of 1
        remove_inventory,  ///< the provider stays
        refuse,            ///< it can't be done, for `why`
    };
    Kind kind = Kind::keep;
    HostId host;
    ProviderId provider;  ///< empty while there is none
    std::string name;     ///< of the provider
    Amount from = 0;
    Amount to = 0;
    Amount min_unit = 1;  ///< to be set with it
    std::string why;      ///< what is to be known about it; may be empty

    friend bool operator==(const InventoryStep&, const InventoryStep&) = default;
};

/// Whether the inventory is one with this total and unit: an allocation_ratio other than 1 would
/// sell more, or less.
bool is_inventory_of(const Inventory& found, Amount total, Amount min_unit);

/// The room that an inventory publishes: its total, or 0 if it is closed.
Amount published_room(const Inventory& inventory);

/// One step for each host, in their order. An inventory that is in use is not removed,
/// but closed. `providers` are all of the cloud: a name of ours that another has is refused.
std::vector<InventoryStep> inventory_plan(const std::vector<WantedRoom>& hosts,
                                          const std::vector<ProviderRecord>& providers,
                                          const ResourceClass& room_class);

}  // namespace reaper
