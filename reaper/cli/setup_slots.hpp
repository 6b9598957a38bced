// `reaper setup` on a cloud: reads what there is, and carries steps out.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reaper/cloud_reader/cloud_reader.hpp"
#include "reaper/ports/placement_setup.hpp"
#include "reaper/setup/register.hpp"
#include "reaper/setup/slots.hpp"

namespace reaper::cli {

/// Which hosts: `compute-*`, with `*` and `?`.
bool matches_pattern(const std::string& pattern, const std::string& name);

/// The hosts whose name matches, by name; capacities of the hosts themselves only if `capacities`.
/// `bad_input` if no host matches.
ResultTask<SlotView> read_slots(CloudPorts cloud, PlacementSetup& setup, std::string pattern,
                                ResourceClass slot_class, bool capacities);

/// The register of reservations, and its class.
ResultTask<RegisterView> read_register(CloudPorts cloud, PlacementSetup& setup);

/// Does the steps in their order, and tells of each what came of it. Ends with the first failure;
/// those before it are done, and asking for all again does the rest. (That somebody still uses a
/// class or a provider is no failure: then it stays.)
ResultTask<void> carry_out(PlacementSetup& setup, std::vector<SlotStep> steps,
                           ResourceClass slot_class, std::function<void(const SlotStep&)> done);

}  // namespace reaper::cli
