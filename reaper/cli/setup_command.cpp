// `reaper setup`: slots for revocable servers in Placement, or the register of reservations.
#include <algorithm>
#include <utility>

#include "reaper/cli/cloud_view.hpp"
#include "reaper/cli/commands.hpp"
#include "reaper/cli/setup_slots.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/text.hpp"
#include "reaper/reservations/reservation_record.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
namespace {

using Kind = SlotStep::Kind;

std::string slots(Amount n) {
    return std::to_string(n) + (n == 1 ? " slot" : " slots");
}

/// What is done, for the words about it.
struct Purpose {
    ResourceClass resource_class;
    bool apply = false;
    std::string next;  ///< what is to be done after it
};

/// ` with 4 slots`; nothing of the register, which has room for all.
std::string with_slots(const SlotStep& step, Amount n) {
    return step.root.empty() ? "" : " with " + slots(n);
}

/// `would create` or `created`.
std::string doing(const SlotStep& step, bool applied) {
    const auto verb = [&](const char* would, const char* did) {
        return std::string{applied ? did : would} + " ";
    };
    switch (step.kind) {
        case Kind::create_class:
            return verb("would create", "created") + "the resource class " + step.name;
        case Kind::create_provider:
            return verb("would create", "created") + step.name + with_slots(step, step.to);
        case Kind::set_total:
            return verb("would change", "changed") + step.name + " from " +
                   std::to_string(step.from) + " to " +
                   (step.root.empty() ? std::to_string(step.to) + " units" : slots(step.to));
        case Kind::remove_provider:
            return verb("would remove", "removed") + step.name + with_slots(step, step.from);
        case Kind::remove_class:
            return verb("would remove", "removed") + "the resource class " + step.name +
                   (applied ? "" : ", unless others use it");
        case Kind::keep:
            if (!step.host.empty()) return step.name + " has " + slots(step.from) + " already";
            if (!step.provider.empty()) return step.name + " is there already";
            return "the resource class " + step.name + " stays as it is";
        case Kind::refuse: return (applied ? "left " : "would leave ") + step.name + " as it is";
    }
    return {};
}

std::string line_of(const SlotStep& step, bool applied) {
    std::string line = step.host.empty() ? "" : step.host + ": ";
    line += doing(step, applied);
    if (!step.why.empty()) line += " (" + step.why + ")";
    return report::safe(line) + "\n";
}

nlohmann::json json_of(const SlotStep& step) {
    return {{"action", std::string{to_string(step.kind)}},
            {"host", step.host.empty() ? nlohmann::json(nullptr) : nlohmann::json(step.host)},
            {"provider",
             step.provider.empty() ? nlohmann::json(nullptr) : nlohmann::json(step.provider.str())},
            {"name", step.name},
            {"from", step.from},
            {"to", step.to},
            {"why", step.why}};
}

bool changes(const std::vector<SlotStep>& steps) {
    return std::any_of(steps.begin(), steps.end(), [](const SlotStep& step) {
        return step.kind != Kind::keep && step.kind != Kind::refuse;
    });
}

bool refuses(const std::vector<SlotStep>& steps) {
    return std::any_of(steps.begin(), steps.end(),
                       [](const SlotStep& step) { return step.kind == Kind::refuse; });
}

std::string last_words(const Purpose& purpose, const std::vector<SlotStep>& steps) {
    if (!changes(steps)) return "There is nothing to change.\n";
    if (!purpose.apply) return "Dry run: nothing was changed; use --apply.\n";
    return purpose.next;
}

void tell(const Purpose& purpose, const std::vector<SlotStep>& steps, const Terminal& terminal) {
    if (!terminal.json()) {
        for (const auto& step : steps) terminal.answer(line_of(step, purpose.apply));
        terminal.answer(last_words(purpose, steps));
        return;
    }
    nlohmann::json list = nlohmann::json::array();
    for (const auto& step : steps) list.push_back(json_of(step));
    const nlohmann::json document = {{"version", report::json_version},
                                     {"class", purpose.resource_class.str()},
                                     {"applied", purpose.apply},
                                     {"steps", std::move(list)}};
    terminal.answer(report::dump(document, 2) + "\n");
}

ExitCode fail(const Error& error, const Terminal& terminal) {
    terminal.complain(error.what);
    return error.code == Errc::bad_input ? ExitCode::usage : ExitCode::failed;
}

/// Carries the steps out, if it is to be done, and tells them.
ExitCode carry_and_tell(boost::asio::io_context& io, PlacementSetup& setup,
                        std::vector<SlotStep> steps, const Purpose& purpose,
                        const Terminal& terminal) {
    if (purpose.apply) {
        std::vector<SlotStep> carried;
        std::function<void(const SlotStep&)> done = [&](const SlotStep& step) {
            carried.push_back(step);
        };
        auto applied =
            run_task(io, carry_out(setup, steps, purpose.resource_class, std::move(done)));
        steps = std::move(carried);
        if (!applied) {
            tell(purpose, steps, terminal);
            terminal.complain(
                "stopped there; what is done stays, and the same command does the "
                "rest when this is mended");
            return fail(applied.error(), terminal);
        }
    }
    tell(purpose, steps, terminal);
    return purpose.apply && refuses(steps) ? ExitCode::failed : ExitCode::ok;
}

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
    if (!cloud) return fail(cloud.error(), terminal);
    const ResourceClass slot_class{command.slot_class};
    const bool capacities = !command.undo && command.count.fixed == 0;
    terminal.progress("reading hosts and providers ...");
    auto cache = run_task(
        io, read_slots(cloud->ports(), *cloud->parts.setup, command.hosts, slot_class, capacities));
    terminal.end_progress();
    if (!cache) return fail(cache.error(), terminal);
    std::vector<SlotStep> steps = command.undo ? slots_to_undo(*cache, slot_class)
                                               : slots_to_set_up(*cache, slot_class, command.count);
    const Purpose purpose{slot_class, command.apply, after_slots(command)};
    return carry_and_tell(io, *cloud->parts.setup, std::move(steps), purpose, terminal);
}

ExitCode set_up_reservations(const GlobalOptions& global, const ReservationSetupCommand& command,
                             const Terminal& terminal) {
    const auto settings = settings_for_looking(global, terminal);
    if (!settings) return ExitCode::usage;
    boost::asio::io_context io{1};
    auto cloud = connect_cloud(io, *settings);
    if (!cloud) return fail(cloud.error(), terminal);
    terminal.progress("reading providers ...");
    auto view = run_task(io, read_register(cloud->ports(), *cloud->parts.setup));
    terminal.end_progress();
    if (!view) return fail(view.error(), terminal);
    const Purpose purpose{ResourceClass{reservation_register::resource_class}, command.apply, ""};
    return carry_and_tell(io, *cloud->parts.setup,
                          command.undo ? register_to_undo(*view) : register_to_set_up(*view),
                          purpose, terminal);
}

}  // namespace reaper::cli
