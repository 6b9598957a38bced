#include "reaper/cli/setup/setup_steps.hpp"

#include <algorithm>
#include <utility>

#include "reaper/cli/output/list_output.hpp"
#include "reaper/model/text.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/text.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
namespace {

using Kind = SlotStep::Kind;

/// ` with 4 slots`; nothing of the register, which has room for all, nor where there are none yet.
std::string with_units(const SlotStep& step, Amount n, const Purpose& purpose) {
    return step.root.empty() || n == 0 ? "" : " with " + reaper::counted(n, purpose.unit);
}

std::string kept(const SlotStep& step, const Purpose& purpose) {
    if (!step.flavor.empty()) return "the flavor " + step.name + " is there already";
    if (!step.host.empty() && step.from > 0)
        return step.name + " has " + reaper::counted(step.from, purpose.unit) + " already";
    if (!step.provider.empty()) return step.name + " is there already";
    return "the resource class " + step.name + " stays as it is";
}

/// `would create` or `created`.
std::string doing(const SlotStep& step, const Purpose& purpose) {
    const bool applied = purpose.apply;
    const auto verb = [&](const char* would, const char* did) {
        return std::string{applied ? did : would} + " ";
    };
    switch (step.kind) {
        case Kind::create_class:
            return verb("would create", "created") + "the resource class " + step.name;
        case Kind::create_provider:
            return verb("would create", "created") + step.name + with_units(step, step.to, purpose);
        case Kind::set_total:
            return verb("would change", "changed") + step.name + " from " +
                   std::to_string(step.from) + " to " +
                   (step.root.empty() ? std::to_string(step.to) + " units"
                                      : reaper::counted(step.to, purpose.unit));
        case Kind::create_flavor:
            return verb("would create", "created") + "the flavor " + step.name;
        case Kind::remove_flavor:
            return verb("would remove", "removed") + "the flavor " + step.name;
        case Kind::remove_provider:
            return verb("would remove", "removed") + step.name +
                   with_units(step, step.from, purpose);
        case Kind::remove_class:
            return verb("would remove", "removed") + "the resource class " + step.name +
                   (applied ? "" : ", unless others use it");
        case Kind::keep: return kept(step, purpose);
        case Kind::refuse: return (applied ? "left " : "would leave ") + step.name + " as it is";
    }
    return {};
}

std::string line_of(const SlotStep& step, const Purpose& purpose) {
    std::string line = step.host.empty() ? "" : step.host + ": ";
    line += doing(step, purpose);
    if (!step.why.empty()) line += " (" + step.why + ")";
    return report::safe(line) + "\n";
}

nlohmann::json json_of(const SlotStep& step) {
    return {{"action", std::string{to_string(step.kind)}},
            {"host", step.host.empty() ? nlohmann::json(nullptr) : nlohmann::json(step.host)},
            {"provider",
             step.provider.empty() ? nlohmann::json(nullptr) : nlohmann::json(step.provider.str())},
            {"flavor", step.flavor.empty() ? nlohmann::json(nullptr) : nlohmann::json(step.flavor)},
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
    if (!wants_document(terminal)) {
        for (const auto& step : steps) terminal.answer(line_of(step, purpose));
        terminal.answer(last_words(purpose, steps));
        return;
    }
    nlohmann::json list = nlohmann::json::array();
    for (const auto& step : steps) list.push_back(json_of(step));
    const nlohmann::json document = {{"version", report::json_version},
                                     {"class", purpose.resource_class.str()},
                                     {"applied", purpose.apply},
                                     {"steps", std::move(list)}};
    answer_document(terminal, document);
}

}  // namespace

ExitCode failed_setup(const Error& error, const Terminal& terminal) {
    terminal.complain(error.what);
    return error.code == Errc::bad_input ? ExitCode::usage : ExitCode::failed;
}

ExitCode carry_and_tell(boost::asio::io_context& io, Cloud& cloud, std::vector<SlotStep> steps,
                        const Purpose& purpose, const Terminal& terminal) {
    const Setups setup{*cloud.parts.setup, *cloud.parts.flavors};
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
            return failed_setup(applied.error(), terminal);
        }
    }
    tell(purpose, steps, terminal);
    return purpose.apply && refuses(steps) ? ExitCode::failed : ExitCode::ok;
}

}  // namespace reaper::cli
