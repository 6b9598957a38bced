// The lists of `reaper oversubscription` and `reaper reservations`.
#pragma once

#include <nlohmann/json.hpp>

#include "reaper/report/table.hpp"

namespace reaper::cli {

// The list of `reaper oversubscription`, from what the daemon answers.

/// `said`: the answer to GET /v1/oversubscription; members that are not there, or of another kind,
/// are left out.
report::Table oversubscription_table(const nlohmann::json& said);

// The list of `reaper reservations`, from what the daemon answers.

/// `said`: the answer to GET /v1/reservations; members that are not there, or of another kind, are
/// left out.
report::Table reservations_table(const nlohmann::json& said);

/// The same for GET /v1/reapers.
report::Table reapers_table(const nlohmann::json& said);

}  // namespace reaper::cli
