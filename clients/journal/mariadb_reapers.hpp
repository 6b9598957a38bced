// The reapers of a journal in MariaDB: each has a row, which it renews; the row of the lease says
// which of them is active.
#pragma once

#include <memory>

#include "clients/journal/mariadb_database.hpp"
#include "reaper/ports/reapers.hpp"

namespace reaper {

/// Asks the database twice a second on a thread of its own, and tells it of this reaper every two
/// seconds. Its end takes the row back.
std::unique_ptr<Reapers> make_reapers(const journal::MariadbAddress& address, ReaperNote self);

/// Asks once, for commands. Blocks.
ReaperList reapers_now(const journal::MariadbAddress& address);

}  // namespace reaper
