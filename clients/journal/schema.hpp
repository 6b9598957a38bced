// The journal's tables and their versions.
#pragma once

#include <cstdint>
#include <string>

#include "clients/journal/database.hpp"

namespace reaper::journal {

/// Stands in the file's `application_id`: "REAP".
inline constexpr std::uint32_t application_id = 0x52454150;

/// Number of migrations that this reaper knows; stands in the file's `user_version`.
std::int64_t schema_version();

/// Refuses a file of a newer reaper or of another program. Changes nothing.
Result<void> check_origin(Database& database, const std::string& path);

/// Brings the file from its version to ours, each step in a transaction of its own; refuses what
/// check_origin refuses.
Result<void> migrate(Database& database, const std::string& path);

/// Are the tables of a migrated file those that the migrations make, to the letter?
bool has_our_tables(Database& database);

/// For readers, who change nothing: the file must have our version.
Result<void> check_schema(Database& database, const std::string& path);

}  // namespace reaper::journal
