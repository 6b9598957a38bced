// Parameters of the pluggable parts (strategies, taggers): described once, in the plugin's own
// file; the config loader, the help texts and `reaper strategies` read the description.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace reaper {

using ParameterValue = std::variant<std::int64_t, std::string, std::vector<std::string>>;
using Parameters = std::map<std::string, ParameterValue, std::less<>>;

enum class ParameterKind { integer, text, text_list };

struct ParameterSpec {
    std::string_view name;
    ParameterKind kind;
    ParameterValue standard;  ///< used when absent
    std::string_view help;    ///< with unit and allowed values
};

/// A value that its plugin can't use.
struct ParameterError {
    std::string parameter;
    std::string expected;  ///< "a number from 1 to 1000"
};

/// Something of the cloud that the value of a parameter names. Whether it is there is looked up
/// when the reaper starts, when it reads its configuration again, and by `reaper check`.
struct NamedThing {
    enum class Kind { resource_class, project_tag, project_or_flavor };
    Kind kind{};
    std::string parameter;
    std::string name;
};

/// Ids of projects, by what the configuration calls them.
using ProjectIds = std::map<std::string, std::string>;

/// `parameters` filled up with each spec's standard value. Unknown names and kinds are the
/// caller's to check (see `check_parameters`).
Parameters with_standards(const std::vector<ParameterSpec>& specs, Parameters parameters);

/// The first unknown name or wrong kind, if any. An empty `parameter` never occurs.
std::vector<ParameterError> check_parameters(const std::vector<ParameterSpec>& specs,
                                             const Parameters& parameters);

}  // namespace reaper
