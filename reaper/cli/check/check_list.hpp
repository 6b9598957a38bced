// The findings of `reaper check`, one line each.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reaper/report/table.hpp"

namespace reaper::cli {

enum class Verdict {
    ok,
    info,  ///< could not be tried, but is as it should be by all that is known
    warn,  ///< works, but is worth knowing, or can't be told from outside
    fail,  ///< must be mended; the detail says how
};

/// A service (`nova`) and one of its policy rules.
using ServiceRule = std::pair<std::string, std::string>;

struct Finding {
    Verdict verdict{};
    std::string what;
    std::string detail;
    /// Shown to be ours (ok), or to be missing (fail), by what an answer holds.
    std::optional<ServiceRule> rule{};
};

/// `ok   what: detail`, `info ...`, `warn ...`, `FAIL ...`; control characters made safe.
std::string to_line(const Finding& finding, bool color);

/// {version, ok, checks: [{verdict: "ok" | "info" | "warn" | "fail", what, detail}]}
nlohmann::json to_json(const std::vector<Finding>& findings);

/// A row for each: VERDICT, WHAT, DETAIL.
report::Table findings_table(const std::vector<Finding>& findings);

bool any_failed(const std::vector<Finding>& findings);

/// `1 server`, `2 servers`.
std::string counted(std::size_t number, const char* one, const char* many);

}  // namespace reaper::cli
