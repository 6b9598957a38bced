// The journal's tables and their version.
#pragma once

#include <cstdint>
#include <string>

#include "clients/journal/database.hpp"

namespace reaper::journal {

/// Stands in the file's `application_id`: "REAP".
inline constexpr std::uint32_t application_id = 0x52454150;

/// Stands in the file's `user_version`; 0 there: a file without tables yet.
inline constexpr std::int64_t schema_version = 1;

/// Refuses a file of another version or of another program. Changes nothing.
Result<void> check_origin(Database& database, const std::string& path);

/// Makes the tables of a new file, in one transaction; refuses what check_origin refuses.
Result<void> make_tables(Database& database, const std::string& path);

/// Are the file's tables those that make_tables makes, to the letter?
bool has_our_tables(Database& database);

/// For readers, who change nothing: as check_origin, and a file without tables is `not_found`.
Result<void> check_schema(Database& database, const std::string& path);

}  // namespace reaper::journal
