// The list of `reaper oversubscription`, from what the daemon answers.
#pragma once

#include <nlohmann/json.hpp>

#include "reaper/report/table.hpp"

namespace reaper::cli {

/// `said`: the answer to GET /v1/oversubscription; members that are not there, or of another kind,
/// are left out.
report::Table oversubscription_table(const nlohmann::json& said);

}  // namespace reaper::cli
