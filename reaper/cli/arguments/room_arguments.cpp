#include "reaper/cli/arguments/room_arguments.hpp"

#include <CLI/CLI.hpp>
#include <utility>

#include "reaper/cli/arguments/quiet_check.hpp"
#include "reaper/cli/arguments/request_arguments.hpp"
#include "reaper/model/resources_text.hpp"
#include "reaper/request_spec/described_request.hpp"

namespace reaper::cli {
namespace {

Error no_question(std::string what) {
    return Error{Errc::bad_input, std::move(what)};
}

}  // namespace

void add_room_options(CLI::App& command, RoomTexts& texts) {
    command.add_option("--flavor", texts.flavor, "What one server is: a flavor's name or id")
        ->type_name("FLAVOR");
    command
        .add_option("--resources", texts.resources, "What one server needs: VCPU=4,MEMORY_MB=2048")
        ->type_name("LIST");
    command.add_option("--slots,--count", texts.count, "How many such servers (default 1)")
        ->type_name("N")
        ->check(quiet(CLI::Range(1, 100000)));
    command
        .add_option("--project", texts.project,
                    "Whose they are: project id or name (default: of a regular one)")
        ->type_name("PROJECT");
    command.add_option("--zone,--az", texts.zone, "Availability zone that they must be in")
        ->type_name("AZ");
    command.add_option("--trait", texts.traits, "NAME=required or NAME=forbidden; may be repeated")
        ->type_name("TRAIT")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command
        .add_option("--snapshot", texts.snapshot_file,
                    "Read this file of 'reaper snapshot' instead of the cloud")
        ->type_name("FILE");
}

Result<RoomCommand> room_command(const RoomTexts& texts) {
    RoomCommand room;
    if (texts.flavor.empty() == texts.resources.empty())
        return no_question("'reaper room' needs one of --flavor FLAVOR and --resources LIST");
    if (!texts.flavor.empty() && !texts.snapshot_file.empty())
        return no_question(flavor_of_snapshot);
    if (!texts.resources.empty()) {
        auto resources = parse_resources(texts.resources);
        if (!resources) return no_question("--resources: " + resources.error().what);
        room.resources = std::move(*resources);
    }
    for (const std::string& text : texts.traits)
        if (const auto added = add_trait(room, text); !added)
            return no_question("--trait: " + added.error().what);
    room.flavor = texts.flavor;
    room.slots = texts.count;
    room.project = texts.project;
    if (!texts.zone.empty()) room.availability_zone = texts.zone;
    room.snapshot_file = texts.snapshot_file;
    return room;
}

}  // namespace reaper::cli
