// What `reaper status` tells, of this machine's reaper or of one that is asked.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "reaper/cli/daemon/active_reaper.hpp"
#include "reaper/cli/daemon/daemon_health.hpp"
#include "reaper/cli/output/terminal.hpp"
#include "reaper/model/records.hpp"
#include "reaper/model/request_record.hpp"
#include "reaper/report/render.hpp"
#include "reaper/safeguards/safeguards.hpp"

namespace reaper::cli {

// How the gateway of this machine's reaper is: asked of itself.

struct GatewayState {
    bool answers = false;
    /// Why everything passes through, or why it does not answer; empty: it helps.
    std::string why_not;
    bool full = false;  ///< as many searches wait as may: others pass through
};

/// What `GET /reaper-gateway` says.
GatewayState read_gateway_state(const std::string& body);

/// None: there is no gateway. Waits for a few seconds at most.
std::optional<GatewayState> gateway_state(const config::Gateway& gateway);

/// One line, for people.
std::string to_text(const GatewayState& state, const config::Gateway& gateway);

// Is the reaper of this machine paused, for commands that look: by its operator, or by its circuit
// breaker.

/// The operator's pause, else the breaker's; none: neither.
std::optional<PauseNote> pause_in_force(const std::string& pause_file,
                                        const config::JournalSettings& journal);

/// What an operator who looks at a plan must know of the daemon: that it is paused; none if not.
std::vector<std::string> pause_remarks(const std::optional<PauseNote>& paused);

/// What resuming ended: the operator's pause, what opened the circuit breaker, both or neither.
/// `where`: `on this machine (...)`.
std::string resumed_text(const std::string& where, const std::optional<PauseNote>& paused,
                         const std::optional<PauseNote>& opened);
/// Said where neither was, and the breaker is half open.
extern const char* const half_open_stays;

/// What the journal tells of the last day and the present.
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
    std::vector<Notice> notices;  ///< under way
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
