// From the target of a client's request to that of the upstream's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reaper::proxy {

/// Both without a slash at the end; empty: the root.
struct PathPrefixes {
    std::string ours;      ///< under which clients ask
    std::string upstream;  ///< under which the upstream answers
};

/// `/placement` of `/placement/` and of `placement`; empty for `/`.
std::string path_prefix(std::string_view path);

/// Only the prefix is exchanged; everything else stays. None: the target is
/// not under our prefix, or may lead out of it (`..`).
std::optional<std::string> upstream_target(const PathPrefixes& prefixes, std::string_view target);

/// For logs: path and query, without the values of keys such as `token`.
std::string shown(std::string_view target);

}  // namespace reaper::proxy
