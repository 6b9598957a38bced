// What `reaper status` tells, of this machine's reaper or of one that is asked.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "reaper/cli/daemon/active_reaper.hpp"
#include "reaper/cli/daemon/daemon_health.hpp"
#include "reaper/cli/daemon/gateway_state.hpp"
#include "reaper/cli/output/terminal.hpp"
#include "reaper/model/pause_note.hpp"
#include "reaper/model/request_record.hpp"
#include "reaper/report/render.hpp"
#include "reaper/safeguards/safeguards.hpp"

namespace reaper::cli {

/// What the journal tells of the last day, and of now.
struct Recorded {
    JournalTotals totals;
    std::vector<InventoryHold> holds;
    std::vector<RequestSummary> under_way;  ///< the newest ones, `most_under_way` at most
};

inline constexpr int most_under_way = 10;

/// The requests that `Recorded::under_way` holds.
JournalQuery requests_under_way();

struct StatusReport {
    std::string machine;
    std::string where;  ///< `on this machine (ctl-1)`, for people
    std::string whose;  ///< the journal: `this machine`
    DaemonHealth daemon;
    Activity activity;
    std::optional<PauseNote> pause;  ///< in force
    bool until_resume = false;       ///< the operator's; else the circuit breaker ends it by itself
    std::string file;                ///< of the pause; empty: not known
    std::string held_back;  ///< of one elsewhere: why it deletes none though it is not paused
    CircuitState circuit{};
    std::string circuit_reason;
    std::vector<Safeguards::LeftAlone> left_alone;
    std::optional<GatewayState> gateway;
    config::Gateway gateway_settings;
    TimePoint since{};
    TimePoint at{};
    std::optional<Recorded> recorded;  ///< none: it can't be read
};

nlohmann::json json_of(const StatusReport& status);
std::string text_of(const StatusReport& status, const report::RenderOptions& options);

/// As one of the two, and the exit code that tells whether it is paused.
ExitCode show_status_report(const StatusReport& status, const Terminal& terminal);

}  // namespace reaper::cli
