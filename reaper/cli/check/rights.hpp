// The policy rules that the reaper needs, by service and feature: those that deploy/least-rights
// lists, which the program carries with it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "clients/openstack/openstack.hpp"
#include "config/settings.hpp"
#include "reaper/cli/check/checks.hpp"
#include "reaper/cli/check/tried_calls.hpp"

namespace reaper::cli {

namespace embedded {
extern const std::string_view rights;  ///< the table in Python
}

struct Right {
    std::string service;  ///< nova
    std::string feature;  ///< delete
    std::string rule;     ///< os_compute_api:servers:delete

    friend bool operator==(const Right&, const Right&) = default;
};

/// Of a table such as `"nova": {"delete": ["rule", ...]}`, of one name or rule on a line.
std::vector<Right> read_rights(std::string_view table);

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
void check_rights(const std::set<std::string>& features, const std::vector<Right>& rights,
                  const Evidence& evidence, const Report& report);

}  // namespace reaper::cli
