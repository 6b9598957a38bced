#include "reaper/cli/arguments/setup_arguments.hpp"

#include <CLI/CLI.hpp>
#include <utility>

#include "reaper/cli/arguments/help_formatter.hpp"
#include "reaper/cli/arguments/quiet_check.hpp"
#include "reaper/model/resources_text.hpp"
#include "reaper/model/text.hpp"

namespace reaper::cli {

void add_setup(CLI::App& app, Parsed& parsed) {
    CLI::App& setup = *add_command(app, "setup", help::setup);
    setup.require_subcommand(1);
    CLI::App& slots = *add_command(setup, "resource-tagging", help::setup_slots);
    slots
        .add_option("--class", parsed.setup.slot_class,
                    "The resource class (default CUSTOM_PREEMPTIBLE)")
        ->type_name("CLASS");
    slots.add_option("--slots", parsed.setup.count.fixed, "Slots on each host")
        ->type_name("N")
        ->check(quiet(CLI::Range(1, 1000000)));
    slots
        .add_option("--slots-per", parsed.per,
                    "One slot for so much of each host's capacity: VCPU:2")
        ->type_name("CLASS:N");
    slots
        .add_option("--hosts", parsed.setup.hosts,
                    "Only hosts of such a name, with * and ? (default *)")
        ->type_name("PATTERN");
    slots.add_flag("--apply", parsed.setup.apply, "Do it; without, it is only told");
    slots.add_flag("--undo", parsed.setup.undo, "Take it away again");
    CLI::App& kept = *add_command(setup, "reservations", help::setup_reservations);
    kept.add_flag("--apply", parsed.reservation_setup.apply, "Do it; without, it is only told");
    kept.add_flag("--undo", parsed.reservation_setup.undo, "Take it away again");
    CLI::App& room = *add_command(setup, "oversubscription", help::setup_oversubscription);
    room.add_option("--hosts", parsed.room_setup.hosts,
                    "Only hosts of such a name, with * and ? (default: as configured)")
        ->type_name("PATTERN");
    room.add_flag("--apply", parsed.room_setup.apply, "Do it; without, it is only told");
    room.add_flag("--undo", parsed.room_setup.undo, "Take it away again");
}

Result<SetupCommand> finish_setup(const CLI::App& app, const Parsed& parsed) {
    const CLI::App& slots = *app.get_subcommands().front();
    const auto wrong = [](std::string what) { return Error{Errc::bad_input, std::move(what)}; };
    SetupCommand setup = parsed.setup;
    const bool custom = setup.slot_class.starts_with("CUSTOM_") && setup.slot_class.size() > 7 &&
                        setup.slot_class.size() <= 255 && is_upper_name(setup.slot_class);
    if (!custom)
        return wrong("--class: is '" + printable(setup.slot_class, 60) +
                     "'; expected CUSTOM_ and capital letters, digits and _");
    const std::size_t said = slots.count("--slots") + slots.count("--slots-per");
    if (setup.undo && said > 0) return wrong("--undo takes away all slots: leave their number out");
    if (!setup.undo && said != 1)
        return wrong(
            "'reaper setup resource-tagging' needs one of --slots N and --slots-per CLASS:N");
    if (setup.hosts.empty())
        return wrong("--hosts: is empty; expected a pattern such as 'compute-*'");
    if (slots.count("--slots-per") == 0) return setup;
    const auto per = parse_resources(parsed.per);
    if (!per) return wrong("--slots-per: " + per.error().what);
    if (per->size() != 1)
        return wrong("--slots-per: is " + in_quotes(parsed.per) +
                     "; expected one class, such as VCPU:2");
    setup.count.per = per->begin()->first;
    setup.count.amount = per->begin()->second;
    return setup;
}

}  // namespace reaper::cli
