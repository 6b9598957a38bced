// The JSON of what holds a reaper back: a pause, what is left alone, and notices.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "reaper/model/error.hpp"
#include "reaper/model/records.hpp"
#include "reaper/safeguards/safeguards.hpp"

namespace reaper::report {

/// {by, reason, at, line}; null for none.
nlohmann::json json_of(const std::optional<PauseNote>& note);
/// [{safeguard, project, shape, state, wasted, until (or null)}]
nlohmann::json json_of(const std::vector<Safeguards::LeftAlone>& all);
/// [{server, name, host, request, until}]
nlohmann::json json_of(const std::vector<Notice>& all);

/// The inverses. `bad_answer` with the place for anything of another shape.
Result<std::optional<PauseNote>> pause_from_json(const nlohmann::json& document);
Result<std::vector<Safeguards::LeftAlone>> left_alone_from_json(const nlohmann::json& document);
Result<std::vector<Notice>> notices_from_json(const nlohmann::json& document);

}  // namespace reaper::report
