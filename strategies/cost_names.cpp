#include "strategies/cost_names.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "strategies/goal_text.hpp"

namespace reaper {
namespace {

using NamedTexts = std::vector<std::string>;

/// The classes of an objective, as in `waste:MEMORY_MB`.
std::set<std::string> classes_of(const NamedTexts& levels) {
    std::set<std::string> classes;
    for (const auto& text : levels) {
        const auto level = level_of(text);
        const auto* const terms = std::get_if<std::vector<Goal::Term>>(&level);
        if (terms == nullptr) continue;
        for (const auto& term : *terms)
            if (term.resource_class) classes.insert(term.resource_class->str());
    }
    return classes;
}

}  // namespace

std::vector<NamedThing> names_of_cost(const Parameters& parameters) {
    using Kind = NamedThing::Kind;
    std::vector<NamedThing> names;
    for (const auto& name : classes_of(std::get<NamedTexts>(parameters.at("objective"))))
        names.push_back({Kind::resource_class, "objective", name});
    for (const auto& name : std::get<NamedTexts>(parameters.at("waste_order")))
        names.push_back({Kind::resource_class, "waste_order", name});
    const auto& work_class = std::get<std::string>(parameters.at("work_class"));
    if (work_class != all_cpu_classes)
        names.push_back({Kind::resource_class, "work_class", work_class});
    for (const auto& text : std::get<NamedTexts>(parameters.at("priorities"))) {
        const auto priority = priority_of(text);
        if (const auto* const read = std::get_if<0>(&priority))
            names.push_back({Kind::project_or_flavor, "priorities", read->first});
    }
    return names;
}

Parameters cost_with_project_ids(Parameters parameters, const ProjectIds& ids) {
    auto& written = std::get<NamedTexts>(parameters.at("priorities"));
    std::map<std::string, Amount> values;
    for (const auto& text : written) {
        const auto priority = priority_of(text);
        const auto* const read = std::get_if<0>(&priority);
        if (read == nullptr) return parameters;  // it was refused
        values[read->first] = std::max(values[read->first], read->second);
        const auto id = ids.find(read->first);
        if (id != ids.end()) values[id->second] = std::max(values[id->second], read->second);
    }
    written.clear();
    for (const auto& [name, value] : values) written.push_back(name + "=" + std::to_string(value));
    return parameters;
}

}  // namespace reaper
