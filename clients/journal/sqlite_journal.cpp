#include "clients/journal/sqlite_journal.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/journal/damage.hpp"
#include "clients/journal/schema.hpp"
#include "clients/journal/store.hpp"
#include "clients/journal/worker.hpp"

namespace reaper {
namespace {

using journal::Database;
using journal::DatabaseFailure;
using journal::Grouping;
using journal::Lease;
using journal::Store;

constexpr int max_waiting_calls = 10'000;
constexpr const char* in_memory = ":memory:";

Error refused(const std::string& path, const std::string& why) {
    return Error{Errc::storage, "journal " + path + ": " + why};
}

/// Runs `work`, and turns what SQLite and memory throw into an error of the journal.
template <class T, class Work>
Result<T> guarded(const std::string& path, const Work& work) {
    try {
        return work();
    } catch (const DatabaseFailure& failure) {
        return journal::storage_error(path, failure);
    } catch (const std::exception& exception) {
        return refused(path, exception.what());
    }
}

class SqliteJournal final : public Journal {
public:
    explicit SqliteJournal(std::unique_ptr<Store> store) : store_(std::move(store)) {}

    ResultTask<Admission> admit(Request request, TimePoint now) override {
        return write<Admission>([request = std::move(request), now](Store& store) {
            return store.admit(request, now);
        });
    }
    ResultTask<void> admit_anew(Request request, TimePoint now) override {
        return write<void>([request = std::move(request), now](Store& store) {
            return store.admit_anew(request, now);
        });
    }
    ResultTask<void> admit_ended(Request request, Outcome outcome, TimePoint now) override {
        return write<void>([request = std::move(request), outcome = std::move(outcome), now](
                               Store& store) { return store.admit_ended(request, outcome, now); });
    }
    ResultTask<void> add_plan(RequestId id, PlanEntry plan) override {
        return call<void>([id = std::move(id), plan = std::move(plan)](Store& store) {
            return store.add_plan(id, plan);
        });
    }
    ResultTask<void> add_step(RequestId id, StepEntry step) override {
        return call<void>([id = std::move(id), step = std::move(step)](Store& store) {
            return store.add_step(id, step);
        });
    }
    ResultTask<void> finish(RequestId id, Outcome outcome) override {
        return write<void>([id = std::move(id), outcome = std::move(outcome)](Store& store) {
            return store.finish(id, outcome);
        });
    }
    ResultTask<void> note_message(MessageEntry message) override {
        return write<void>(
            [message = std::move(message)](Store& store) { return store.note_message(message); });
    }
    ResultTask<std::vector<RequestRecord>> unfinished() override {
        return call<std::vector<RequestRecord>>([](Store& store) { return store.unfinished(); });
    }
    ResultTask<std::vector<RequestRecord>> culls_between(TimePoint since,
                                                         TimePoint until) override {
        return call<std::vector<RequestRecord>>(
            [since, until](Store& store) { return store.culls_between(since, until); });
    }
    ResultTask<std::vector<RequestSummary>> list(int limit) override {
        return call<std::vector<RequestSummary>>(
            [limit](Store& store) { return store.list(limit); });
    }
    ResultTask<std::vector<RequestSummary>> find_requests(JournalQuery query) override {
        return call<std::vector<RequestSummary>>(
            [query = std::move(query)](Store& store) { return store.find_requests(query); });
    }
    ResultTask<std::vector<VictimEntry>> find_victims(JournalQuery query) override {
        return call<std::vector<VictimEntry>>(
            [query = std::move(query)](Store& store) { return store.find_victims(query); });
    }
    ResultTask<KnownValues> known_values(JournalQuery query) override {
        return call<KnownValues>(
            [query = std::move(query)](Store& store) { return store.known_values(query); });
    }
    ResultTask<std::vector<ChosenServer>> chosen(std::string server, int limit) override {
        return call<std::vector<ChosenServer>>([server = std::move(server), limit](Store& store) {
            return store.chosen(server, limit);
        });
    }
    ResultTask<std::optional<RequestRecord>> record(RequestId id) override {
        return call<std::optional<RequestRecord>>(
            [id = std::move(id)](Store& store) { return store.record(id); }, Grouping::reads);
    }
    ResultTask<std::vector<MessageEntry>> find_messages(JournalQuery query) override {
        return call<std::vector<MessageEntry>>(
            [query = std::move(query)](Store& store) { return store.find_messages(query); });
    }

