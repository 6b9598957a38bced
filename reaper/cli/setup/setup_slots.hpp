// `reaper setup` on a cloud: reads what there is, and carries steps out.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reaper/cloud_reader/cloud_reader.hpp"
#include "reaper/ports/flavor_setup.hpp"
#include "reaper/ports/placement_setup.hpp"
#include "reaper/setup/oversubscription.hpp"
#include "reaper/setup/register.hpp"
#include "reaper/setup/slots.hpp"

namespace reaper::cli {

/// Which hosts.
struct HostChoice {
    std::function<bool(const HypervisorRecord&)> takes;
    std::string words;  ///< what none of them does: `is called 'compute-*'`
};
/// Those whose hypervisors are called so, with `*` and `?`.
HostChoice hosts_named(const std::string& pattern);

/// The chosen hosts, by name; capacities of the hosts themselves only if `capacities`. `bad_input`
/// if there is none.
ResultTask<SlotView> read_slots(CloudPorts cloud, PlacementSetup& setup, HostChoice choice,
                                ResourceClass slot_class, bool capacities);

/// The register of reservations, and its class.
ResultTask<RegisterView> read_register(CloudPorts cloud, PlacementSetup& setup);

/// What is changed.
struct Setups {
    PlacementSetup& placement;
    FlavorSetup& flavors;
};

/// Does the steps in their order, and tells of each what came of it. Ends with the first failure;
/// those before it are done, and asking for all again does the rest. (That somebody still uses a
/// class or a provider is no failure: then it stays.)
ResultTask<void> carry_out(Setups setup, std::vector<SlotStep> steps, ResourceClass slot_class,
                           std::function<void(const SlotStep&)> done);

}  // namespace reaper::cli
