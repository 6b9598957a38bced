// What a damaged journal looks like, and putting it out of the way.
#pragma once

#include <string>

#include "clients/journal/sqlite_database.hpp"
#include "reaper/model/error.hpp"
#include "reaper/model/time.hpp"

namespace reaper::journal {

/// The file, or its write-ahead log, is not what was written.
struct Damage {
    std::string what;
};

/// SQLite says that the file is damaged, or is no database of its kind; or its tables are such that
/// our own statements make no sense there.
bool indicates_damage(const DatabaseFailure& failure);

/// Throws Damage for a write-ahead log that SQLite would quietly leave out, wholly or from its
/// middle on, though the transactions in it were durable. To be called before the database is
/// opened: that replays the log. A log whose end was cut off in the middle of a write is in order.
///
/// SQLite's rule, https://www.sqlite.org/fileformat2.html#the_write_ahead_log: a log counts up to
/// its last valid commit, and everything behind the first frame with a wrong checksum is ignored.
/// Every commit of ours was synced before the next one began, so that the loss of power can cost
/// the last one only: two commits behind a wrong frame were durable.
void check_log(const std::string& path);

/// Throws Damage unless the whole file holds together: pages, tables, indexes, references.
void check_whole(SqliteDatabase& database);

/// Has this file been a journal of ours, as far as a damaged one shows? Any other file is not ours
/// to move.
bool was_a_journal(const std::string& path);

/// Renames the file with its log to unused names (`PATH.damaged-20240501T120000Z`), and
/// says which. The lease must be held.
Result<std::string> set_aside(const std::string& path, TimePoint now);

}  // namespace reaper::journal
