// Reads the configuration file into Settings: everything typed and checked, all mistakes at once.
//
// Nothing of yaml-cpp and no exception leaves this library. Secrets stand in the file, or come
// from files or variables that it names; cloud credentials from the file, from clouds.yaml, or from
// OS_* variables, as it says.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>
#include <yaml-cpp/yaml.h>

#include "config/environment.hpp"
#include "config/findings.hpp"
#include "config/keys.hpp"
#include "config/settings.hpp"

namespace reaper::config {

// Keys of the file as variables of the environment, for containers: `cull.deadline` is
// REAPER_CULL_DEADLINE. The file overrules them. Values are as the file would say them; of a
// secret, the variable is as one that K_env names.

std::string variable_of(const Section& section, const Key& key);

/// Into the document what variables say of keys that it lacks. A variable that is empty says
/// nothing. What can't be understood is a mistake of the variable; the findings remember which keys
/// are whose.
void add_variables(YAML::Node& root, const Environment& environment, Findings& findings);

using LoadResult = std::variant<Settings, std::vector<ConfigError>>;

/// Settings that are complete and possible, or every mistake found (at least one), by file and
/// line. `warnings` (may be null) gets what works but should be fixed, such as a secret that
/// everyone can read; it is filled in both cases.
LoadResult load_settings(const std::string& path, const Environment& environment,
                         std::vector<ConfigError>* warnings = nullptr);

/// `taggers`, `strategy` and `alternatives` of the file alone, for work without a cloud: sections
/// on where and how to reach things may be wrong or missing; `taggers` too, and are empty then.
std::variant<Policy, std::vector<ConfigError>> load_policy(const std::string& path,
                                                           const Environment& environment);

/// A key of the file with a value, as the file would say both: `limits.victims_per_window`, `10`.
using Override = std::pair<std::string, std::string>;

/// The same of a text that is already here, with other values for some keys that decide which
/// servers go; without taggers where it has none. `name` stands for the file in the messages.
std::variant<Policy, std::vector<ConfigError>> load_policy_text(
    const std::string& name, std::string_view text, const std::vector<Override>& overrides,
    const Environment& environment);

/// The policy as a file would say it: read back, it is the same.
std::string to_yaml(const Policy& policy);

/// Loads what `modules` of the file names into the tables of plugins, whatever else is wrong in the
/// file; the mistakes in that. A file that can't be read names none.
std::vector<ConfigError> load_modules(const std::string& path, const Environment& environment);

/// Where the value of a key comes from.
struct KeyOrigin {
    std::string key;
    std::string variable;
    std::string from;  ///< `FILE:LINE`, `environment`, or empty: the default
    std::string expected;
};

/// Of every key, in the order of the table. None if the file can't be read, or is no document.
std::vector<KeyOrigin> origins(const std::string& path, const Environment& environment);

/// What the commands on this machine need: the journal, the pause file, the daemon's socket.
struct LocalSettings {
    bool dry_run = false;
    JournalSettings journal;  ///< in a dry run, the one that it keeps
    std::string pause_file;
    Admin admin;
    SafeguardSettings safeguards;  ///< the defaults where something is wrong in them
    Broker broker;                 ///< the one to ask which reaper is active
    std::string broker_unknown;    ///< why it can't be asked; empty if it can
    Gateway gateway;               ///< the one to ask whether it helps
    Record record;
    MetricsPage metrics;  ///< where a daemon without a socket can be asked how it is
    /// Where a run in the other mode keeps its journal: in a dry run the daemon's, else a dry
    /// run's. Nowhere: there can be none.
    JournalSettings other_journal{""};
};

/// These alone, for what must work whatever else is wrong or can't be read by the caller: no secret
/// is needed for it.
std::variant<LocalSettings, std::vector<ConfigError>> load_local(const std::string& path,
                                                                 const Environment& environment);

/// What `reaper gateway` needs.
struct GatewaySettings {
    Gateway gateway;
    Cloud cloud;  ///< credentials only where the file says nothing of where Placement is
    Http http;
    Log log;
    milliseconds start_within{};
};

/// These alone: no broker, no tagger, and no cloud if the file says where Placement is.
std::variant<GatewaySettings, std::vector<ConfigError>> load_gateway(
    const std::string& path, const Environment& environment);

/// A cloud by the OS_* variables alone (with OS_CLOUD also of clouds.yaml), for a user without a
/// configuration.
std::variant<Cloud, std::vector<ConfigError>> load_cloud_of_environment(
    const Environment& environment);

/// What holds when no file says anything.
Policy standard_policy();

/// The settings as a file would say them, every key with its value; secrets as `***`. For
/// `reaper check` and debugging.
std::string to_yaml(const Settings& settings);

}  // namespace reaper::config
