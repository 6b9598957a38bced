// `reaper setup oversubscription`: class, providers and example flavors for oversubscribed room.
#include <utility>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/cloud/cloud_view.hpp"
#include "reaper/cli/setup/setup_steps.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/oversubscription/host_facts.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
namespace {

/// As `oversubscription.hosts` and `oversubscription.aggregates` have it.
HostChoice hosts_configured(const config::Oversubscription& settings,
                            std::vector<AggregateRecord> aggregates) {
    return {[hosts = settings.hosts, wanted = settings.aggregates,
             known = std::move(aggregates)](const HypervisorRecord& record) {
                return sells_room(facts_of(record, known), hosts, wanted);
            },
            "is one of those that oversubscription.hosts and oversubscription.aggregates name"};
}

/// What was asked for; else what is configured; all, where it is taken away.
ResultTask<HostChoice> choice_of(CloudPorts cloud, const config::Oversubscription& settings,
                                 RoomSetupCommand command) {
    if (!command.hosts.empty()) co_return hosts_named(command.hosts);
    if (command.undo) co_return hosts_named("*");
    if (settings.aggregates.empty()) co_return hosts_configured(settings, {});
    auto aggregates = co_await cloud.compute.aggregates();
    if (!aggregates) co_return aggregates.error();
    co_return hosts_configured(settings, std::move(*aggregates));
}

ResultTask<RoomView> read_room(CloudPorts cloud, PlacementSetup& setup,
                               const config::Oversubscription& settings, RoomSetupCommand command) {
    RoomView view;
    auto choice = co_await choice_of(cloud, settings, command);
    if (!choice) co_return choice.error();
    ResourceClass room_class{settings.room_class};
    auto slots =
        co_await read_slots(cloud, setup, std::move(*choice), std::move(room_class), false);
    if (!slots) co_return slots.error();
    view.slots = std::move(*slots);
    auto flavors = co_await cloud.compute.all_flavors();
    if (!flavors) co_return flavors.error();
    view.flavors = std::move(*flavors);
    if (!command.undo) co_return view;
    Compute::Progress silent;
    auto servers = co_await cloud.compute.servers(std::move(silent));
    if (!servers) co_return servers.error();
    for (const auto& record : *servers) view.in_use.insert(record.flavor.name);
    co_return view;
}

std::string after_room(const config::Oversubscription& settings, bool undo) {
    if (undo)
        return settings.enabled ? "oversubscription.enabled is true: a daemon that runs with it "
                                  "makes providers again.\n"
                                : "";
    return "Room is published there once oversubscription.enabled is true, with the tagger {name: "
           "resource, class:\n" +
           settings.room_class + "}; 'reaper estimate' tells before what would come of it.\n";
}

}  // namespace

ExitCode set_up_oversubscription(const GlobalOptions& global, const RoomSetupCommand& command,
                                 const Terminal& terminal) {
    const auto settings = settings_for_looking(global, terminal);
    if (!settings) return ExitCode::usage;
    boost::asio::io_context io{1};
    auto cloud = connect_cloud(io, *settings);
    if (!cloud) return failed_setup(cloud.error(), terminal);
    const config::Oversubscription& room = settings->oversubscription;
    terminal.progress("reading hosts, providers and flavors ...");
    auto view = run_task(io, read_room(cloud->ports(), *cloud->parts.setup, room, command));
    terminal.end_progress();
    if (!view) return failed_setup(view.error(), terminal);
    const ResourceClass room_class{room.room_class};
    const Purpose purpose{room_class, command.apply, after_room(room, command.undo), "vCPU"};
    return carry_and_tell(
        io, *cloud,
        command.undo ? room_to_undo(*view, room_class) : room_to_set_up(*view, room_class), purpose,
        terminal);
}

}  // namespace reaper::cli
