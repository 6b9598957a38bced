// The policy rules that the reaper needs, by service and feature: the lines of the table in
// deploy/least-rights, which are compiled in.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clients/openstack/openstack.hpp"
#include "config/settings.hpp"
#include "reaper/cli/check/checks.hpp"
#include "reaper/cli/check/tried_calls.hpp"

namespace reaper::cli {

struct Right {
    std::string_view service;  ///< nova
    std::string_view feature;  ///< delete
    std::string_view rule;     ///< os_compute_api:servers:delete

    friend bool operator==(const Right&, const Right&) = default;
};

/// Made by embed.cmake.
extern const std::span<const Right> needed_rights;

/// The features that are configured. `holds_room`: a tagger keeps revocable servers off freed room.
std::set<std::string> features_of(const config::Settings& settings, bool holds_room);

/// What `reaper check` has found, from which rights follow.
struct Evidence {
    const TriedCalls& calls;
    const std::vector<Finding>& findings;
    /// As whom the services were asked; none: Keystone did not let us in.
    std::optional<AuthInfo> who{};
};

/// For each of the features the rules that it needs: those that are missing (a call was refused for
/// them), those that were not tried, and those that let a call pass. What changes something is
/// never tried.
void check_rights(const std::set<std::string>& features, std::span<const Right> rights,
                  const Evidence& evidence, const Report& report);

}  // namespace reaper::cli
