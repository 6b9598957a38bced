// The journal in MariaDB, for reapers that stand by for each other: one writes, and what it wrote
// the next one reads, on any machine. The same rows, statements, retention and bounds as in a file
// (sqlite_journal.hpp).
//
// One writer: a numbered lease (mariadb_lease.hpp), checked with every write. A journal that can't
// be reached is an error of each call, after tries on all servers; nothing is kept in between.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "clients/journal/mariadb_database.hpp"
#include "clients/journal/schema.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper {

using MariadbAddress = journal::MariadbAddress;

/// Connects, checks the tables and takes the lease. Blocks. Errors are `storage`, with the URL and
/// what to do; no tables yet is `not_found`, another reaper's lease `conflict`. `holder`: our name
/// in the errors of others.
Result<std::unique_ptr<Journal>> open_mariadb_journal(const MariadbAddress& address,
                                                      const std::string& holder,
                                                      JournalOptions options = {});

/// A journal that may be another reaper's for now.
struct SharedJournal {
    std::unique_ptr<Journal> journal;
    /// Another reaper writes it, and we only read: makes us the one who writes. `conflict`: that
    /// one still is. Empty: we write.
    std::function<ResultTask<void>()> take_over{};
};

/// The same, but where another reaper writes, it is opened to be read until that ends.
Result<SharedJournal> open_or_follow_mariadb_journal(const MariadbAddress& address,
                                                     const std::string& holder,
                                                     JournalOptions options = {});

/// For reading, while a reaper may be writing.
Result<std::unique_ptr<JournalReader>> open_mariadb_journal_for_reading(
    const MariadbAddress& address);

/// The statements that make the journal's tables where they are missing; runs them unless
/// `dry_run`. Needs the right to create tables.
Result<std::vector<std::string>> migrate_mariadb_journal(const MariadbAddress& address,
                                                         bool dry_run);

}  // namespace reaper
