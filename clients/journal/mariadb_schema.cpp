#include "clients/journal/mariadb_schema.hpp"

#include <functional>
#include <set>
#include <string_view>
#include <utility>

namespace reaper::journal {
namespace {

// Ids, names and reasons are bytes, compared as such: what comes from outside need be no text. JSON
// is UTF-8 by construction. InnoDB's keys take up to 3072 bytes.
constexpr const char* mariadb_tables[] = {
    R"sql(CREATE TABLE IF NOT EXISTS reaper_schema (
    version BIGINT PRIMARY KEY
))sql",
    // One row: who writes the journal, until when no other may, and whether deletions are paused.
    // `number` grows with each that takes it; `writes` with each transaction, so that two nodes of
    // a cluster can't both commit.
    R"sql(CREATE TABLE IF NOT EXISTS lease (
    id       TINYINT PRIMARY KEY,
    number   BIGINT NOT NULL,
    holder   VARBINARY(512) NOT NULL,
    taken_at BIGINT NOT NULL,
    ends_at  BIGINT NOT NULL,
    writes   BIGINT NOT NULL,
    paused_at     BIGINT,
    paused_by     VARBINARY(255) NOT NULL DEFAULT '',
    paused_reason VARBINARY(1024) NOT NULL DEFAULT ''
))sql",
    R"sql(INSERT IGNORE INTO lease (id, number, holder, taken_at, ends_at, writes)
