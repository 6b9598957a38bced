// The journal's tables and their version.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "clients/journal/database.hpp"

namespace reaper {

// How much of the past a journal keeps.

/// How long finished records, messages and events are kept.
inline constexpr std::chrono::days default_journal_retention{90};

/// The most servers whose deletion may be sent within a window; both may change at any time.
struct DeletionLimit {
    std::atomic<int> most{0};  ///< 0: any number
    std::atomic<std::int64_t> window_ms{3'600'000};
};

struct JournalOptions {
    std::chrono::days retention = default_journal_retention;
    /// The newest requests stay whatever their age: a clock that jumps ahead makes all of them look
    /// old, and a request that is forgotten could be served twice.
    std::int64_t newest_kept = 1'000;
    /// The limit of requests without deletions, of messages and of events (beside those since the
    /// last cleanup), so that a flood does not fill the disk.
    std::int64_t max_rows = 100'000;
    /// Above this size of the texts of requests and plans, requests without deletions go, the
    /// oldest first: what a user writes into a request (hints, traits of an image) may be long.
    std::int64_t max_bytes = std::int64_t{1} << 30;
    /// How long a call that a database server undid is tried again (SQLite: never).
    std::chrono::milliseconds retry_for{10'000};
    /// A client's search that takes longer is given up, since the reaper's own calls wait for it.
    std::chrono::milliseconds longest_search{2'000};
    /// Checked in the transaction that writes the step of a deletion; null: none.
    std::shared_ptr<const DeletionLimit> limit{};
    /// Called before a journal is begun in the place of one whose protections of servers can't be
    /// read; `why` is a reason to pause. On an error it is not begun. (SQLite; empty: nothing.)
    std::function<Result<void>(const std::string& why)> on_protections_lost{};
};

}  // namespace reaper

// The steps that make a server go (sends_eviction).

#define EVICTION_STEPS "('delete-sent', 'force-delete-sent', 'shelve-sent')"

// The columns of `request` that Store::row_of reads, and two more that Store::summary_of reads.

#define REQUEST_ROW                                                                \
    "SELECT seq, id, request, received_at, outcome, outcome_reason, finished_at, " \
    "safeguard, freed_room, freed_room_reason, untaken, freed_room_at, takers"

#define REQUEST_DELETIONS                                                          \
    ", (SELECT count(DISTINCT server) FROM step WHERE step.request = request.seq " \
    "AND step.step IN " EVICTION_STEPS                                             \
    "), "                                                                          \
    "(SELECT count(*) FROM chosen WHERE chosen.request = request.seq)"

namespace reaper::journal {

/// Stands in the file's `application_id`: "REAP".
inline constexpr std::uint32_t application_id = 0x52454150;

/// Stands in the file's `user_version`; 0 there: a file without tables yet.
inline constexpr std::int64_t schema_version = 11;  // 2 to 10 were those before the first release

/// Refuses a file of another program, or of a version that make_tables can't bring to ours. Changes
/// nothing.
Result<void> check_origin(Database& database, const std::string& path);

/// Has a reaper made its tables, in whatever version? In its log counts too.
bool is_journal(Database& database);

/// Writes what a new journal has from its beginning.
using FirstRows = std::function<Result<void>(Database&)>;

/// Makes the tables of a new file with its `first` rows, or brings those of version 1 to ours, in
/// one transaction; refuses what check_origin and `first` refuse.
Result<void> make_tables(Database& database, const std::string& path, const FirstRows& first = {});

/// Has the file all tables and indexes that make_tables makes, to the letter? Others are not ours:
/// ANALYZE makes some.
bool has_our_tables(Database& database);

/// For readers, who change nothing: as check_origin, and a file without tables is `not_found`.
Result<void> check_schema(Database& database, const std::string& path);

}  // namespace reaper::journal
