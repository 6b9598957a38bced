// What a new configuration changes, and what of that takes effect without a restart.
#pragma once

#include <string>
#include <vector>

#include "config/settings.hpp"

namespace reaper::cli {

/// Sections (`cull`) and keys (`log.level`) that differ.
struct SettingsChange {
    std::vector<std::string> live;
    std::vector<std::string> needs_restart;

    bool empty() const { return live.empty() && needs_restart.empty(); }
};

SettingsChange compare_settings(const config::Settings& before, const config::Settings& after);

/// `in_force` with the parts of `wanted` that can change while running.
config::Settings with_live_parts(config::Settings in_force, const config::Settings& wanted);

/// For logs: `applied: cull, strategy; needs a restart: broker`.
std::string to_string(const SettingsChange& change);

}  // namespace reaper::cli