VALUES (1, 0, '', 0, 0, 0))sql",
    // One row: when an operator last resumed. That also closes the breaker of the active reaper.
    R"sql(CREATE TABLE IF NOT EXISTS resumed (
    id TINYINT PRIMARY KEY,
    at BIGINT NOT NULL
))sql",
    // The processes that have this journal, the active one and those that stand by: a name is that
    // of a holder of the lease.
    R"sql(CREATE TABLE IF NOT EXISTS reapers (
    name          VARBINARY(512) PRIMARY KEY,
    machine       VARBINARY(255) NOT NULL,
    version       VARBINARY(255) NOT NULL,
    gateway       VARBINARY(1024) NOT NULL,
    configuration VARBINARY(64) NOT NULL,
    since         BIGINT NOT NULL,
    seen_at       BIGINT NOT NULL
))sql",
    // How they are, and a digest of each section of their configuration.
    R"sql(CREATE TABLE IF NOT EXISTS reaper_state (
    name      VARBINARY(512) PRIMARY KEY,
    sections  VARBINARY(4096) NOT NULL,
    cache_age BIGINT,
    in_flight BIGINT NOT NULL,
    broker    TINYINT
))sql",
    R"sql(CREATE TABLE IF NOT EXISTS request (
    seq               BIGINT AUTO_INCREMENT PRIMARY KEY,
    id                VARBINARY(1024) NOT NULL,
    request           LONGTEXT NOT NULL,
    received_at       BIGINT NOT NULL,
    outcome           VARBINARY(64),
    outcome_reason    LONGBLOB,
    finished_at       BIGINT,
    safeguard         VARBINARY(64) NOT NULL DEFAULT '',
    freed_room        VARBINARY(64),
    freed_room_reason LONGBLOB,
    untaken           LONGTEXT,
    freed_room_at     BIGINT,
    takers            LONGTEXT,
    UNIQUE KEY request_id (id),
    KEY request_finished (finished_at),
    KEY request_freed_room (freed_room_at),
    CHECK ((outcome IS NULL) = (finished_at IS NULL))
))sql",
    R"sql(CREATE TABLE IF NOT EXISTS request_search (
    request      BIGINT PRIMARY KEY,
    project      VARBINARY(1024) NOT NULL,
    project_name VARBINARY(1024) NOT NULL,
    flavor       VARBINARY(1024) NOT NULL,
    KEY request_search_project (project),
    KEY request_search_project_name (project_name, project),
    KEY request_search_flavor (flavor),
    FOREIGN KEY (request) REFERENCES request (seq) ON DELETE CASCADE
))sql",
    R"sql(CREATE TABLE IF NOT EXISTS plan (
    seq      BIGINT AUTO_INCREMENT PRIMARY KEY,
    request  BIGINT NOT NULL,
    round    BIGINT NOT NULL,
    at       BIGINT NOT NULL,
    decision LONGTEXT NOT NULL,
    KEY plan_of_request (request, seq),
    FOREIGN KEY (request) REFERENCES request (seq) ON DELETE CASCADE
))sql",
    R"sql(CREATE TABLE IF NOT EXISTS chosen (
    request      BIGINT NOT NULL,
    server       VARBINARY(1024) NOT NULL,
    name         VARBINARY(1024) NOT NULL,
    project      VARBINARY(1024) NOT NULL,
    project_name VARBINARY(1024) NOT NULL DEFAULT '',
    host         VARBINARY(1024) NOT NULL,
    PRIMARY KEY (request, server),
    KEY chosen_server (server),
    KEY chosen_name (name),
    KEY chosen_project (project),
    KEY chosen_project_name (project_name, project),
    KEY chosen_host (host),
    FOREIGN KEY (request) REFERENCES request (seq) ON DELETE CASCADE
))sql",
    R"sql(CREATE TABLE IF NOT EXISTS step (
    seq     BIGINT AUTO_INCREMENT PRIMARY KEY,
    request BIGINT NOT NULL,
    server  VARBINARY(1024) NOT NULL,
    step    VARBINARY(64) NOT NULL,
    detail  LONGBLOB NOT NULL,
    at      BIGINT NOT NULL,
    KEY step_of_request (request, seq),
    KEY step_of_victim (request, server),
    KEY step_sent (step, at),
    FOREIGN KEY (request) REFERENCES request (seq) ON DELETE CASCADE
))sql",
    R"sql(CREATE TABLE IF NOT EXISTS message (
    seq        BIGINT AUTO_INCREMENT PRIMARY KEY,
    message_id BLOB NOT NULL,
    event_type BLOB NOT NULL,
    request    BLOB NOT NULL,
    verdict    VARBINARY(255) NOT NULL,
    reason     LONGBLOB NOT NULL,
    at         BIGINT NOT NULL,
    KEY message_at (at)
))sql",
    R"sql(CREATE TABLE IF NOT EXISTS event (
    seq    BIGINT AUTO_INCREMENT PRIMARY KEY,
    kind   VARBINARY(255) NOT NULL,
    reason LONGBLOB NOT NULL,
    at     BIGINT NOT NULL,
    KEY event_at (at)
))sql",
    // At most one that has not ended for each inventory.
    R"sql(CREATE TABLE IF NOT EXISTS hold (
    seq       BIGINT AUTO_INCREMENT PRIMARY KEY,
    provider  VARBINARY(1024) NOT NULL,
    class     VARBINARY(255) NOT NULL,
    host      VARBINARY(1024) NOT NULL,
    host_name VARBINARY(1024) NOT NULL,
    "before"  BIGINT NOT NULL,
    raised    BIGINT NOT NULL,
    request   BLOB NOT NULL,
    since     BIGINT NOT NULL,
    how       VARBINARY(64),
    reason    LONGBLOB,
    ended_at  BIGINT,
    not_ended TINYINT AS (IF(ended_at IS NULL, 1, NULL)) PERSISTENT,
    UNIQUE KEY hold_open (provider, class, not_ended),
    KEY hold_ended (ended_at),
    CHECK ((how IS NULL) = (ended_at IS NULL))
))sql",
    R"sql(CREATE TABLE IF NOT EXISTS reservation_order (
    seq        BIGINT AUTO_INCREMENT PRIMARY KEY,
    "key"      VARBINARY(1024) NOT NULL,
    principal  VARBINARY(1024) NOT NULL,
    content    LONGBLOB NOT NULL,
    mark       BLOB NOT NULL,
    removes    LONGBLOB NOT NULL,
    state      VARBINARY(64) NOT NULL,
    reason     LONGBLOB NOT NULL,
    given_at   BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    KEY reservation_order_key (principal, "key"),
    KEY reservation_order_state (state)
))sql",
    R"sql(CREATE TABLE IF NOT EXISTS reservation (
    id      VARBINARY(1024) PRIMARY KEY,
    project VARBINARY(1024) NOT NULL,
    user    VARBINARY(1024) NOT NULL,
    at      BIGINT NOT NULL
))sql",
    R"sql(CREATE TABLE IF NOT EXISTS protection (
    server VARBINARY(1024) PRIMARY KEY,
    name   VARBINARY(1024) NOT NULL,
    since  BIGINT NOT NULL,
    until  BIGINT,
    author BLOB NOT NULL,
    reason LONGBLOB NOT NULL
))sql",
};

