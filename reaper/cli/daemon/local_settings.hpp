// The configuration as far as commands on this machine need it: status, history, pause, resume and
// request work without secrets, and while something else in the file is wrong.
#pragma once

#include <optional>

#include "config/loader.hpp"
#include "reaper/cli/arguments/arguments.hpp"
#include "reaper/cli/output/terminal.hpp"

namespace reaper::cli {

/// Loads the modules of the configuration, where there is one, into the tables of plugins; what is
/// wrong with them is printed.
void take_modules(const GlobalOptions& global, const Terminal& terminal);

/// None if these settings are wrong, or the file can't be read: then every mistake was printed.
std::optional<config::LocalSettings> local_settings(const GlobalOptions& global,
                                                    const Terminal& terminal);

/// The one of reapers that act, of which a dry run's configuration tells too.
inline const config::JournalSettings& acting_journal(const config::LocalSettings& settings) {
    return settings.dry_run ? settings.other_journal : settings.journal;
}

}  // namespace reaper::cli
