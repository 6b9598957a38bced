// Slots for revocable servers: a resource class of one's own, and on each compute host a nested
// provider with so many units of it. A flavor asks for one with each server; the tagger `resource`
// then knows the revocable servers by what they hold, and no more of them start on a host than it
// has slots. This file says what is to be changed to get there, or to undo it. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/records.hpp"

namespace reaper {

/// A compute host as Placement and Nova have it.
struct SlotHost {
    HostId id;  ///< the root provider's
    std::string name;
    std::map<ResourceClass, Inventory> inventories;  ///< of the root
};

/// What there is now.
struct SlotView {
    bool class_exists = false;
    std::vector<SlotHost> hosts;            ///< those to be set up
    std::vector<ProviderRecord> providers;  ///< all of the cloud
    /// Of the nested providers that are ours by their name (slot_provider_name).
    std::map<ProviderId, ProviderState> states;
};

/// How many slots a host gets.
struct SlotCount {
    Amount fixed = 0;  ///< if above 0: so many
    /// Else: what the host's capacity of `per` gives, one slot for each `amount` of it.
    ResourceClass per;
    Amount amount = 1;
};

/// One thing to do, or to leave as it is.
struct SlotStep {
    enum class Kind {
        create_class,
        create_provider,  ///< with `to` slots; 0: without an inventory
        set_total,        ///< from `from` to `to` slots
        create_flavor,
        remove_flavor,
        remove_provider,
        remove_class,  ///< unless it is used elsewhere
        keep,          ///< it is as it should be; or undone already
        refuse,        ///< it can't be done, for `why`
    };
    Kind kind = Kind::keep;
    std::string host;     ///< its name; empty for the class and for flavors
    HostId root;          ///< above the provider; empty for the register of reservations
    ProviderId provider;  ///< empty while there is none
    std::string flavor;   ///< its id; empty while there is none
    std::string name;     ///< of the provider, the class or the flavor
    Amount from = 0;
    Amount to = 0;
    std::string why;  ///< what is to be known about it; may be empty

    friend bool operator==(const SlotStep&, const SlotStep&) = default;
};

/// `create-class`, `keep`, ...
std::string_view to_string(SlotStep::Kind kind);

SlotStep class_step(SlotStep::Kind kind, const ResourceClass& slot_class, std::string why = {});
/// To create the host's provider; refused if there is one of that name elsewhere.
SlotStep new_provider_step(const SlotView& cache, const SlotHost& host,
                           const ResourceClass& slot_class);
/// Why our provider must stay; empty if it may go.
std::string why_it_stays(const ProviderState& state, const ResourceClass& slot_class);

/// The name of a host's nested provider: `compute-1-preemptible` for CUSTOM_PREEMPTIBLE.
std::string slot_provider_name(const std::string& host, const ResourceClass& slot_class);

/// The nested providers of these hosts that are ours: by their name and parent.
std::map<HostId, ProviderRecord> slot_providers(const std::vector<SlotHost>& hosts,
                                                const std::vector<ProviderRecord>& providers,
                                                const ResourceClass& slot_class);

/// The class first, then the hosts in their order. Empty steps never occur: what exists is kept.
std::vector<SlotStep> slots_to_set_up(const SlotView& cache, const ResourceClass& slot_class,
                                      const SlotCount& count);

/// The hosts, then the class. What is in use is refused, and what others put there too.
std::vector<SlotStep> slots_to_undo(const SlotView& cache, const ResourceClass& slot_class);

}  // namespace reaper
