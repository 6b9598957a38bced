// Which of several reapers serves the queue, for people who look at one of them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "config/loader.hpp"
#include "config/settings.hpp"
#include "reaper/ports/broker_console.hpp"
#include "reaper/ports/reapers.hpp"

namespace reaper::cli {

struct Activity {
    std::optional<ActiveReaper> active;
    bool here = false;         ///< it is this machine's daemon, with this configuration's journal
    std::string unknown;       ///< why it is not known; empty if it is
    bool not_needed = false;   ///< there is none: `unknown` says why
    bool one_journal = false;  ///< a daemon says that this one and `active` share it, and the pause
    std::optional<ReaperList> reapers{};  ///< of one journal in a database, which tells it then
};

/// Of a daemon that says that it is a dry run. That the configuration asks for one tells nothing of
/// a daemon that was started before.
Activity no_active_reaper();

/// Asks the broker; it takes some seconds at most where no broker answers.
Activity activity_of(const config::Broker& broker, const std::string& journal_path);
/// The same where the configuration may not name the broker, or not for this user.
Activity activity_of(const config::LocalSettings& settings);
/// Is it the daemon of this machine and configuration? In a dry run that is also the one which acts
/// in earnest since before.
bool is_here(const ActiveReaper& active, const config::LocalSettings& settings);

/// `ctl-1, process 7 (version 0.1.0), active since ...`, and a line for each that stands by;
/// `this one`; `on ctl-1 (journal PATH), not this one`; `not known: ...`;
/// `none is needed: ...`
std::string to_text(const Activity& activity);
nlohmann::json to_json(const Activity& activity);
/// `which reaper is active is not known: WHY`, for a warning.
std::string not_known_text(const std::string& why);

}  // namespace reaper::cli
