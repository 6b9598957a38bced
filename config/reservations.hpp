// `reservations`: which projects are of which role, what is reserved by the file, and who may
// reserve what.
#pragma once

#include <string>
#include <vector>
#include <yaml-cpp/yaml.h>

#include "config/findings.hpp"
#include "config/settings.hpp"

namespace reaper::config {

inline constexpr const char* roles_expected =
    "a list of mappings with `role` and a list of `projects`";
inline constexpr const char* static_expected =
    "a list of mappings with `role`, `resources`, and `hosts` or `aggregates`";
inline constexpr const char* reserve_rules_expected =
    "a list of mappings with `principals` and `roles`";
inline constexpr const char* unreserve_rules_expected =
    "a list of mappings with `principals` and `of`";

/// `key` is the path for messages. Of `static` there is an entry for each item of the list, also
/// for one that is wrong.
void read_entries(const YAML::Node& node, const std::string& key, std::vector<RoleProjects>& into,
                  Findings& findings);
void read_entries(const YAML::Node& node, const std::string& key,
                  std::vector<StaticReservation>& into, Findings& findings);
void read_entries(const YAML::Node& node, const std::string& key, std::vector<ReserveRule>& into,
                  Findings& findings);
void read_entries(const YAML::Node& node, const std::string& key, std::vector<UnreserveRule>& into,
                  Findings& findings);

/// What entries of `static` don't say is as the section has it; then they are checked.
void finish_reservations(Reservations& reservations, Findings& findings);

}  // namespace reaper::config
