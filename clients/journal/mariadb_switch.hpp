// The pause switch in the journal's database: one for all reapers that may write that journal.
//
// It stands in the row of the lease, which each transaction that writes changes: a pause is either
// before the record of a deletion, which then fails, or behind it. The switch of this machine (its
// file) still pauses this machine.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "clients/journal/mariadb_database.hpp"
#include "reaper/ports/pause_switch.hpp"

namespace reaper {

enum class SwitchUse {
    once,    ///< each call asks the database; for commands
    watched  ///< a thread asks it twice a second, and `paused` is as of its last answer
};

/// `local`: this machine's. While the database has not answered for 15 s, `paused` gives
/// that as the reason. `pause` and `resume` block until the database has answered, and are tried
/// again for 10 s (`watched`: 2 s); `resume` also ends the local one.
std::unique_ptr<Switch> make_shared_switch(const journal::MariadbAddress& address,
                                           std::unique_ptr<Switch> local, SwitchUse use);

}  // namespace reaper
