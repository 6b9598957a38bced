#include "clients/journal/database.hpp"

#include <cerrno>

namespace reaper::journal {
namespace {

constexpr int busy_milliseconds = 5'000;

[[noreturn]] void fail(sqlite3* handle) {
    throw DatabaseFailure{sqlite3_extended_errcode(handle), sqlite3_errmsg(handle),
                          sqlite3_system_errno(handle)};
}

constexpr const char* free_space = "the disk is full: free some space";

std::string advice(const DatabaseFailure& failure) {
    const int primary = failure.code & 0xff;
    // SQLite reports some full disks as plain I/O errors. (Its system error may be of an earlier
    // call, and means something for these alone.)
    const bool no_space = failure.system_error == ENOSPC || failure.system_error == EDQUOT;
    if (no_space && (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN)) return free_space;
    switch (primary) {
        case SQLITE_FULL: return free_space;
        case SQLITE_READONLY:
        case SQLITE_PERM: return "no right to write: give it to the reaper's user";
        case SQLITE_CANTOPEN: return "check that the file and its directory belong to the reaper";
        case SQLITE_CORRUPT: return "the file is damaged: restart the reaper, which sets it aside";
        case SQLITE_NOTADB: return "the file is not an SQLite database: move it aside";
        case SQLITE_BUSY:
        case SQLITE_LOCKED: return "another program has locked it: find it and stop it";
        case SQLITE_IOERR: return "the disk or its file system fails: see the kernel's log";
        default: return "";
    }
}

}  // namespace

Error storage_error(const std::string& path, const DatabaseFailure& failure) {
    std::string line = "journal " + path + ": " + failure.message;
    if (const std::string what_to_do = advice(failure); !what_to_do.empty())
        line += "; " + what_to_do;
    return Error{Errc::storage, line};
}

Statement::~Statement() {
    sqlite3_reset(prepared_);
    sqlite3_clear_bindings(prepared_);
}

Statement& Statement::bind(int index, std::string_view text) {
    // A null pointer would bind NULL instead of an empty text.
    const char* const data = text.data() == nullptr ? "" : text.data();
    if (sqlite3_bind_text64(prepared_, index, data, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8) !=
        SQLITE_OK)
        fail(sqlite3_db_handle(prepared_));
    return *this;
}

Statement& Statement::bind(int index, std::int64_t number) {
    if (sqlite3_bind_int64(prepared_, index, number) != SQLITE_OK)
        fail(sqlite3_db_handle(prepared_));
    return *this;
}

Statement& Statement::bind(int index, TimePoint time) {
    return bind(index, std::int64_t{time.time_since_epoch().count()});
}

bool Statement::step() {
    const int code = sqlite3_step(prepared_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    fail(sqlite3_db_handle(prepared_));
}

void Statement::run() {
    while (step()) {
    }
}

std::string Statement::text(int column) const {
    const auto* const bytes = reinterpret_cast<const char*>(sqlite3_column_text(prepared_, column));
    const int size = sqlite3_column_bytes(prepared_, column);
    return bytes == nullptr ? std::string{} : std::string(bytes, static_cast<std::size_t>(size));
}

Database::Database(const std::string& path, int flags) {
    sqlite3* handle = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &handle, flags | SQLITE_OPEN_EXRESCODE, nullptr);
    handle_.reset(handle);
    if (handle == nullptr) throw DatabaseFailure{code, sqlite3_errstr(code)};
    if (code != SQLITE_OK) fail(handle);
    sqlite3_busy_timeout(handle, busy_milliseconds);
}

Statement Database::statement(const char* sql) {
    auto& cached = statements_[sql];
    if (!cached) {
        sqlite3_stmt* prepared = nullptr;
        if (sqlite3_prepare_v3(handle_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &prepared,
                               nullptr) != SQLITE_OK)
            fail(handle_.get());
        cached.reset(prepared);
    }
    return Statement{cached.get()};
}

void Database::execute(const std::string& sql) {
    if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
        fail(handle_.get());
}

std::string Database::ask(const std::string& sql) {
    sqlite3_stmt* prepared = nullptr;
    if (sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &prepared, nullptr) != SQLITE_OK)
        fail(handle_.get());
    const std::unique_ptr<sqlite3_stmt, Finalize> owner{prepared};
    Statement statement{prepared};
    return statement.step() ? statement.text(0) : std::string{};
}

std::int64_t Database::ask_number(const std::string& sql) {
    const std::string text = ask(sql);
    return text.empty() ? 0 : std::stoll(text);
}

Transaction::Transaction(Database& database, Kind kind)
    : database_(&database), within_(database.in_transaction()) {
    // IMMEDIATE: the write lock is taken now, not in the middle.
    if (within_)
        database.execute("SAVEPOINT within");
    else
        database.execute(kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
    if (database_ == nullptr) return;
    try {
        database_->execute(within_ ? "ROLLBACK TO within; RELEASE within" : "ROLLBACK");
    } catch (const DatabaseFailure&) {
        // SQLite has already rolled back (full disk, I/O error): nothing is left to undo.
    }
}

void Transaction::commit() {
    database_->execute(within_ ? "RELEASE within" : "COMMIT");
    database_ = nullptr;
}

}  // namespace reaper::journal
