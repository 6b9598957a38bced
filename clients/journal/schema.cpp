#include "clients/journal/schema.hpp"

#include <array>

namespace reaper::journal {
namespace {

// Each entry takes the file from the version of its index to the next. Never change one that was
// released; append. Times are milliseconds since 1970 UTC; `request` and `decision` are the JSON of
// reaper/report/json.hpp; kinds are the words of the to_string functions.
constexpr std::array<const char*, 10> migrations{R"sql(
CREATE TABLE request (
    seq            INTEGER PRIMARY KEY,
    id             TEXT NOT NULL UNIQUE,
    request        TEXT NOT NULL,
    received_at    INTEGER NOT NULL,
    outcome        TEXT,
    outcome_reason TEXT,
    finished_at    INTEGER,
    CHECK ((outcome IS NULL) = (finished_at IS NULL))
);
CREATE INDEX request_unfinished ON request (seq) WHERE finished_at IS NULL;
CREATE INDEX request_finished ON request (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE plan (
    seq      INTEGER PRIMARY KEY,
    request  INTEGER NOT NULL REFERENCES request (seq) ON DELETE CASCADE,
    round    INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    decision TEXT NOT NULL
);
CREATE INDEX plan_of_request ON plan (request, seq);

CREATE TABLE step (
    seq     INTEGER PRIMARY KEY,
    request INTEGER NOT NULL REFERENCES request (seq) ON DELETE CASCADE,
    server  TEXT NOT NULL,
    step    TEXT NOT NULL,
    detail  TEXT NOT NULL,
    at      INTEGER NOT NULL
);
CREATE INDEX step_of_request ON step (request, seq);

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
)sql",
                                                 R"sql(
ALTER TABLE request ADD COLUMN brake TEXT NOT NULL DEFAULT '';
ALTER TABLE request ADD COLUMN aftermath TEXT;
ALTER TABLE request ADD COLUMN aftermath_reason TEXT;
ALTER TABLE request ADD COLUMN untaken TEXT;  -- JSON list of host ids
ALTER TABLE request ADD COLUMN aftermath_at INTEGER;
CREATE INDEX request_aftermath ON request (aftermath_at) WHERE aftermath_at IS NOT NULL;

CREATE INDEX step_of_victim ON step (request, server);
CREATE INDEX step_sent ON step (at) WHERE step IN ('delete-sent', 'force-delete-sent');

-- The victims of the plans: those of an hour are found without reading plans.
CREATE TABLE chosen (
    request INTEGER NOT NULL REFERENCES request (seq) ON DELETE CASCADE,
    server  TEXT NOT NULL,
    name    TEXT NOT NULL,
    project TEXT NOT NULL,
    host    TEXT NOT NULL,
    PRIMARY KEY (request, server)
) WITHOUT ROWID;
INSERT OR REPLACE INTO chosen (request, server, name, project, host)
    SELECT plan.request, victim.value ->> 'server', victim.value ->> 'name',
           victim.value ->> 'project', victim.value ->> 'host'
    FROM plan, json_tree(CASE WHEN json_valid(plan.decision) THEN plan.decision ELSE '{}' END)
               AS victim
    WHERE victim.type = 'object' AND victim.path LIKE '$.hosts[%].victims'
          AND victim.value ->> 'server' IS NOT NULL AND victim.value ->> 'name' IS NOT NULL
          AND victim.value ->> 'project' IS NOT NULL AND victim.value ->> 'host' IS NOT NULL
    ORDER BY plan.seq;

CREATE TABLE mark (
    seq    INTEGER PRIMARY KEY,
    kind   TEXT NOT NULL,
    reason TEXT NOT NULL,
    at     INTEGER NOT NULL
);
CREATE INDEX mark_at ON mark (at);
)sql",
                                                 R"sql(
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
)sql",
                                                 R"sql(
-- Standard words.
ALTER TABLE request RENAME COLUMN brake TO safeguard;
ALTER TABLE request RENAME COLUMN aftermath TO freed_room;
ALTER TABLE request RENAME COLUMN aftermath_reason TO freed_room_reason;
ALTER TABLE request RENAME COLUMN aftermath_at TO freed_room_at;
DROP INDEX request_aftermath;
CREATE INDEX request_freed_room ON request (freed_room_at) WHERE freed_room_at IS NOT NULL;
UPDATE step SET step = 'skipped' WHERE step = 'spared';
ALTER TABLE mark RENAME TO event;
DROP INDEX mark_at;
CREATE INDEX event_at ON event (at);
UPDATE request SET request = json_remove(json_set(request, '$.placement',
                                                  json(json_extract(request, '$.landing'))),
                                         '$.landing')
    WHERE json_valid(request) AND json_type(request, '$.landing') = 'object';
UPDATE plan SET decision = json_remove(json_set(decision, '$.safeguard',
                                                json_extract(decision, '$.brake')),
                                       '$.brake')
    WHERE json_valid(decision) AND json_type(decision, '$.brake') IS NOT NULL;
UPDATE plan SET decision = replace(replace(decision, '"code":"doubted"', '"code":"in-cooldown"'),
                                   '"awaited":', '"pending_releases":')
    WHERE instr(decision, '"code":"doubted"') > 0 OR instr(decision, '"awaited":') > 0;
UPDATE request SET request = replace(request, '"most_on_a_host":', '"max_on_a_host":')
    WHERE instr(request, '"most_on_a_host":') > 0;
)sql",
                                                 R"sql(
