// `reaper setup`: steps are shown, or carried out and shown.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <string>
#include <vector>

#include "reaper/cli/output/terminal.hpp"
#include "reaper/cloud/reader/cloud_reader.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/daemon/exit_code.hpp"
#include "reaper/ports/setup_ports.hpp"
#include "reaper/setup/oversubscription.hpp"
#include "reaper/setup/register.hpp"
#include "reaper/setup/slots.hpp"

namespace reaper::cli {

// `reaper setup` on a cloud: reads what there is, and carries steps out.

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
/// those before it are done, and asking for all again does the rest. (A class or a provider
/// that is still in use is no failure: it stays.)
ResultTask<void> carry_out(Setups setup, std::vector<SlotStep> steps, ResourceClass slot_class,
                           std::function<void(const SlotStep&)> done);

/// What is done, for the words about it.
struct Purpose {
    ResourceClass resource_class;
    bool apply = false;
    std::string next;           ///< what is to be done after it
    std::string unit = "slot";  ///< of the class
};

/// Carries the steps out, if it is to be done, and tells them.
ExitCode carry_and_tell(boost::asio::io_context& io, Cloud& cloud, std::vector<SlotStep> steps,
                        const Purpose& purpose, const Terminal& terminal);

}  // namespace reaper::cli
