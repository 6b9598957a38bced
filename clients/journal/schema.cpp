#include "clients/journal/schema.hpp"

#include <algorithm>
#include <map>

#include "clients/journal/sqlite_database.hpp"

namespace reaper::journal {
namespace {

#define STEP_SENT_INDEX "CREATE INDEX step_sent ON step (at) WHERE step IN " EVICTION_STEPS ";"

// Times are milliseconds since 1970 UTC; `request` and `decision` are the JSON of
// reaper/report/json.hpp; kinds are the words of the to_string functions. After a release, a change
// needs a new version and a way to bring the files of the old one to it.
constexpr const char* tables = R"sql(
CREATE TABLE request (
    seq               INTEGER PRIMARY KEY,
    id                TEXT NOT NULL UNIQUE,
    request           TEXT NOT NULL,
    received_at       INTEGER NOT NULL,
    outcome           TEXT,
    outcome_reason    TEXT,
    finished_at       INTEGER,
    safeguard         TEXT NOT NULL DEFAULT '',
    freed_room        TEXT,
    freed_room_reason TEXT,
    untaken           TEXT,  -- JSON list of host ids
    freed_room_at     INTEGER,
    takers            TEXT,  -- JSON: who took freed room, since when, given back after how long
    CHECK ((outcome IS NULL) = (finished_at IS NULL))
);
CREATE INDEX request_unfinished ON request (seq) WHERE finished_at IS NULL;
CREATE INDEX request_finished ON request (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX request_freed_room ON request (freed_room_at) WHERE freed_room_at IS NOT NULL;

-- What requests and victims are looked for by; of a request that can't be read there is no row.
CREATE TABLE request_search (
    request      INTEGER PRIMARY KEY REFERENCES request (seq) ON DELETE CASCADE,
    project      TEXT NOT NULL,
    project_name TEXT NOT NULL,
    flavor       TEXT NOT NULL
);
CREATE INDEX request_search_project ON request_search (project);
CREATE INDEX request_search_project_name ON request_search (project_name, project)
    WHERE project_name <> '';
CREATE INDEX request_search_flavor ON request_search (flavor);

CREATE TABLE plan (
    seq      INTEGER PRIMARY KEY,
    request  INTEGER NOT NULL REFERENCES request (seq) ON DELETE CASCADE,
    round    INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    decision TEXT NOT NULL
);
CREATE INDEX plan_of_request ON plan (request, seq);

-- The victims of the plans: those of an hour are found without reading plans.
CREATE TABLE chosen (
    request      INTEGER NOT NULL REFERENCES request (seq) ON DELETE CASCADE,
    server       TEXT NOT NULL,
    name         TEXT NOT NULL,
    project      TEXT NOT NULL,
    project_name TEXT NOT NULL DEFAULT '',  -- as Keystone called it then; empty: not known
    host         TEXT NOT NULL,
    PRIMARY KEY (request, server)
) WITHOUT ROWID;
CREATE INDEX chosen_server ON chosen (server);
CREATE INDEX chosen_name ON chosen (name);
CREATE INDEX chosen_project ON chosen (project);
CREATE INDEX chosen_project_name ON chosen (project_name, project) WHERE project_name <> '';
CREATE INDEX chosen_host ON chosen (host);

CREATE TABLE step (
    seq     INTEGER PRIMARY KEY,
    request INTEGER NOT NULL REFERENCES request (seq) ON DELETE CASCADE,
    server  TEXT NOT NULL,
    step    TEXT NOT NULL,
    detail  TEXT NOT NULL,
    at      INTEGER NOT NULL
);
CREATE INDEX step_of_request ON step (request, seq);
CREATE INDEX step_of_victim ON step (request, server);
)sql" STEP_SENT_INDEX R"sql(
CREATE TABLE message (
    seq        INTEGER PRIMARY KEY,
    message_id TEXT NOT NULL,
    event_type TEXT NOT NULL,
    request    TEXT NOT NULL,
    verdict    TEXT NOT NULL,
    reason     TEXT NOT NULL,
    at         INTEGER NOT NULL
);
CREATE INDEX message_at ON message (at);

CREATE TABLE event (
    seq    INTEGER PRIMARY KEY,
    kind   TEXT NOT NULL,
    reason TEXT NOT NULL,
    at     INTEGER NOT NULL
);
CREATE INDEX event_at ON event (at);

-- Inventories whose `reserved` was raised; at most one that has not ended for each.
CREATE TABLE hold (
    seq        INTEGER PRIMARY KEY,
    provider   TEXT NOT NULL,
    class      TEXT NOT NULL,
    host       TEXT NOT NULL,
    host_name  TEXT NOT NULL,
    before     INTEGER NOT NULL,
    raised     INTEGER NOT NULL,
    request    TEXT NOT NULL,
    since      INTEGER NOT NULL,
    how        TEXT,
    reason     TEXT,
    ended_at   INTEGER,
    CHECK ((how IS NULL) = (ended_at IS NULL))
);
CREATE UNIQUE INDEX hold_open ON hold (provider, class) WHERE ended_at IS NULL;
CREATE INDEX hold_ended ON hold (ended_at) WHERE ended_at IS NOT NULL;

-- Orders of reservations: under its key an order is known again, and those not ended go on.
CREATE TABLE reservation_order (
    seq        INTEGER PRIMARY KEY,
    key        TEXT NOT NULL,
    principal  TEXT NOT NULL,
    content    TEXT NOT NULL,
    mark       TEXT NOT NULL,
    removes    TEXT NOT NULL,
    state      TEXT NOT NULL,
    reason     TEXT NOT NULL,
    given_at   INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
);
CREATE INDEX reservation_order_key ON reservation_order (principal, key) WHERE key <> '';
CREATE INDEX reservation_order_open ON reservation_order (seq)
    WHERE state IN ('begun', 'waiting');

-- Dynamic reservations as they were in Placement when they were seen last.
CREATE TABLE reservation (
    id      TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    user    TEXT NOT NULL,
    at      INTEGER NOT NULL
) WITHOUT ROWID;

-- Servers that an operator protects, until an operator or the time ends it.
CREATE TABLE protection (
    server TEXT PRIMARY KEY,
    name   TEXT NOT NULL,
    since  INTEGER NOT NULL,
    until  INTEGER,
    author TEXT NOT NULL,
    reason TEXT NOT NULL
) WITHOUT ROWID;
)sql";

/// Its index knows no servers that are shelved.
constexpr std::int64_t without_shelving = 1;
constexpr const char* from_1 = "DROP INDEX step_sent; " STEP_SENT_INDEX;
#undef STEP_SENT_INDEX

Error refused(const std::string& path, const std::string& why) {
    return Error{Errc::storage, "journal " + path + ": " + why};
}

Error other_version(const std::string& path, std::int64_t version) {
    return refused(path, "its schema has version " + std::to_string(version) +
                             ", this reaper knows version " + std::to_string(schema_version) +
                             " only: use the reaper that wrote it, or restore an older copy. "
                             "If there is none, move the file away: the daemon begins a new one, "
                             "paused, without the protected servers");
}

bool foreign(Database& database) {
    return !is_journal(database) && database.ask_number("SELECT count(*) FROM sqlite_schema") > 0;
}

std::int64_t version_of(Database& database) {
    return database.ask_number("PRAGMA user_version");
}

/// How tables and indexes were made, by name.
std::map<std::string, std::string> definitions(Database& database) {
    std::map<std::string, std::string> all;
    auto select = database.statement(
        "SELECT name, type || ' ' || tbl_name || ' ' || coalesce(sql, '') FROM sqlite_schema");
    while (select.step()) all.emplace(select.text(0), select.text(1));
    return all;
}

}  // namespace

bool is_journal(Database& database) {
    return database.ask_number("PRAGMA application_id") == application_id;
}

Result<void> check_origin(Database& database, const std::string& path) {
    if (foreign(database)) return refused(path, "is the database of another program: move it");
    const std::int64_t version = version_of(database);
    if (version != 0 && version != without_shelving && version != schema_version)
        return other_version(path, version);
    return {};
}

Result<void> make_tables(Database& database, const std::string& path, const FirstRows& first) {
    if (const auto good = check_origin(database, path); !good) return good.error();
    const std::int64_t version = version_of(database);
    if (version == schema_version) return {};
    Transaction transaction{database};
    database.execute(version == without_shelving ? from_1 : tables);
    database.execute("PRAGMA application_id = " + std::to_string(application_id));
    database.execute("PRAGMA user_version = " + std::to_string(schema_version));
    if (version == 0 && first)
        if (const auto written = first(database); !written) return written.error();
    transaction.commit();
    return {};
}

bool has_our_tables(Database& database) {
    SqliteDatabase fresh{":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE};
    fresh.execute(tables);
    const auto found = definitions(database);
    const auto ours = definitions(fresh);
    return std::includes(found.begin(), found.end(), ours.begin(), ours.end());
}

Result<void> check_schema(Database& database, const std::string& path) {
    if (const auto good = check_origin(database, path); !good) return good.error();
    if (version_of(database) == 0)
        return Error{Errc::not_found, "journal " + path + ": is empty, no reaper has written yet"};
    return {};
}

}  // namespace reaper::journal