    ResultTask<void> note_freed_room(RequestId id, FreedRoomResult freed_room) override {
        return call<void>([id = std::move(id), freed_room = std::move(freed_room)](Store& store) {
            return store.note_freed_room(id, freed_room);
        });
    }
    ResultTask<void> note_event(JournalEvent event) override {
        return call<void>(
            [event = std::move(event)](Store& store) { return store.note_event(event); });
    }
    ResultTask<void> note_protection(ServerProtection protection) override {
        return call<void>([protection = std::move(protection)](Store& store) {
            return store.note_protection(protection);
        });
    }
    ResultTask<void> end_protection(ServerId server) override {
        return call<void>(
            [server = std::move(server)](Store& store) { return store.end_protection(server); });
    }
    ResultTask<std::vector<ServerProtection>> protections() override {
        return call<std::vector<ServerProtection>>(
            [](Store& store) { return store.protections(); });
    }
    ResultTask<void> add_hold(InventoryHold hold) override {
        return call<void>([hold = std::move(hold)](Store& store) { return store.add_hold(hold); });
    }
    ResultTask<void> end_hold(ProviderId provider, ResourceClass resource_class,
                              InventoryHoldEnd end) override {
        return call<void>(
            [provider = std::move(provider), name = std::move(resource_class),
             end = std::move(end)](Store& store) { return store.end_hold(provider, name, end); });
    }
    ResultTask<std::vector<InventoryHold>> holds() override {
        return call<std::vector<InventoryHold>>([](Store& store) { return store.holds(); });
    }
    ResultTask<std::int64_t> note_order(OrderRecord order) override {
        return call<std::int64_t>(
            [order = std::move(order)](Store& store) { return store.note_order(order); });
    }
    ResultTask<std::optional<OrderRecord>> order(std::string principal, std::string key) override {
        return call<std::optional<OrderRecord>>(
            [principal = std::move(principal), key = std::move(key)](Store& store) {
                return store.order(principal, key);
            });
    }
    ResultTask<std::vector<OrderRecord>> orders(int limit) override {
        return call<std::vector<OrderRecord>>(
            [limit](Store& store) { return store.orders(limit); });
    }
    ResultTask<void> note_reservations(std::vector<KnownReservation> there,
                                       std::vector<ReservationId> gone) override {
        return call<void>([there = std::move(there), gone = std::move(gone)](Store& store) {
            return store.note_reservations(there, gone);
        });
    }
    ResultTask<std::vector<KnownReservation>> reservations() override {
        return call<std::vector<KnownReservation>>(
            [](Store& store) { return store.reservations(); });
    }
    ResultTask<std::vector<VictimEntry>> victims_since(TimePoint since) override {
        return call<std::vector<VictimEntry>>(
            [since](Store& store) { return store.victims_since(since); });
    }
    ResultTask<std::vector<RequestRecord>> freed_rooms_since(TimePoint since) override {
        return call<std::vector<RequestRecord>>(
            [since](Store& store) { return store.freed_rooms_since(since); });
    }
    ResultTask<std::vector<JournalEvent>> events(int limit) override {
        return call<std::vector<JournalEvent>>(
            [limit](Store& store) { return store.events(limit); });
    }
    ResultTask<std::vector<JournalEvent>> find_events(JournalQuery query) override {
        return call<std::vector<JournalEvent>>(
            [query = std::move(query)](Store& store) { return store.find_events(query); });
    }
    ResultTask<JournalTotals> totals(TimePoint since) override {
        return call<JournalTotals>([since](Store& store) { return store.totals(since); });
    }

private:
    template <class T, class Work>
    ResultTask<T> call(Work work, Grouping grouping = Grouping::alone) {
        std::function<Result<T>()> job = [this, work = std::move(work)] {
            return guarded<T>(store_->path(), [&]() -> Result<T> {
                if (const auto there = store_->check_files(); !there) return there.error();
                return work(*store_);
            });
        };
        Error overload = refused(store_->path(), "too many calls wait for the disk");
        return worker_.run<T>(std::move(job), std::move(overload), grouping);
    }
    /// What comes by the thousand: those that wait for the disk at the same time are synced once.
    template <class T, class Work>
    ResultTask<T> write(Work work) {
        return call<T>(std::move(work), Grouping::writes);
    }

    journal::Group group() {
        journal::Group group;
        group.begin = [this] {
            return guarded<void>(store_->path(),
                                 [this]() -> Result<void> {
                                     store_->begin_group();
                                     return {};
                                 })
                .has_value();
        };
        group.end = [this] {
            return guarded<void>(store_->path(), [this]() -> Result<void> {
                store_->end_group();
                return store_->check_files();
            });
        };
        group.still_open = [this] { return store_->in_group(); };
        return group;
    }

