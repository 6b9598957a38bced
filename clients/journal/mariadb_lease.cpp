#include "clients/journal/mariadb_lease.hpp"

#include <algorithm>
#include <utility>

#include "clients/journal/mariadb_schema.hpp"
#include "reaper/model/text.hpp"

namespace reaper::journal {
namespace {

std::string seconds_of(std::int64_t milliseconds) {
    return std::to_string((std::max<std::int64_t>(milliseconds, 0) + 999) / 1000) + " s";
}

}  // namespace

Result<std::unique_ptr<MariadbLease>> MariadbLease::take(MariadbDatabase& database,
                                                         const std::string& url,
                                                         const std::string& holder) {
    Transaction transaction{database};
    std::int64_t number = 0;
    {
        auto look = database.statement("SELECT number, holder, ends_at - " MARIADB_NOW
                                       " FROM lease WHERE id = 1 FOR UPDATE");
        if (!look.step())
            return Error{Errc::storage, "journal " + url + ": its row of the lease is gone; " +
                                            "run: reaper journal migrate"};
        if (look.number(2) > 0)
            return Error{Errc::conflict, "journal " + url + ": another reaper (" + look.text(1) +
                                             ") writes to it; its lease ends in " +
                                             seconds_of(look.number(2)) +
                                             " unless it renews it: stop that one first" +
                                             (look.number(2) > lease_lasts.count()
                                                  ? "; it is longer than a lease lasts: "
                                                    "synchronise the clocks of the database nodes"
                                                  : "")};
        number = look.number(0) + 1;
    }
    auto take =
        database.statement("UPDATE lease SET number = ?1, holder = ?2, taken_at = " MARIADB_NOW
                           ", ends_at = " MARIADB_NOW
                           " + ?3, writes = writes + 1 "
                           "WHERE id = 1");
    take.bind(1, number).bind(2, std::string_view{holder}.substr(0, 512));
    take.bind(3, std::int64_t{lease_lasts.count()}).run();
    transaction.commit();
    std::unique_ptr<MariadbLease> lease{new MariadbLease{database, url, number}};
    database.fence([raw = lease.get()] { raw->renew(); });
    return lease;
}

void MariadbLease::renew() {
    // Its longest end, as one node's clock may be behind the other's; but a clock that was ahead
    // must not keep the others out for hours.
    auto renew = database_.statement(
        "UPDATE lease SET ends_at = least(greatest(ends_at, " MARIADB_NOW " + ?2), " MARIADB_NOW
        " + ?3), writes = writes + 1 WHERE id = 1 AND number = ?1");
    renew.bind(1, number_).bind(2, std::int64_t{lease_lasts.count()});
    renew.bind(3, std::int64_t{lease_ends_within.count()}).run();
    if (database_.changes() == 0) {
        auto look = database_.statement("SELECT holder FROM lease WHERE id = 1");
        const std::string other = look.step() ? look.text(0) : "unknown";
        throw DatabaseFailure{0, "another reaper (" + other + ") has taken its lease",
                              "this one writes nothing more, and deletes nothing; restart it",
                              false, true};
    }
}

// Between two renewals, of which one may fail.
static_assert(lease_lasts - 2 * (lease_lasts / 3) > journal_surely_ours);
static_assert(lease_lasts < journal_surely_free);

// Any call does it: the daemon looks after its journal every two seconds.
Result<void> MariadbLease::check() {
    if (database_.in_transaction()) return {};
    const auto began = std::chrono::steady_clock::now();
    if (began < renewed_at_ + lease_lasts / 3) return {};
    Transaction transaction{database_};
    transaction.commit();
    renewed_at_ = began;
    return {};
}

Result<void> MariadbLease::may_delete() {
    auto look = database_.statement(
        "SELECT paused_at, paused_by, paused_reason FROM lease WHERE id = 1 FOR UPDATE");
    if (!look.step() || look.null(0)) return {};
    const PauseNote note{printable(look.text(1), 255), printable(look.text(2), 1024), look.time(0)};
    return Error{Errc::storage, "journal " + url_ + ": paused " + note.line() +
                                    "; no deletion is written until 'reaper resume'"};
}

void MariadbLease::release() noexcept {
    database_.fence({});
    if (!database_.connected()) return;
    try {
        Transaction transaction{database_};
        database_
            .statement(
                "UPDATE lease SET ends_at = 0, writes = writes + 1 "
                "WHERE id = 1 AND number = ?1")
            .bind(1, number_)
            .run();
        transaction.commit();
    } catch (const DatabaseFailure&) {
        // It ends by itself.
    }
}

}  // namespace reaper::journal
