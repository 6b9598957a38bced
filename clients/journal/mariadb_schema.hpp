// The journal's tables in MariaDB: those of SQLite (schema.cpp) with the same columns, the lease of
// the reaper that writes, and the reapers that stand by.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "clients/journal/database.hpp"

/// Milliseconds since the epoch, by the clock of the database server.
#define MARIADB_NOW "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)"

namespace reaper::journal {

/// Stands in the table `reaper_schema`.
inline constexpr std::int64_t mariadb_schema_version = 1;

/// What brings the database to this version, one statement each, also if an earlier build made it;
/// none: it has all. An error: tables of another version, or of another program.
///
/// MariaDB ends a transaction at each change of a table, so the version is written last, and every
/// statement may run twice: what was interrupted goes on.
Result<std::vector<std::string>> missing_tables(Database& database, const std::string& url);

/// An error unless the database has this version, with each table. `not_found`: to be migrated.
Result<void> check_tables(Database& database, const std::string& url);

}  // namespace reaper::journal
