#include "reaper/model/parameters.hpp"

#include <algorithm>

namespace reaper {
namespace {

bool is_of_kind(const ParameterValue& value, ParameterKind kind) {
    switch (kind) {
        case ParameterKind::integer: return std::holds_alternative<std::int64_t>(value);
        case ParameterKind::text: return std::holds_alternative<std::string>(value);
        case ParameterKind::text_list:
            return std::holds_alternative<std::vector<std::string>>(value);
    }
    return false;
}

std::string kind_words(ParameterKind kind) {
    switch (kind) {
        case ParameterKind::integer: return "a whole number";
        case ParameterKind::text: return "a text";
        case ParameterKind::text_list: return "a list of texts";
    }
    return "another kind of value";
}

const ParameterSpec* find_spec(const std::vector<ParameterSpec>& specs, std::string_view name) {
    const auto at = std::ranges::find(specs, name, &ParameterSpec::name);
    return at == specs.end() ? nullptr : &*at;
}

std::string known_names(const std::vector<ParameterSpec>& specs) {
    if (specs.empty()) return "no parameters";
    std::string text = "one of ";
    for (const auto& spec : specs) {
        if (&spec != &specs.front()) text += ", ";
        text += spec.name;
    }
    return text;
}

}  // namespace

Parameters with_standards(const std::vector<ParameterSpec>& specs, Parameters parameters) {
    for (const auto& spec : specs) parameters.try_emplace(std::string{spec.name}, spec.standard);
    return parameters;
}

std::vector<ParameterError> check_parameters(const std::vector<ParameterSpec>& specs,
                                             const Parameters& parameters) {
    std::vector<ParameterError> errors;
    for (const auto& [name, value] : parameters) {
        const ParameterSpec* spec = find_spec(specs, name);
        if (spec == nullptr)
            errors.push_back(ParameterError{name, known_names(specs)});
        else if (!is_of_kind(value, spec->kind))
            errors.push_back(ParameterError{name, kind_words(spec->kind)});
    }
    return errors;
}

}  // namespace reaper
