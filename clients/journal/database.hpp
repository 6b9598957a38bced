// A database, thinly: a connection with its prepared statements. Two engines stand behind it:
// SQLite (sqlite_database.hpp) and MariaDB (mariadb_database.hpp).
//
// The SQL of this folder is written for SQLite, in words that both know wherever there are such.
// What MariaDB says otherwise stands in dialect.cpp alone. Failures are exceptions of this folder's
// own; they end where a call of the store ends (see storage_error).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "reaper/model/error.hpp"
#include "reaper/model/time.hpp"

namespace reaper::journal {

/// A call of the engine that failed.
struct DatabaseFailure {
    int code = 0;  ///< the engine's own; SQLite: the extended result code
    std::string message;
    std::string advice{};    ///< what to do about it, where there is something
    bool again = false;      ///< nothing of the transaction is there, and the next try may succeed
    bool displaced = false;  ///< another reaper writes the journal now
    bool given_up = false;   ///< at the end that give_up_at set
};

/// One line with the path and what to do: `conflict` if another reaper writes the journal now,
/// `timeout` if it was given up.
Error storage_error(const std::string& path, const DatabaseFailure& failure);

/// A statement that an engine has prepared.
class Prepared {
public:
    virtual ~Prepared() = default;
    virtual void bind(int index, std::string_view text) = 0;
    virtual void bind(int index, std::int64_t number) = 0;
    virtual bool step() = 0;
    virtual std::int64_t number(int column) const = 0;
    virtual std::string text(int column) const = 0;
    virtual bool null(int column) const = 0;
    /// Ready for the next use, with nothing bound.
    virtual void reset() noexcept = 0;
};

/// One use of a prepared statement: bind from 1, step through the rows, read columns from 0. Its
/// end makes the statement ready for the next use.
class Statement {
public:
    explicit Statement(Prepared& prepared) : prepared_(prepared) {}
    Statement& operator=(Statement&&) = delete;
    ~Statement() { prepared_.reset(); }

    /// Bytes as they are, zero bytes too. What is not bound is NULL.
    Statement& bind(int index, std::string_view text) {
        prepared_.bind(index, text);
        return *this;
    }
    Statement& bind(int index, std::int64_t number) {
        prepared_.bind(index, number);
        return *this;
    }
    /// Milliseconds since the epoch, as all times in the journal.
    Statement& bind(int index, TimePoint time) {
        return bind(index, std::int64_t{time.time_since_epoch().count()});
    }
    /// True: there is a row to read.
    bool step() { return prepared_.step(); }
    /// For statements without rows.
    void run() {
        while (step()) {
        }
    }

    /// NULL is 0, and an empty text.
    std::int64_t number(int column) const { return prepared_.number(column); }
    TimePoint time(int column) const { return TimePoint{Duration{number(column)}}; }
    std::string text(int column) const { return prepared_.text(column); }
    bool null(int column) const { return prepared_.null(column); }

private:
    Prepared& prepared_;
};

class Database {
public:
    Database() = default;
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;
    virtual ~Database() = default;

    /// The statement of this text, which lives as long as the program; prepared at its first use.
    /// One use at a time. Parameters are numbered: ?1, ?2.
    Statement statement(const char* sql) { return Statement{prepared(sql)}; }
    /// A statement without results, in the engine's own words. (SQLite: also several.)
    virtual void execute(const std::string& sql) = 0;
    /// First column of the first row, as a text; in the engine's own words.
    virtual std::string ask(const std::string& sql) = 0;
    std::int64_t ask_number(const std::string& sql);
    /// The number that the last INSERT gave to its row.
    virtual std::int64_t last_row() const = 0;
    /// Rows that the last statement changed.
    virtual std::int64_t changes() const = 0;
    /// False: none was begun, or the engine undid it by itself.
    virtual bool in_transaction() const = 0;
    /// What takes longer fails, and is `given_up`; none: there is no end. Throws nothing. (MariaDB:
    /// each statement has one of its own beside it, journal.timeout.)
    virtual void give_up_at(std::optional<std::chrono::steady_clock::time_point> end) = 0;

private:
    friend class Transaction;
    virtual Prepared& prepared(const char* sql) = 0;
    virtual void begin(bool writes) = 0;
    virtual void commit() = 0;
    virtual void rollback() = 0;
    /// A transaction within one.
    virtual void begin_within() { execute("SAVEPOINT within"); }
    virtual void commit_within() { execute("RELEASE SAVEPOINT within"); }
    virtual void rollback_within() {
        execute("ROLLBACK TO SAVEPOINT within");
        execute("RELEASE SAVEPOINT within");
    }
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