-- What became of a server is looked for by its id or name.
CREATE INDEX chosen_server ON chosen (server);
CREATE INDEX chosen_name ON chosen (name);
)sql",
                                                 R"sql(
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
)sql",
                                                 R"sql(
-- What Keystone called the project of a chosen server then; empty: that was not known.
ALTER TABLE chosen ADD COLUMN project_name TEXT NOT NULL DEFAULT '';
)sql",
                                                 R"sql(
-- What requests and victims are looked for by; of a request that can't be read there is no row.
CREATE TABLE request_search (
    request      INTEGER PRIMARY KEY REFERENCES request (seq) ON DELETE CASCADE,
    project      TEXT NOT NULL,
    project_name TEXT NOT NULL,
    flavor       TEXT NOT NULL
);
INSERT INTO request_search (request, project, project_name, flavor)
    SELECT seq, coalesce(request ->> '$.project', ''), coalesce(request ->> '$.project_name', ''),
           coalesce(request ->> '$.flavor', '')
    FROM request WHERE json_valid(request);
CREATE INDEX request_search_project ON request_search (project);
CREATE INDEX request_search_project_name ON request_search (project_name, project)
    WHERE project_name <> '';
CREATE INDEX request_search_flavor ON request_search (flavor);
CREATE INDEX chosen_project ON chosen (project);
CREATE INDEX chosen_project_name ON chosen (project_name, project) WHERE project_name <> '';
CREATE INDEX chosen_host ON chosen (host);
)sql",
                                                 R"sql(
-- Who took freed room, since when, and after how long it was given back: JSON.
ALTER TABLE request ADD COLUMN takers TEXT;
)sql",
                                                 R"sql(
-- Servers that an operator protects, until an operator or the time ends it.
CREATE TABLE protection (
    server TEXT PRIMARY KEY,
    name   TEXT NOT NULL,
    since  INTEGER NOT NULL,
    until  INTEGER,
    author TEXT NOT NULL,
    reason TEXT NOT NULL
) WITHOUT ROWID;
)sql"};

Error refused(const std::string& path, const std::string& why) {
    return Error{Errc::storage, "journal " + path + ": " + why};
}

Error too_new(const std::string& path, std::int64_t version) {
    return refused(path, "its schema has version " + std::to_string(version) +
                             ", this reaper knows up to " + std::to_string(schema_version()) +
                             ": use the reaper that wrote it, or a newer one");
}

bool foreign(Database& database) {
    return database.ask_number("PRAGMA application_id") != application_id &&
           database.ask_number("SELECT count(*) FROM sqlite_schema") > 0;
}

}  // namespace

std::int64_t schema_version() {
    return static_cast<std::int64_t>(migrations.size());
}

Result<void> check_origin(Database& database, const std::string& path) {
    if (foreign(database)) return refused(path, "is the database of another program: move it");
    const std::int64_t version = database.ask_number("PRAGMA user_version");
    if (version < 0 || version > schema_version()) return too_new(path, version);
    return {};
}

Result<void> migrate(Database& database, const std::string& path) {
    if (const auto good = check_origin(database, path); !good) return good.error();
    std::int64_t version = database.ask_number("PRAGMA user_version");
    for (; version < schema_version(); ++version) {
        Transaction transaction{database};
        database.execute(migrations[static_cast<std::size_t>(version)]);
        database.execute("PRAGMA application_id = " + std::to_string(application_id));
        database.execute("PRAGMA user_version = " + std::to_string(version + 1));
        transaction.commit();
    }
    return {};
}

bool has_our_tables(Database& database) {
    const std::string tables =
        "SELECT group_concat(type || ' ' || name || ' ' || tbl_name || ' ' || coalesce(sql, ''), "
        "char(10)) FROM (SELECT * FROM sqlite_schema ORDER BY type, name)";
    Database fresh{":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE};
    for (const char* const migration : migrations) fresh.execute(migration);
    return database.ask(tables) == fresh.ask(tables);
}

Result<void> check_schema(Database& database, const std::string& path) {
    if (foreign(database)) return refused(path, "is the database of another program");
    const std::int64_t version = database.ask_number("PRAGMA user_version");
    if (version > schema_version()) return too_new(path, version);
    if (version == 0)
        return Error{Errc::not_found, "journal " + path + ": is empty, no reaper has written yet"};
    if (version < schema_version())
        return refused(path, "was written by an older reaper: start this one once");
    return {};
}

}  // namespace reaper::journal
