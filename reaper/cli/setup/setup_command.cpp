// `reaper setup`: slots for revocable servers in Placement, or the register of reservations.
#include <utility>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/cloud/cloud_view.hpp"
#include "reaper/cli/setup/setup_steps.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/reservations/reservation_record.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
namespace {

std::string after_slots(const SetupCommand& command) {
    if (command.undo) return {};
    return "A flavor asks for a slot with 'openstack flavor set --property resources1:" +
           command.slot_class +
           "=1 FLAVOR'; the\nreaper's configuration needs the tagger {name: resource, class: " +
           command.slot_class + "}.\n";
}

}  // namespace

ExitCode set_up(const GlobalOptions& global, const SetupCommand& command,
                const Terminal& terminal) {
    const auto settings = settings_for_looking(global, terminal);
    if (!settings) return ExitCode::usage;
    boost::asio::io_context io{1};
    auto cloud = connect_cloud(io, *settings);
    if (!cloud) return failed_setup(cloud.error(), terminal);
    const ResourceClass slot_class{command.slot_class};
    const bool capacities = !command.undo && command.count.fixed == 0;
    terminal.progress("reading hosts and providers ...");
    auto cache = run_task(io, read_slots(cloud->ports(), *cloud->parts.setup,
                                         hosts_named(command.hosts), slot_class, capacities));
    terminal.end_progress();
    if (!cache) return failed_setup(cache.error(), terminal);
    std::vector<SlotStep> steps = command.undo ? slots_to_undo(*cache, slot_class)
                                               : slots_to_set_up(*cache, slot_class, command.count);
    const Purpose purpose{slot_class, command.apply, after_slots(command)};
    return carry_and_tell(io, *cloud, std::move(steps), purpose, terminal);
}

ExitCode set_up_reservations(const GlobalOptions& global, const ReservationSetupCommand& command,
                             const Terminal& terminal) {
    const auto settings = settings_for_looking(global, terminal);
    if (!settings) return ExitCode::usage;
    boost::asio::io_context io{1};
    auto cloud = connect_cloud(io, *settings);
    if (!cloud) return failed_setup(cloud.error(), terminal);
    terminal.progress("reading providers ...");
    auto view = run_task(io, read_register(cloud->ports(), *cloud->parts.setup));
    terminal.end_progress();
    if (!view) return failed_setup(view.error(), terminal);
    const Purpose purpose{ResourceClass{reservation_register::resource_class}, command.apply, ""};
    return carry_and_tell(io, *cloud,
                          command.undo ? register_to_undo(*view) : register_to_set_up(*view),
                          purpose, terminal);
}

}  // namespace reaper::cli
