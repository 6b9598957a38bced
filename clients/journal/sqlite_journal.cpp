#include "clients/journal/sqlite_journal.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

#include "clients/journal/damage.hpp"
#include "clients/journal/store.hpp"
#include "clients/journal/worker.hpp"
#include "reaper/runtime/log.hpp"

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
        return write(&Store::admit, std::move(request), now);
    }
    ResultTask<void> readmit(Request request, TimePoint now) override {
        return write(&Store::readmit, std::move(request), now);
    }
    ResultTask<void> admit_ended(Request request, Outcome outcome, TimePoint now) override {
        return write(&Store::admit_ended, std::move(request), std::move(outcome), now);
    }
    ResultTask<void> add_plan(RequestId id, PlanEntry plan) override {
        return call(&Store::add_plan, std::move(id), std::move(plan));
    }
    ResultTask<void> add_step(RequestId id, StepEntry step) override {
        return call(&Store::add_step, std::move(id), std::move(step));
    }
    ResultTask<void> finish(RequestId id, Outcome outcome) override {
        return write(&Store::finish, std::move(id), std::move(outcome));
    }
    ResultTask<void> note_message(MessageEntry message) override {
        return write(&Store::note_message, std::move(message));
    }
    ResultTask<std::vector<RequestRecord>> unfinished() override {
        return call(&Store::unfinished);
    }
    ResultTask<std::vector<RequestRecord>> culls_between(TimePoint since,
                                                         TimePoint until) override {
        return call(&Store::culls_between, since, until);
    }
    ResultTask<std::vector<RequestSummary>> list(int limit) override {
        return call(&Store::list, limit);
    }
    ResultTask<std::vector<RequestSummary>> find_requests(JournalQuery query) override {
        return call(&Store::find_requests, std::move(query));
    }
    ResultTask<std::vector<VictimEntry>> find_victims(JournalQuery query) override {
        return call(&Store::find_victims, std::move(query));
    }
    ResultTask<KnownValues> known_values(JournalQuery query) override {
        return call(&Store::known_values, std::move(query));
    }
    ResultTask<std::vector<ChosenServer>> chosen(std::string server, int limit) override {
        return call(&Store::chosen, std::move(server), limit);
    }
    ResultTask<std::optional<RequestRecord>> record(RequestId id) override {
        return call_in(Grouping::reads, &Store::record, std::move(id));
    }
    ResultTask<std::vector<MessageEntry>> find_messages(JournalQuery query) override {
        return call(&Store::find_messages, std::move(query));
    }
    ResultTask<void> note_freed_room(RequestId id, FreedRoomResult freed_room) override {
        return call(&Store::note_freed_room, std::move(id), std::move(freed_room));
    }
    ResultTask<void> note_event(JournalEvent event) override {
        return call(&Store::note_event, std::move(event));
    }
    ResultTask<void> note_protection(ServerProtection protection) override {
        return call(&Store::note_protection, std::move(protection));
    }
    ResultTask<void> end_protection(ServerId server) override {
        return call(&Store::end_protection, std::move(server));
    }
    ResultTask<std::vector<ServerProtection>> protections() override {
        return call(&Store::protections);
    }
    ResultTask<void> add_hold(InventoryHold hold) override {
        return call(&Store::add_hold, std::move(hold));
    }
    ResultTask<void> end_hold(ProviderId provider, ResourceClass resource_class,
                              InventoryHoldEnd end) override {
        return call(&Store::end_hold, std::move(provider), std::move(resource_class),
                    std::move(end));
    }
    ResultTask<std::vector<InventoryHold>> holds() override { return call(&Store::holds); }
    ResultTask<std::int64_t> note_order(OrderRecord order) override {
        return call(&Store::note_order, std::move(order));
    }
    ResultTask<std::optional<OrderRecord>> order(std::string principal, std::string key) override {
        return call(&Store::order, std::move(principal), std::move(key));
    }
    ResultTask<std::vector<OrderRecord>> orders(int limit) override {
        return call(&Store::orders, limit);
    }
    ResultTask<void> note_reservations(std::vector<KnownReservation> there,
                                       std::vector<ReservationId> gone) override {
        return call(&Store::note_reservations, std::move(there), std::move(gone));
    }
    ResultTask<std::vector<KnownReservation>> reservations() override {
        return call(&Store::reservations);
    }
    ResultTask<std::vector<VictimEntry>> victims_since(TimePoint since) override {
        return call(&Store::victims_since, since);
    }
    ResultTask<std::vector<RequestRecord>> freed_rooms_since(TimePoint since) override {
        return call(&Store::freed_rooms_since, since);
    }
    ResultTask<std::vector<JournalEvent>> events(int limit) override {
        return call(&Store::events, limit);
    }
    ResultTask<std::vector<JournalEvent>> find_events(JournalQuery query) override {
        return call(&Store::find_events, std::move(query));
    }
    ResultTask<JournalTotals> totals(TimePoint since) override {
        return call(&Store::totals, since);
    }

private:
    /// Calls the store on its thread; keeps the arguments until then.
    template <class T, class... Params, class... Args>
    ResultTask<T> call_in(Grouping grouping, Result<T> (Store::*method)(Params...), Args... args) {
        std::function<Result<T>()> job = [this, method,
                                          kept = std::tuple<Args...>(std::move(args)...)] {
            return guarded<T>(store_->path(), [&]() -> Result<T> {
                if (const auto there = store_->check_files(); !there) return there.error();
                const auto on_store = [&](const auto&... each) {
                    return (store_.get()->*method)(each...);
                };
                return std::apply(on_store, kept);
            });
        };
        Error overload = refused(store_->path(), "too many calls wait for the disk");
        return worker_.run<T>(std::move(job), std::move(overload), grouping);
    }
    template <class T, class... Params, class... Args>
    ResultTask<T> call(Result<T> (Store::*method)(Params...), Args... args) {
        return call_in(Grouping::alone, method, std::move(args)...);
    }
    /// What comes by the thousand: those that wait for the disk at the same time are synced once.
    template <class T, class... Params, class... Args>
    ResultTask<T> write(Result<T> (Store::*method)(Params...), Args... args) {
        return call_in(Grouping::writes, method, std::move(args)...);
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
        throw journal::Damage{"its tables are not the ones that the reaper made"};
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
        if (!journal::indicates_damage(failure)) throw;
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

Result<std::unique_ptr<JournalReader>> open_journal_for_reading(const std::string& path) {
    using Opened = std::unique_ptr<JournalReader>;
    return guarded<Opened>(path, [&]() -> Result<Opened> {
        struct stat status {};
        if (::stat(path.c_str(), &status) != 0) {
            if (errno == ENOENT)
                return Error{Errc::not_found, "journal " + path +
                                                  ": does not exist yet; the reaper writes it when "
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
