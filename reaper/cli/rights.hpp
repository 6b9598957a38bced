// The policy rules that the reaper needs, by service and feature: those that deploy/least-rights
// lists, which the program carries with it.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"
#include "reaper/cli/checks.hpp"

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

/// For each of them the rules that it needs, and those that are missing: that a refused call of
/// `findings` names.
void check_rights(const std::set<std::string>& features, const std::vector<Right>& rights,
                  const std::vector<Finding>& findings, const Report& report);

}  // namespace reaper::cli
