// The configuration in effect as JSON, for `reaper config --json`.
#pragma once

#include <nlohmann/json.hpp>

#include "config/settings.hpp"

namespace reaper::cli {

/// The keys of the file, nested as there; durations in milliseconds as `KEY_ms`. Secrets are "***"
/// when set, and broker URLs are shown without user and password.
nlohmann::json to_json(const config::Settings& settings);

}  // namespace reaper::cli
