#include "clients/journal/mariadb_reapers.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "clients/journal/mariadb_schema.hpp"
#include "clients/journal/stored_journal.hpp"
#include "reaper/model/text.hpp"

namespace reaper {
namespace {

using journal::MariadbAddress;
using journal::MariadbDatabase;
using journal::Transaction;
using std::chrono::steady_clock;

constexpr std::chrono::milliseconds between_questions{500};
constexpr std::chrono::seconds between_signs{2};
/// Of one that did not take its row back.
constexpr std::int64_t forgotten_after_ms = 3'600'000;

std::string_view cut(const std::string& text, std::size_t most) {
    return std::string_view{text}.substr(0, most);
}

void sign(MariadbDatabase& database, const ReaperNote& self, const ReaperState& how) {
    Transaction transaction{database};
    auto note = database.statement(
        "INSERT INTO reapers (name, machine, version, gateway, configuration, since, seen_at) "
        "VALUES (?1, ?2, ?3, ?4, ?5, " MARIADB_NOW ", " MARIADB_NOW
        ") ON DUPLICATE KEY UPDATE machine = ?2, version = ?3, gateway = ?4, configuration = ?5, "
        "seen_at = " MARIADB_NOW);
    note.bind(1, cut(self.name, 512)).bind(2, cut(self.machine, 255));
    note.bind(3, cut(self.version, 255)).bind(4, cut(self.gateway, 1024));
    note.bind(5, cut(self.configuration, 64)).run();
    auto state = database.statement(
        "INSERT INTO reaper_state (name, sections, cache_age, in_flight, broker) "
        "VALUES (?1, ?2, ?3, ?4, ?5) ON DUPLICATE KEY UPDATE sections = ?2, cache_age = ?3, "
        "in_flight = ?4, broker = ?5");
    state.bind(1, cut(self.name, 512)).bind(2, cut(self.sections, 4096));
    if (how.cache_age) state.bind(3, std::int64_t{how.cache_age->count()});
    state.bind(4, how.in_flight);
    if (how.broker) state.bind(5, std::int64_t{*how.broker});
    state.run();
    transaction.commit();
}

void remove(MariadbDatabase& database, std::string_view name) {
    Transaction transaction{database};
    for (const char* const sql :
         {"DELETE FROM reapers WHERE name = ?1", "DELETE FROM reaper_state WHERE name = ?1"})
        database.statement(sql).bind(1, name).run();
    transaction.commit();
}

/// Row by row: a scan to delete would wait for the rows of others, and they for ours.
void forget_old(MariadbDatabase& database) {
    std::vector<std::string> old;
    {
        auto rows =
            database.statement("SELECT name FROM reapers WHERE seen_at < " MARIADB_NOW " - ?1");
        rows.bind(1, forgotten_after_ms);
        while (rows.step()) old.push_back(rows.text(0));
    }
    for (const std::string& name : old) remove(database, name);
}

ReaperList read(MariadbDatabase& database, const std::string& self) {
    ReaperList list;
    TimePoint taken_at{};
    auto lease = database.statement("SELECT holder, taken_at, ends_at > " MARIADB_NOW
                                    " FROM lease WHERE id = 1");
    if (lease.step() && lease.number(2) != 0) {
        list.held = true;
        list.holder = printable(lease.text(0), 512);
        taken_at = lease.time(1);
    }
    auto rows = database.statement(
        "SELECT reapers.name, machine, version, gateway, configuration, since, " MARIADB_NOW
        " - seen_at, sections, cache_age, in_flight, broker FROM reapers "
        "LEFT JOIN reaper_state ON reaper_state.name = reapers.name ORDER BY reapers.name");
    while (rows.step()) {
        JournalReaper each;
        each.note = {printable(rows.text(0), 512), printable(rows.text(1), 255),
                     printable(rows.text(2), 255), printable(rows.text(3), 1024),
                     printable(rows.text(4), 64),  printable(rows.text(7), 4096)};
        each.here = each.note.name == self;
        each.active = list.held && each.note.name == list.holder;
        each.since = each.active ? taken_at : rows.time(5);
        each.silent = std::max(Duration{rows.number(6)}, Duration{});
        if (!rows.null(9)) {
            ReaperState& state = each.state.emplace();
            if (!rows.null(8)) state.cache_age = Duration{rows.number(8)} + each.silent;
            state.in_flight = rows.number(9);
            if (!rows.null(10)) state.broker = rows.number(10) != 0;
        }
        list.all.push_back(std::move(each));
    }
    std::stable_partition(list.all.begin(), list.all.end(),
                          [](const JournalReaper& each) { return each.active; });
    return list;
}

class MariadbReapers final : public Reapers {
public:
    MariadbReapers(MariadbAddress address, ReaperNote self)
        : address_(std::move(address)), self_(std::move(self)) {
        ask();
        thread_ = std::thread{[this] { watch(); }};
    }
    ~MariadbReapers() override {
        {
            const std::lock_guard lock{mutex_};
            stopping_ = true;
        }
        wake_.notify_all();
        thread_.join();
        leave();
    }

