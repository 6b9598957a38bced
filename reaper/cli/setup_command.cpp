// `reaper setup resource-tagging`: slots for revocable servers in Placement.
#include <algorithm>
#include <utility>

#include "reaper/cli/cloud_view.hpp"
#include "reaper/cli/commands.hpp"
#include "reaper/cli/setup_slots.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/text.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
namespace {

using Kind = SlotStep::Kind;

std::string slots(Amount n) {
    return std::to_string(n) + (n == 1 ? " slot" : " slots");
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
            return verb("would create", "created") + step.name + " with " + slots(step.to);
        case Kind::set_total:
            return verb("would change", "changed") + step.name + " from " +
                   std::to_string(step.from) + " to " + slots(step.to);
        case Kind::remove_provider:
            return verb("would remove", "removed") + step.name + " with " + slots(step.from);
        case Kind::remove_class:
            return verb("would remove", "removed") + "the resource class " + step.name +
                   (applied ? "" : ", unless others use it");
        case Kind::keep:
            if (!step.host.empty()) return step.name + " has " + slots(step.from) + " already";
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

std::string last_words(const SetupCommand& command, const std::vector<SlotStep>& steps) {
    if (!changes(steps)) return "There is nothing to change.\n";
    if (!command.apply) return "Dry run: nothing was changed; use --apply.\n";
    if (command.undo) return {};
    return "A flavor asks for a slot with 'openstack flavor set --property resources1:" +
           command.slot_class +
           "=1 FLAVOR'; the\nreaper's configuration needs the tagger {name: resource, class: " +
           command.slot_class + "}.\n";
}

void tell(const SetupCommand& command, const std::vector<SlotStep>& steps,
          const Terminal& terminal) {
    if (!terminal.json()) {
        for (const auto& step : steps) terminal.answer(line_of(step, command.apply));
        terminal.answer(last_words(command, steps));
        return;
    }
    nlohmann::json list = nlohmann::json::array();
    for (const auto& step : steps) list.push_back(json_of(step));
    const nlohmann::json document = {{"version", report::json_version},
                                     {"class", command.slot_class},
                                     {"applied", command.apply},
                                     {"steps", std::move(list)}};
    terminal.answer(report::dump(document, 2) + "\n");
}

ExitCode fail(const Error& error, const Terminal& terminal) {
    terminal.complain(error.what);
    return error.code == Errc::bad_input ? ExitCode::usage : ExitCode::failed;
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
    if (command.apply) {
        std::vector<SlotStep> carried;
        std::function<void(const SlotStep&)> done = [&](const SlotStep& step) {
            carried.push_back(step);
        };
        auto applied =
            run_task(io, carry_out(*cloud->parts.setup, steps, slot_class, std::move(done)));
        steps = std::move(carried);
        if (!applied) {
            tell(command, steps, terminal);
            terminal.complain(
                "stopped there; what is done stays, and the same command does the "
                "rest when this is mended");
            return fail(applied.error(), terminal);
        }
    }
    tell(command, steps, terminal);
    return command.apply && refuses(steps) ? ExitCode::failed : ExitCode::ok;
}

}  // namespace reaper::cli
