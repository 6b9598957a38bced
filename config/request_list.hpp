// A file of many requests for `reaper plan --requests`: a YAML (or JSON) list of mappings, in the
// words of the command's options.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/findings.hpp"

namespace reaper::config {

/// One request as it is written: values with a syntax of their own are not looked into.
struct RequestEntry {
    int line = 0;
    std::string id;  ///< may be empty
    std::string project;
    /// `VCPU=4,MEMORY_MB=2048`, also if it is written as a mapping; empty if it is of a flavor.
    std::string resources;
    int slots = 1;
    std::string zone;                   ///< may be empty
    std::vector<std::string> traits;    ///< `NAME=required`
    std::string res_type{};             ///< a constraint such as `~regular`; may be empty
    std::vector<std::string> groups{};  ///< `VGPU=1,NAME=required`
    std::string group_policy{};         ///< none or isolate; may be empty
    std::string flavor{};               ///< id or name; empty: see the resources
};

inline constexpr int max_requests = 10'000;

/// The requests, at least one; or every mistake. `name` stands for the file in the messages.
std::variant<std::vector<RequestEntry>, std::vector<ConfigError>> read_request_list(
    const std::string& name, std::string_view text);

}  // namespace reaper::config
