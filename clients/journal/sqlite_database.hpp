// A file of SQLite as a database of the journal.
#pragma once

#include <map>
#include <memory>
#include <sqlite3.h>
#include <string>
#include <string_view>

#include "clients/journal/database.hpp"

namespace reaper::journal {

class SqliteDatabase final : public Database {
public:
    /// `flags` as of sqlite3_open_v2. Throws DatabaseFailure.
    SqliteDatabase(const std::string& path, int flags);

    void execute(const std::string& sql) override;
    std::string ask(const std::string& sql) override;
    std::int64_t last_row() const override { return sqlite3_last_insert_rowid(handle_.get()); }
    std::int64_t changes() const override { return sqlite3_changes(handle_.get()); }
    bool in_transaction() const override { return sqlite3_get_autocommit(handle_.get()) == 0; }
    void give_up_at(std::optional<std::chrono::steady_clock::time_point> end) override;

private:
    Prepared& prepared(const char* sql) override;
    // IMMEDIATE: the write lock is taken now, not in the middle.
    void begin(bool writes) override { execute(writes ? "BEGIN IMMEDIATE" : "BEGIN"); }
    void commit() override { execute("COMMIT"); }
    void rollback() override { execute("ROLLBACK"); }

    struct Close {
        void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
    };
    std::unique_ptr<sqlite3, Close> handle_;
    std::chrono::steady_clock::time_point end_{};  ///< of give_up_at
    std::map<std::string_view, std::unique_ptr<Prepared>> statements_;
};

}  // namespace reaper::journal
