#include "reaper/modules/loaded_modules.hpp"

#include <algorithm>
#include <exception>

#include "reaper/modules/guards.hpp"

namespace reaper {
namespace {

std::deque<LoadedModule>& all() {
    static std::deque<LoadedModule> modules;
    return modules;
}

template <class Info>
bool is_taken(const std::vector<Info>& parts, std::size_t at,
              const Info* (*find)(std::string_view)) {
    const auto end = parts.begin() + static_cast<std::ptrdiff_t>(at);
    return find(parts[at].name) != nullptr ||
           std::any_of(parts.begin(), end,
                       [&](const Info& before) { return before.name == parts[at].name; });
}

/// Why they can't be in the table, if so.
template <class Info>
std::optional<ParameterError> refusal(const char* kind, const std::vector<Info>& parts,
                                      const Info* (*find)(std::string_view)) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::string what = std::string{kind} + " '" + std::string{parts[i].name} + "'";
        if (parts[i].name.empty() || !parts[i].make)
            return ParameterError{"", "a name and a `make` of each part: " + what + " lacks one"};
        if (is_taken(parts, i, find))
            return ParameterError{"", "names of its own: there is a " + what + " already"};
    }
    return std::nullopt;
}

std::optional<ParameterError> refusal(const ModuleParts& parts) {
    if (auto wrong = refusal("strategy", parts.strategies, find_strategy)) return wrong;
    if (auto wrong = refusal("tagger", parts.taggers, find_tagger)) return wrong;
    if (auto wrong = refusal("estimator", parts.estimators, find_estimator)) return wrong;
    if (auto wrong = refusal("QoS controller", parts.qos, find_qos)) return wrong;
    if (parts.strategies.empty() && parts.taggers.empty() && parts.estimators.empty() &&
        parts.qos.empty())
        return ParameterError{"", "a strategy, tagger, estimator or QoS controller in it"};
    return std::nullopt;
}

template <class Info>
void add(const char* kind, std::vector<Info>& parts, void (*add_one)(Info), LoadedModule& module) {
    for (Info& info : parts) {
        module.parts +=
            (module.parts.empty() ? "" : ", ") + (std::string{kind} + " " + std::string{info.name});
        add_one(std::move(info));
    }
}

std::variant<ModuleParts, ParameterError> made(const ModuleInfo& info,
                                               const Parameters& parameters) {
    try {
        return info.make(parameters);
    } catch (const std::exception& exception) {
        return ParameterError{"", std::string{"that it starts; it fails: "} + exception.what()};
    } catch (...) {
        return ParameterError{"", "that it starts; it fails"};
    }
}

}  // namespace

const std::deque<LoadedModule>& loaded_modules() {
    return all();
}

const LoadedModule* find_loaded_module(const std::string& path) {
    const auto at = std::find_if(all().begin(), all().end(),
                                 [&](const LoadedModule& each) { return each.path == path; });
    return at == all().end() ? nullptr : &*at;
}

std::optional<ParameterError> add_module(const std::string& path, const ModuleFile& file,
                                         const Parameters& parameters) {
    auto either = made(file.info, parameters);
    if (auto* const wrong = std::get_if<ParameterError>(&either)) return std::move(*wrong);
    auto& parts = std::get<ModuleParts>(either);
    if (auto wrong = refusal(parts)) return wrong;
    LoadedModule module{path,
                        file.sha256,
                        std::string{file.info.name},
                        std::string{file.info.version},
                        file.info.parameters,
                        {}};
    guard(parts, module.title());
    add("strategy", parts.strategies, add_strategy, module);
    add("tagger", parts.taggers, add_tagger, module);
    add("estimator", parts.estimators, add_estimator, module);
    add("QoS controller", parts.qos, add_qos, module);
    all().push_back(std::move(module));
    return std::nullopt;
}

}  // namespace reaper
