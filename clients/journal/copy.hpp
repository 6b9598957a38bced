// A journal, row for row, from one engine to another or the same.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "clients/journal/mariadb_database.hpp"
#include "clients/journal/store.hpp"

namespace reaper::journal {

/// A journal whose one writer we are.
struct OwnedDatabase {
    std::string name;                      ///< path or URL
    std::unique_ptr<Ownership> ownership;  // outlives the connection
    std::unique_ptr<Database> database;

    OwnedDatabase(std::string known_as, std::unique_ptr<Ownership> owned,
                  std::unique_ptr<Database> connection)
        : name(std::move(known_as)), ownership(std::move(owned)), database(std::move(connection)) {}
    OwnedDatabase(OwnedDatabase&&) = default;
    OwnedDatabase& operator=(OwnedDatabase&&) = delete;
    ~OwnedDatabase() {
        if (ownership) ownership->release();
    }
};

/// Makes the file if there is none; a damaged one is an error.
Result<OwnedDatabase> own_file(const std::string& path);
Result<OwnedDatabase> own_database(const MariadbAddress& address, const std::string& holder);

}  // namespace reaper::journal

namespace reaper {

/// The path of a file, or a database.
using JournalPlace = std::variant<std::string, journal::MariadbAddress>;

struct CopiedTable {
    std::string name;
    std::int64_t rows = 0;
    std::string digest;  ///< SHA-256 of all rows in both journals, in hexadecimal
};

/// Copies all rows, with their numbers. No reaper may write to either journal meanwhile: both are
/// locked. What was copied before an interruption stays, and the next call goes on behind it. At
/// the end both journals are read again, and have the same digests.
///
/// Errors: a source that does not exist (`not_found`), a target with rows that are not the
/// source's.
Result<std::vector<CopiedTable>> copy_journal(const JournalPlace& from, const JournalPlace& to);

}  // namespace reaper
