#include "clients/journal/sqlite_database.hpp"

#include <cerrno>

namespace reaper::journal {
namespace {

constexpr int busy_milliseconds = 5'000;

/// Of SQLite's virtual machine, between two looks at the clock: less than a millisecond.
constexpr int steps_at_a_time = 1'000;

constexpr const char* free_space = "the disk is full: free some space";

/// `system_error`: errno of the call below SQLite's, where there was one.
std::string sqlite_advice(int code, int system_error) {
    const int primary = code & 0xff;
    // SQLite reports some full disks as plain I/O errors. (Its system error may be of an earlier
    // call, and means something for these alone.)
    const bool no_space = system_error == ENOSPC || system_error == EDQUOT;
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
        case SQLITE_INTERRUPT: return "it takes too long";
        case SQLITE_IOERR: return "the disk or its file system fails: see the kernel's log";
        default: return "";
    }
}

[[noreturn]] void sqlite_fail(sqlite3* handle) {
    const int code = sqlite3_extended_errcode(handle);
    DatabaseFailure failure{code, sqlite3_errmsg(handle),
                            sqlite_advice(code, sqlite3_system_errno(handle))};
    failure.given_up = code == SQLITE_INTERRUPT;  // by the progress handler alone
    throw failure;
}

class SqlitePrepared final : public Prepared {
public:
    explicit SqlitePrepared(sqlite3_stmt* statement) : statement_(statement) {}

    void bind(int index, std::string_view text) override {
        // A null pointer would bind NULL instead of an empty text.
        const char* const data = text.data() == nullptr ? "" : text.data();
        if (sqlite3_bind_text64(statement_.get(), index, data, text.size(), SQLITE_TRANSIENT,
                                SQLITE_UTF8) != SQLITE_OK)
            fail();
    }
    void bind(int index, std::int64_t number) override {
        if (sqlite3_bind_int64(statement_.get(), index, number) != SQLITE_OK) fail();
    }
    bool step() override {
        const int code = sqlite3_step(statement_.get());
        if (code == SQLITE_ROW) return true;
        if (code == SQLITE_DONE) return false;
        fail();
    }
    std::int64_t number(int column) const override {
        return sqlite3_column_int64(statement_.get(), column);
    }
    std::string text(int column) const override {
        const auto* const bytes =
            reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
        const int size = sqlite3_column_bytes(statement_.get(), column);
        return bytes == nullptr ? std::string{}
                                : std::string(bytes, static_cast<std::size_t>(size));
    }
    bool null(int column) const override {
        return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
    }
    void reset() noexcept override {
        sqlite3_reset(statement_.get());
        sqlite3_clear_bindings(statement_.get());
    }

private:
    [[noreturn]] void fail() { sqlite_fail(sqlite3_db_handle(statement_.get())); }

    struct Finalize {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

}  // namespace

SqliteDatabase::SqliteDatabase(const std::string& path, int flags) {
    sqlite3* handle = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &handle, flags | SQLITE_OPEN_EXRESCODE, nullptr);
    handle_.reset(handle);
    if (handle == nullptr)
        throw DatabaseFailure{code, sqlite3_errstr(code), sqlite_advice(code, 0)};
    if (code != SQLITE_OK) sqlite_fail(handle);
    sqlite3_busy_timeout(handle, busy_milliseconds);
}

Prepared& SqliteDatabase::prepared(const char* sql) {
    auto& cached = statements_[sql];
    if (!cached) {
        sqlite3_stmt* statement = nullptr;
        if (sqlite3_prepare_v3(handle_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement,
                               nullptr) != SQLITE_OK)
            sqlite_fail(handle_.get());
        cached = std::make_unique<SqlitePrepared>(statement);
    }
    return *cached;
}

void SqliteDatabase::give_up_at(std::optional<std::chrono::steady_clock::time_point> end) {
    end_ = end.value_or(end_);
    const auto is_over = [](void* given) {
        return std::chrono::steady_clock::now() > static_cast<SqliteDatabase*>(given)->end_ ? 1 : 0;
    };
    if (end)
        sqlite3_progress_handler(handle_.get(), steps_at_a_time, is_over, this);
    else
        sqlite3_progress_handler(handle_.get(), 0, nullptr, nullptr);
}

void SqliteDatabase::execute(const std::string& sql) {
    if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
        sqlite_fail(handle_.get());
}

std::string SqliteDatabase::ask(const std::string& sql) {
    sqlite3_stmt* prepared = nullptr;
    if (sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &prepared, nullptr) != SQLITE_OK)
        sqlite_fail(handle_.get());
    SqlitePrepared once{prepared};
    return once.step() ? once.text(0) : std::string{};
}

}  // namespace reaper::journal