    std::unique_ptr<Store> store_;
    journal::Worker worker_{max_waiting_calls, group()};  // ends before the store
};

/// Why a file can't be kept there; before SQLite says it in fewer words.
Result<void> check_directory(const std::string& path) {
    const auto directory = std::filesystem::path{path}.parent_path().string();
    const std::string folder = directory.empty() ? "." : directory;
    struct stat status {};
    if (::stat(folder.c_str(), &status) != 0)
        return refused(path, "directory " + folder + ": " + std::strerror(errno) +
                                 "; create it for the reaper's user");
    if (!S_ISDIR(status.st_mode)) return refused(path, folder + " is not a directory");
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        return refused(path, "directory " + folder + ": " + std::strerror(errno) +
                                 "; give it to the reaper's user");
    return {};
}

Result<void> prepare_for_writing(Database& database, const std::string& path) {
    if (const auto ours = journal::check_origin(database, path); !ours) return ours.error();
    const std::string mode = database.ask("PRAGMA journal_mode = WAL");
    if (mode != "wal" && path != in_memory)
        return refused(path, "its file system can't hold a write-ahead log; use a local disk");
    database.execute(
        "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
        "PRAGMA trusted_schema = OFF; PRAGMA journal_size_limit = 67108864");
    journal::check_whole(database);
    if (const auto made = journal::make_tables(database, path); !made) return made.error();
    if (!journal::has_our_tables(database))
        throw journal::Damage{"its tables are not those that were made"};
    return {};
}

/// Throws Damage if the file is not what was written.
Result<std::unique_ptr<Store>> open_store(const std::string& path, std::optional<Lease>& lease,
                                          JournalOptions options) {
    if (path != in_memory) journal::check_log(path);
    if (lease)
        if (const auto locked = lease->lock_file(); !locked) return locked.error();
    try {
        Database database{path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE};
        if (const auto prepared = prepare_for_writing(database, path); !prepared)
            return prepared.error();
        if (lease) lease->remember_files();
        return std::make_unique<Store>(path, std::move(database), std::move(lease), options);
    } catch (const DatabaseFailure& failure) {
        if (!journal::tells_damage(failure)) throw;
        throw journal::Damage{failure.message};
    }
}

TimePoint now() {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

/// A damaged journal is neither trusted nor in the way: a new one takes its place.
Result<std::unique_ptr<Store>> open_or_replace(const std::string& path, std::optional<Lease> lease,
                                               JournalOptions options) {
    std::string why;
    try {
        return open_store(path, lease, options);
    } catch (const journal::Damage& damage) {
        why = damage.what;
    }
    if (!journal::was_a_journal(path))
        return refused(
            path, "is not a journal, or damaged beyond recognition (" + why + "); move it aside");
    const auto aside = journal::set_aside(path, now());
    if (!aside) return aside.error();
    const std::string line = "journal " + path + ": is damaged (" + why + "); it is set aside as " +
                             *aside + " and a new one is begun. What was under way is not " +
                             "resumed; messages that were not acknowledged come again";
    spdlog::error("{}", line);
    auto fresh = open_store(path, lease, options);
    if (!fresh) return fresh.error();
    const JournalEvent event{"journal-damaged", line, now()};
    if (const auto noted = (*fresh)->note_event(event); !noted) return noted.error();
    return fresh;
}

/// `file:` URI of a path, for SQLite's options.
std::string uri_of(const std::string& path) {
    std::string uri = "file:";
    for (const char c : path)
        uri += c == '%' ? "%25" : c == '?' ? "%3f" : c == '#' ? "%23" : std::string(1, c);
    return uri;
}

Database open_read_only(const std::string& path) {
    try {
        Database database{path, SQLITE_OPEN_READONLY};
        database.ask("SELECT count(*) FROM sqlite_schema");
        return database;
    } catch (const DatabaseFailure&) {
        // A reader without rights to the directory can't make the shared memory of a write-ahead
        // log. When no log is there, the file alone is everything.
        if (::access((path + "-wal").c_str(), F_OK) == 0) throw;
        Database database{uri_of(path) + "?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI};
        database.ask("SELECT count(*) FROM sqlite_schema");
        return database;
    }
}

}  // namespace

Result<std::unique_ptr<Journal>> open_journal(const std::string& path, JournalOptions options) {
    using Opened = std::unique_ptr<Journal>;
    return guarded<Opened>(path, [&]() -> Result<Opened> {
        const auto journal_on = [](Result<std::unique_ptr<Store>> store) -> Result<Opened> {
            if (!store) return store.error();
            return Opened{std::make_unique<SqliteJournal>(std::move(*store))};
        };
        std::optional<Lease> held;
        if (path == in_memory) return journal_on(open_store(path, held, options));
        // The same file by another name must have the same lock.
        const std::string real = std::filesystem::weakly_canonical(path).string();
        if (const auto good = check_directory(real); !good) return good.error();
        auto lease = Lease::take(real);
        if (!lease) return lease.error();
        held.emplace(std::move(*lease));
        return journal_on(open_or_replace(real, std::move(held), options));
    });
}

Result<std::unique_ptr<Journal>> open_journal_for_reading(const std::string& path) {
    using Opened = std::unique_ptr<Journal>;
    return guarded<Opened>(path, [&]() -> Result<Opened> {
        struct stat status {};
        if (::stat(path.c_str(), &status) != 0) {
            if (errno == ENOENT)
                return Error{Errc::not_found, "journal " + path +
                                                  ": there is none yet; the reaper writes it when "
                                                  "it runs (journal.path in its configuration)"};
            return refused(path, std::string{std::strerror(errno)} + "; run as the reaper's user");
        }
        Database database = open_read_only(path);
        if (const auto good = journal::check_schema(database, path); !good) return good.error();
        auto store =
            std::make_unique<Store>(path, std::move(database), std::nullopt, JournalOptions{});
        return Opened{std::make_unique<SqliteJournal>(std::move(store))};
    });
}

}  // namespace reaper
