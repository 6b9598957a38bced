// A strategy: servers that were created first go first, the fewest of them. It is a goal over the
// reaper's own solver, which finds the best set of victims over all hosts.
#include <reaper/modules/module.hpp>

namespace {

using namespace reaper;

std::variant<std::unique_ptr<Strategy>, ParameterError> make_oldest(const Parameters& parameters) {
    const auto steps = std::get<std::int64_t>(parameters.at("max_steps"));
    if (steps < 1000) return ParameterError{"max_steps", "a number from 1000"};
    Goal goal;
    goal.levels = {{{Measure::victims, 1, {}}}, {{Measure::start, 1, {}}}};
    goal.tie = Tie::oldest;
    return std::make_unique<GoalStrategy>(std::move(goal), steps);
}

std::variant<ModuleParts, ParameterError> make(const Parameters&) {
    ModuleParts parts;
    parts.strategies.push_back({"oldest",
                                "takes the fewest servers, and of these the ones created first",
                                {{"max_steps", ParameterKind::integer, std::int64_t{200'000},
                                  "nodes that the search on a host visits at most"}},
                                make_oldest});
    return parts;
}

ModuleInfo info() {
    return {"oldest-first", "1.0", {}, make};
}

}  // namespace

REAPER_MODULE(info);
