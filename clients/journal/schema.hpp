// The journal's tables and their versions.
#pragma once

#include <cstdint>
#include <string>

#include "clients/journal/database.hpp"

namespace reaper::journal {

/// Number of migrations that this reaper knows; stands in the file's `user_version`.
std::int64_t schema_version();

/// Brings the file from its version to ours, each step in a transaction of its own. Refuses a file
/// of a newer reaper or of another program.
Result<void> migrate(Database& database, const std::string& path);

/// For readers, who change nothing: the file must have our version.
Result<void> check_schema(Database& database, const std::string& path);

}  // namespace reaper::journal
