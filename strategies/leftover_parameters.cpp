#include "strategies/leftover_parameters.hpp"

#include <algorithm>
#include <set>

namespace reaper {
namespace {

constexpr std::int64_t max_steps_limit = 100'000'000;

bool is_class_name(const std::string& text) {
    return !text.empty() && text.size() <= 255 && std::ranges::all_of(text, [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
}

}  // namespace

Goal leftover_goal(std::vector<ResourceClass> order, Tie tie) {
    Goal goal;
    goal.levels = {{{Measure::waste, 1, std::nullopt}}};
    goal.waste_order = std::move(order);
    goal.tie = tie;
    return goal;
}

std::optional<std::vector<ResourceClass>> class_names(const std::vector<std::string>& names) {
    std::vector<ResourceClass> classes;
    std::set<std::string> seen;
    for (const auto& name : names) {
        if (!is_class_name(name) || !seen.insert(name).second) return std::nullopt;
        classes.emplace_back(name);
    }
    return classes;
}

ParameterSpec max_steps_spec() {
    return {"max_steps", ParameterKind::integer, std::int64_t{200'000},
            "the maximum of search steps for one host and number of slots, 1 to 100000000; if they "
            "run out, the best found so far is taken and the plan says how far it may be from the "
            "best"};
}

std::variant<std::int64_t, ParameterError> max_steps_of(const Parameters& parameters) {
    const auto steps = std::get<std::int64_t>(parameters.at("max_steps"));
    if (steps < 1 || steps > max_steps_limit)
        return ParameterError{"max_steps", "a number from 1 to 100000000"};
    return steps;
}

std::vector<ParameterSpec> leftover_parameter_specs() {
    return {
        {"leftover_order", ParameterKind::text_list,
         std::vector<std::string>{"MEMORY_MB", "VCPU", "DISK_GB"},
         "resource classes whose waste counts first, second, ...; the request's other classes "
         "follow by name"},
        max_steps_spec(),
    };
}

std::vector<NamedThing> leftover_names(const Parameters& parameters) {
    std::vector<NamedThing> names;
    for (const auto& name : std::get<std::vector<std::string>>(parameters.at("leftover_order")))
        names.push_back({NamedThing::Kind::resource_class, "leftover_order", name});
    return names;
}

std::variant<LeftoverParameters, ParameterError> leftover_parameters(const Parameters& parameters) {
    auto order = class_names(std::get<std::vector<std::string>>(parameters.at("leftover_order")));
    if (!order)
        return ParameterError{"leftover_order",
                              "names of resource classes (MEMORY_MB, CUSTOM_...), each once"};
    const auto steps = max_steps_of(parameters);
    if (const auto* wrong = std::get_if<ParameterError>(&steps)) return *wrong;
    return LeftoverParameters{std::move(*order), std::get<std::int64_t>(steps)};
}

}  // namespace reaper
