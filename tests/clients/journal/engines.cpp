#include "tests/clients/journal/engines.hpp"

#include <fstream>
#include <iterator>

#include "clients/journal/mariadb_journal.hpp"
#include "clients/journal/sqlite_database.hpp"
#include "clients/journal/sqlite_journal.hpp"
#include "tests/clients/journal/stories.hpp"
#include "tests/support/mariadb_server.hpp"

namespace reaper::journal::test {
namespace {

class SqliteHome final : public Home {
public:
    Result<std::unique_ptr<Journal>> open(JournalOptions options) override {
        return open_journal(folder_.path(), options);
    }
    Result<std::unique_ptr<JournalReader>> open_for_reading() override {
        return open_journal_for_reading(folder_.path());
    }
    void execute(const std::string& sql) override {
        SqliteDatabase{folder_.path(), SQLITE_OPEN_READWRITE}.execute(sql);
    }
    void hold_writes() override {
        other_ = std::make_unique<SqliteDatabase>(folder_.path(), SQLITE_OPEN_READWRITE);
        other_->execute("BEGIN IMMEDIATE");
    }
    void release_writes() override { other_->execute("COMMIT"); }
    // Of the write-ahead log: a frame that ends a transaction tells the size of the file.
    // https://www.sqlite.org/fileformat2.html#the_write_ahead_log
    int transactions() override {
        std::ifstream file{folder_.path() + "-wal", std::ios::binary};
        const std::string log{std::istreambuf_iterator<char>{file}, {}};
        const auto number = [&log](std::size_t at) {
            std::uint32_t value = 0;
            for (std::size_t i = 0; i < 4; ++i)
                value = value << 8U | static_cast<unsigned char>(log.at(at + i));
            return value;
        };
        if (log.size() < 32) return 0;
        int found = 0;
        const std::size_t page = number(8);
        for (std::size_t at = 32; at + 24 + page <= log.size(); at += 24 + page)
            if (number(at + 4) != 0) ++found;
        return found;
    }

private:
    Folder folder_;
    std::unique_ptr<SqliteDatabase> other_;
};

class MariadbHome final : public Home {
public:
    MariadbHome() {
        const auto made = migrate_mariadb_journal(address_, false);
        if (!made) throw std::runtime_error(made.error().what);
    }
    Result<std::unique_ptr<Journal>> open(JournalOptions options) override {
        return open_mariadb_journal(address_, "the test", options);
    }
    Result<std::unique_ptr<JournalReader>> open_for_reading() override {
        return open_mariadb_journal_for_reading(address_);
    }
    void execute(const std::string& sql) override { connection().execute(sql); }
    void hold_writes() override { connection().execute("LOCK TABLES lease READ"); }
    void release_writes() override { connection().execute("UNLOCK TABLES"); }
    int transactions() override {
        return static_cast<int>(connection().ask_number("SELECT writes FROM lease"));
    }

private:
    MariadbDatabase& connection() {
        if (!other_)
            other_ = std::make_unique<MariadbDatabase>(address_, MariadbDatabase::Use::writing);
        return *other_;
    }

    MariadbAddress address_ = MariadbServer::shared().new_database();
    std::unique_ptr<MariadbDatabase> other_;
};

}  // namespace

std::unique_ptr<Home> make_home(Engine engine) {
    if (engine == Engine::sqlite) return std::make_unique<SqliteHome>();
    return mariadb_installed() ? std::make_unique<MariadbHome>() : nullptr;
}

void OnEveryEngine::SetUp() {
    home_ = make_home(GetParam());
    if (!home_) GTEST_SKIP() << no_mariadb;
    open();
    if (journal_) prepare();
}

void OnEveryEngine::open(JournalOptions options) {
    journal_.reset();
    auto opened = home_->open(options);
    ASSERT_TRUE(opened) << opened.error().what;
    journal_ = std::move(*opened);
}

std::string engine_name(const testing::TestParamInfo<Engine>& info) {
    return info.param == Engine::sqlite ? "SQLite" : "MariaDB";
}

}  // namespace reaper::journal::test
