// SQLite, thinly: a connection with its prepared statements. Failures are exceptions of this
// folder's own; they end where a call of the store ends (see storage_error).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <sqlite3.h>
#include <string>
#include <string_view>

#include "reaper/model/error.hpp"
#include "reaper/model/time.hpp"

namespace reaper::journal {

/// A call of SQLite that failed.
struct DatabaseFailure {
    int code;  ///< extended result code
    std::string message;
    int system_error = 0;  ///< errno of the call below it, where there was one
};

/// One line with the path and what to do.
Error storage_error(const std::string& path, const DatabaseFailure& failure);

/// One use of a prepared statement: bind from 1, step through the rows, read columns from 0. Its
/// end makes the statement ready for the next use.
class Statement {
public:
    explicit Statement(sqlite3_stmt* prepared) : prepared_(prepared) {}
    Statement& operator=(Statement&&) = delete;
    ~Statement();

    /// Bytes as they are, zero bytes too.
    Statement& bind(int index, std::string_view text);
    Statement& bind(int index, std::int64_t number);
    /// Milliseconds since the epoch, as all times in the file.
    Statement& bind(int index, TimePoint time);
    /// True: there is a row to read.
    bool step();
    /// For statements without rows.
    void run();

    std::int64_t number(int column) const { return sqlite3_column_int64(prepared_, column); }
    TimePoint time(int column) const { return TimePoint{Duration{number(column)}}; }
    std::string text(int column) const;
    bool null(int column) const { return sqlite3_column_type(prepared_, column) == SQLITE_NULL; }

private:
    sqlite3_stmt* prepared_;
};

class Database {
public:
    /// `flags` as of sqlite3_open_v2. Throws DatabaseFailure.
    Database(const std::string& path, int flags);

    /// The statement of this text, prepared at its first use. One use at a time.
    Statement statement(const char* sql);
    /// Several statements without results.
    void execute(const std::string& sql);
    /// First column of the first row, as a text.
    std::string ask(const std::string& sql);
    std::int64_t ask_number(const std::string& sql);
    std::int64_t last_row() const { return sqlite3_last_insert_rowid(handle_.get()); }
    int changes() const { return sqlite3_changes(handle_.get()); }
    bool in_transaction() const { return sqlite3_get_autocommit(handle_.get()) == 0; }

private:
    struct Close {
        void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
    };
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    std::unique_ptr<sqlite3, Close> handle_;
    std::map<std::string_view, std::unique_ptr<sqlite3_stmt, Finalize>> statements_;
};

/// All or nothing: what is not committed is undone. One within another is committed with that.
class Transaction {
public:
    enum class Kind { read, write };
    explicit Transaction(Database& database, Kind kind = Kind::write);
    Transaction& operator=(Transaction&&) = delete;
    ~Transaction();
    void commit();

private:
    Database* database_;
    bool within_;
};

}  // namespace reaper::journal
