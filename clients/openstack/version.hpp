// Microversions: what a service offers, and which one we agree on. Pure.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "reaper/model/error.hpp"

namespace reaper::openstack {

struct Version {
    int major = 0;
    int minor = 0;
    friend auto operator<=>(const Version&, const Version&) = default;
};
std::string to_string(Version version);
std::optional<Version> version_from(std::string_view text);

/// What a service says that it speaks.
struct VersionRange {
    Version oldest;
    Version newest;
};

/// Nova: `{"version": {"min_version": "2.1", "version": "2.93"}}`. Placement: `{"versions":
/// [{"min_version": "1.0", "max_version": "1.39"}]}`. `where` names the call.
Result<VersionRange> read_versions(std::string_view body, const std::string& where);

/// What we can work with: any version from `least` to `most`; the newest that both have is taken.
struct Need {
    Version least;
    Version most;
    std::string_view least_release;  ///< of OpenStack, for people
};

/// `rejected` if there is none; `service` and `url` are for its text.
Result<Version> agree(const Need& need, const VersionRange& offered, std::string_view service,
                      const std::string& url);

}  // namespace reaper::openstack
