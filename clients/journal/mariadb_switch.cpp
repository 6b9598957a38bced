#include "clients/journal/mariadb_switch.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "clients/journal/mariadb_lease.hpp"
#include "clients/journal/mariadb_schema.hpp"
#include "clients/journal/stored_journal.hpp"
#include "reaper/model/text.hpp"

namespace reaper {
namespace {

using journal::MariadbAddress;
using journal::MariadbDatabase;
using journal::Transaction;
using std::chrono::steady_clock;

constexpr std::chrono::milliseconds between_looks{500};
/// As long as the lease: Galera leaves out a silent node after 5 s, and a host that hangs is given
/// up after `journal.timeout`. The record of a deletion asks the row itself.
constexpr std::chrono::milliseconds answer_holds = journal::lease_lasts;
/// `pause` and `resume` are tried again for that long: a busy writer of another node undoes them. A
/// daemon's loop waits for them.
constexpr std::chrono::milliseconds longest_change{10'000};
constexpr std::chrono::milliseconds longest_change_in_daemon{2'000};
constexpr std::size_t longest_name = 255;
constexpr std::size_t longest_reason = 1024;

TimePoint wall_now() {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

class SharedSwitch final : public Switch {
public:
    SharedSwitch(MariadbAddress address, std::unique_ptr<Switch> local, SwitchUse use)
        : address_(std::move(address)),
          url_(address_.url()),
          local_(std::move(local)),
          retry_for_(use == SwitchUse::watched ? longest_change_in_daemon : longest_change) {
        look();
        if (use == SwitchUse::watched) watcher_ = std::thread{[this] { watch(); }};
    }
    ~SharedSwitch() override {
        {
            const std::lock_guard lock{mutex_};
            stopping_ = true;
        }
        wake_.notify_all();
        if (watcher_.joinable()) watcher_.join();
    }

    std::optional<std::string> paused() const override {
        if (auto here = local_->paused()) return here;
        const auto there = note_of_all();
        return there ? std::optional{"paused " + there->line()} : std::nullopt;
    }
    std::optional<PauseNote> note() const override {
        if (auto here = local_->note()) return here;
        return note_of_all();
    }
    Result<void> pause(std::string by, std::string reason) override {
        return change([&](MariadbDatabase& database) {
            auto set = database.statement(
                "UPDATE lease SET paused_at = ?1, paused_by = ?2, paused_reason = ?3, "
                "writes = writes + 1 WHERE id = 1 AND paused_at IS NULL");
            set.bind(1, wall_now()).bind(2, std::string_view{by}.substr(0, longest_name));
            set.bind(3, std::string_view{reason}.substr(0, longest_reason)).run();
        });
    }
    Result<void> resume() override {
        if (const auto here = local_->resume(); !here) return here.error();
        return change([](MariadbDatabase& database) {
            database
                .statement(
                    "UPDATE lease SET paused_at = NULL, paused_by = '', "
                    "paused_reason = '', writes = writes + 1 WHERE id = 1")
                .run();
            database
                .statement(
                    "INSERT INTO resumed (id, at) VALUES (1, ?1) "
                    "ON DUPLICATE KEY UPDATE at = greatest(at + 1, VALUES(at))")
                .bind(1, wall_now())
                .run();
        });
    }
    std::optional<TimePoint> resumed_at() const override {
        const std::lock_guard lock{mutex_};
        return seen_ ? std::optional{seen_->resumed_at} : std::nullopt;
    }

private:
    struct Seen {
        std::optional<PauseNote> pause{};
        TimePoint resumed_at{};
    };
    std::optional<PauseNote> note_of_all() const {
        if (!watcher_.joinable()) look();
        const std::lock_guard lock{mutex_};
        if (answered_at_ && steady_clock::now() < *answered_at_ + answer_holds) return seen_->pause;
        PauseNote unknown;
        unknown.at = unknown_since_;
        unknown.trouble = "the switch in " + url_ + " can't be read: " + trouble_;
        unknown.unknown = true;
        return unknown;
    }
    /// A connection of its own; it may be asked by the watcher and by `change` at once.
    MariadbDatabase& connected(std::unique_ptr<MariadbDatabase>& database) const {
        if (!database)
            database = std::make_unique<MariadbDatabase>(address_, MariadbDatabase::Use::writing);
        return *database;
    }
    void look() const {
        const auto changes = [this] {
            const std::lock_guard lock{mutex_};
            return changes_;
        };
        const int before = changes();
        std::optional<Seen> seen;
        const auto look_once = [&]() -> Result<void> {
            seen = read(connected(reading_));
            return {};
        };
        const auto looked = journal::guarded<void>(url_, [&]() -> Result<void> {
            try {
                return look_once();
            } catch (const journal::DatabaseFailure& failure) {
                if (!failure.again || !reading_) throw;
            }
            return look_once();  // at the next host
        });
        const std::lock_guard lock{mutex_};
        if (looked && before != changes_) return;  // `change` has seen more
        if (looked) {
            seen_ = std::move(seen);
            answered_at_ = steady_clock::now();
            trouble_.clear();
            return;
        }
        if (trouble_.empty()) unknown_since_ = wall_now();
        trouble_ = looked.error().what;
        if (!watcher_.joinable()) answered_at_.reset();
    }
    void watch() {
        std::unique_lock lock{mutex_};
        while (!wake_.wait_for(lock, between_looks, [this] { return stopping_; })) {
            lock.unlock();
            look();
            lock.lock();
        }
    }
    template <class Work>
    Result<void> change(const Work& work) {
        journal::Retries retries{retry_for_};
        const auto seen = journal::guarded<Seen>(url_, [&]() -> Result<Seen> {
            while (true) {
                try {
                    return change_once(work);
                } catch (const journal::DatabaseFailure& failure) {
                    // What a lost COMMIT may have written can be written twice.
                    const bool lost = writing_ && !writing_->connected();
                    if (!(failure.again || lost) || !retries.wait()) throw;
                }
            }
        });
        if (!seen) return seen.error();
        const std::lock_guard lock{mutex_};
        seen_ = *seen;
        ++changes_;
        answered_at_ = steady_clock::now();
        return {};
    }
    /// What it reads is in force here at once, and not at the watcher's next look.
    template <class Work>
    Result<Seen> change_once(const Work& work) {
        MariadbDatabase& database = connected(writing_);
        if (const auto good = journal::check_tables(database, url_); !good) return good.error();
        Transaction transaction{database};
        work(database);
        Seen seen = read(database);
        transaction.commit();
        return seen;
    }
    static Seen read(MariadbDatabase& database) {
        auto select = database.statement(
            "SELECT paused_at, paused_by, paused_reason, "
            "(SELECT coalesce(max(at), 0) FROM resumed) FROM lease WHERE id = 1");
        if (!select.step())
            throw journal::DatabaseFailure{0, "its row is gone", "run: reaper journal migrate"};
        if (select.null(0)) return {std::nullopt, select.time(3)};
        return {PauseNote{printable(select.text(1), longest_name),
                          printable(select.text(2), longest_reason), select.time(0)},
                select.time(3)};
    }

    MariadbAddress address_;
    std::string url_;
    std::unique_ptr<Switch> local_;
    std::chrono::milliseconds retry_for_;
    mutable std::unique_ptr<MariadbDatabase> reading_;  // the watcher's, where there is one
    std::unique_ptr<MariadbDatabase> writing_;
    mutable std::mutex mutex_;  // of all below
    std::condition_variable wake_;
    mutable std::optional<Seen> seen_;
    int changes_ = 0;
    mutable std::optional<steady_clock::time_point> answered_at_;
    mutable std::string trouble_;
    mutable TimePoint unknown_since_{};
    bool stopping_ = false;
    std::thread watcher_;
};

}  // namespace

std::unique_ptr<Switch> make_shared_switch(const MariadbAddress& address,
                                           std::unique_ptr<Switch> local, SwitchUse use) {
    return std::make_unique<SharedSwitch>(address, std::move(local), use);
}

}  // namespace reaper
