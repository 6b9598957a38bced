// Sections of the file that have sources of their own: their keys, and what must fit together in
// them.
#pragma once

#include <string>
#include <vector>
#include <yaml-cpp/yaml.h>

#include "config/findings.hpp"
#include "config/keys.hpp"

namespace reaper::config {

// `scheduler.cells`: which host is in which cell of Nova's.

inline constexpr const char* cells_expected =
    "a list of mappings with `name`, and with `hosts` or `aggregates`";

/// `key` is the path for messages.
std::vector<Cell> read_cells(const YAML::Node& node, const std::string& key, Findings& findings);

// `watermark` and `life_span`: their keys, and what must fit together in them and with the taggers.

/// For the table of keys.
std::vector<Section> duty_sections();

/// `key` is the path for messages; wrong entries are left out.
void read_entries(const YAML::Node& node, const std::string& key, std::vector<Mark>& into,
                  Findings& findings);
void read_entries(const YAML::Node& node, const std::string& key, std::vector<TaggerSpan>& into,
                  Findings& findings);

/// Life spans are of taggers that there are.
void check_duties(const Policy& policy, Findings& findings);

// `oversubscription`: its keys, and what must fit together in it and with the taggers.

/// For the table of keys.
std::vector<Section> oversubscription_sections();

/// The class stands for vCPUs; while it is enabled, its holders are revocable and what measures has
/// something to ask.
void check_oversubscription(const Settings& settings, Findings& findings);

// `reservations`: which projects are of which role, what is reserved by the file, and who may
// reserve what.

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