    ReaperList list() const override {
        const std::lock_guard lock{mutex_};
        ReaperList list = list_;
        const auto since = std::chrono::duration_cast<Duration>(steady_clock::now() - told_at_);
        for (JournalReaper& each : list.all) {
            each.silent += since;
            if (each.state && each.state->cache_age) *each.state->cache_age += since;
        }
        return list;
    }
    void configured(std::string digest, std::string sections) override {
        const std::lock_guard lock{mutex_};
        self_.configuration = std::move(digest);
        self_.sections = std::move(sections);
        sign_at_ = {};
    }
    void note_state(ReaperState state) override {
        const std::lock_guard lock{mutex_};
        state_ = state;
    }

private:
    void watch() {
        std::unique_lock lock{mutex_};
        while (!wake_.wait_for(lock, between_questions, [this] { return stopping_; })) {
            lock.unlock();
            ask();
            lock.lock();
        }
    }
    void ask() {
        std::unique_lock lock{mutex_};
        const bool signs = steady_clock::now() >= sign_at_;
        const ReaperNote self = self_;
        const ReaperState state = state_;
        if (signs) sign_at_ = steady_clock::now() + between_signs;
        lock.unlock();
        auto told = journal::guarded<ReaperList>(address_.url(), [&]() -> Result<ReaperList> {
            if (!database_)
                database_ =
                    std::make_unique<MariadbDatabase>(address_, MariadbDatabase::Use::writing);
            if (signs) {
                sign(*database_, self, state);
                forget_old(*database_);
            }
            return read(*database_, self.name);
        });
        lock.lock();
        if (!told) {
            list_.trouble = told.error().what;
            if (signs) sign_at_ = {};
            return;
        }
        list_ = std::move(*told);
        told_at_ = steady_clock::now();
    }
    void leave() {
        const auto left = journal::guarded<void>(address_.url(), [this]() -> Result<void> {
            if (!database_ || !database_->connected()) return {};
            remove(*database_, cut(self_.name, 512));
            return {};
        });
        std::ignore = left;  // it is forgotten later
    }

    MariadbAddress address_;
    std::unique_ptr<MariadbDatabase> database_;  // the thread's, while it runs
    mutable std::mutex mutex_;                   // of all below
    std::condition_variable wake_;
    ReaperNote self_;
    ReaperState state_;
    ReaperList list_;
    steady_clock::time_point told_at_{};  ///< the list
    steady_clock::time_point sign_at_{};
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace

std::unique_ptr<Reapers> make_reapers(const MariadbAddress& address, ReaperNote self) {
    return std::make_unique<MariadbReapers>(address, std::move(self));
}

ReaperList reapers_now(const MariadbAddress& address) {
    auto told = journal::guarded<ReaperList>(address.url(), [&]() -> Result<ReaperList> {
        MariadbDatabase database{address, MariadbDatabase::Use::reading};
        if (const auto good = journal::check_tables(database, address.url()); !good)
            return good.error();
        return read(database, "");
    });
    if (told) return std::move(*told);
    ReaperList unknown;
    unknown.trouble = told.error().what;
    return unknown;
}

}  // namespace reaper