constexpr std::string_view table_options =
    " ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET = utf8mb4, COLLATE = utf8mb4_nopad_bin";

Error tables_refused(const std::string& url, const std::string& why) {
    return Error{Errc::storage, "journal " + url + ": " + why};
}

bool has_table(Database& database, const std::string& condition) {
    return database.ask_number(
               "SELECT count(*) FROM information_schema.tables WHERE table_schema = DATABASE()" +
               condition) > 0;
}

/// 0: none.
Result<std::int64_t> version_there(Database& database, const std::string& url) {
    if (!has_table(database, " AND table_name = 'reaper_schema'")) {
        if (!has_table(database, "")) return 0;
        return tables_refused(url,
                              "the database holds tables of another program: give the reaper "
                              "a database of its own");
    }
    const std::int64_t version =
        database.ask_number("SELECT coalesce(max(version), 0) FROM reaper_schema");
    if (version == 0 || version == mariadb_schema_version) return version;
    return tables_refused(url, "its schema has version " + std::to_string(version) +
                                   ", this reaper knows version " +
                                   std::to_string(mariadb_schema_version) +
                                   " only: run the version of the reaper that made it");
}

struct Missing {
    std::string what;
    std::string statement;
};

std::vector<Missing> missing_in(Database& database) {
    constexpr std::string_view create = "CREATE TABLE IF NOT EXISTS ";
    std::set<std::string, std::less<>> there;
    for (auto look = database.statement("SELECT table_name FROM information_schema.tables "
                                        "WHERE table_schema = DATABASE()");
         look.step();)
        there.insert(look.text(0));
    const bool has_lease =
        there.contains("lease") && database.ask_number("SELECT count(*) FROM lease") > 0;
    std::vector<Missing> missing;
    for (const std::string_view table : mariadb_tables) {
        if (!table.starts_with(create)) {
            if (!has_lease) missing.push_back({"row of the lease", std::string{table}});
            continue;
        }
        const auto name = table.substr(create.size(), table.find(" (") - create.size());
        if (there.contains(name)) continue;
        missing.push_back(
            {"table " + std::string{name}, std::string{table} + std::string{table_options}});
    }
    return missing;
}

}  // namespace

Result<std::vector<std::string>> missing_tables(Database& database, const std::string& url) {
    const auto version = version_there(database, url);
    if (!version) return version.error();
    std::vector<std::string> missing;
    for (auto& each : missing_in(database)) missing.push_back(std::move(each.statement));
    if (*version == 0)
        missing.emplace_back("INSERT INTO reaper_schema VALUES (" +
                             std::to_string(mariadb_schema_version) + ")");
    return missing;
}

Result<void> check_tables(Database& database, const std::string& url) {
    const auto version = version_there(database, url);
    if (!version) return version.error();
    const auto lacks = [&](const std::string& what) {
        return Error{Errc::not_found,
                     "journal " + url + ": has no " + what + "; run: reaper journal migrate"};
    };
    if (*version == 0) return lacks("tables yet");
    const auto missing = missing_in(database);
    if (!missing.empty()) return lacks(missing.front().what);
    return {};
}

}  // namespace reaper::journal
