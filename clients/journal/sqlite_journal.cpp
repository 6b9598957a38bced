#include "clients/journal/sqlite_journal.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "clients/journal/copy.hpp"
#include "clients/journal/damage.hpp"
#include "clients/journal/file_lease.hpp"
#include "clients/journal/sqlite_database.hpp"
#include "clients/journal/store.hpp"
#include "clients/journal/stored_journal.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {
namespace {

using journal::Database;
using journal::DatabaseFailure;
using journal::FileLease;
using journal::FirstRows;
using journal::guarded;
using journal::SqliteDatabase;
using journal::Store;
using journal::StoredJournal;

constexpr const char* in_memory = ":memory:";

Error refused(const std::string& path, const std::string& why) {
    return Error{Errc::storage, "journal " + path + ": " + why};
}

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

Result<void> prepare_for_writing(SqliteDatabase& database, const std::string& path,
                                 const FirstRows& first) {
    if (const auto ours = journal::check_origin(database, path); !ours) return ours.error();
    const std::string mode = database.ask("PRAGMA journal_mode = WAL");
    if (mode != "wal" && path != in_memory)
        return refused(path, "its file system can't hold a write-ahead log; use a local disk");
    database.execute(
        "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
        "PRAGMA trusted_schema = OFF; PRAGMA journal_size_limit = 67108864");
    journal::check_whole(database);
    if (const auto made = journal::make_tables(database, path, first); !made) return made.error();
    if (!journal::has_our_tables(database))
        throw journal::Damage{"its tables are not the ones that the reaper made"};
    return {};
}

/// Throws Damage if the file is not what was written.
Result<std::unique_ptr<SqliteDatabase>> open_to_write(const std::string& path, FileLease* lease,
                                                      const FirstRows& first = {}) {
    if (path != in_memory) journal::check_log(path);
    if (lease != nullptr)
        if (const auto locked = lease->lock_file(); !locked) return locked.error();
    try {
        auto database =
            std::make_unique<SqliteDatabase>(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
        if (lease != nullptr && journal::is_journal(*database)) lease->remember_journal();
        if (const auto prepared = prepare_for_writing(*database, path, first); !prepared)
            return prepared.error();
        if (lease != nullptr) lease->remember_files();
        return database;
    } catch (const DatabaseFailure& failure) {
        if (!journal::indicates_damage(failure)) throw;
        throw journal::Damage{failure.message};
    }
}

/// Throws Damage too.
Result<std::unique_ptr<Store>> open_store(const std::string& path,
                                          std::unique_ptr<FileLease>& lease, JournalOptions options,
                                          const FirstRows& first = {}) {
    auto database = open_to_write(path, lease.get(), first);
    if (!database) return database.error();
    return std::make_unique<Store>(path, std::move(*database), std::move(lease), options);
}

/// The lock of the file that `path` names, with its path as it is known to all.
Result<std::pair<std::string, std::unique_ptr<FileLease>>> lock_path(const std::string& path) {
    // The same file by another name must have the same lock.
    const std::string real = std::filesystem::weakly_canonical(path).string();
    if (const auto good = check_directory(real); !good) return good.error();
    auto lease = FileLease::take(real);
    if (!lease) return lease.error();
    return std::pair{real, std::make_unique<FileLease>(std::move(*lease))};
}

TimePoint now() {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

/// `file:` URI of a path, for SQLite's options.
std::string uri_of(const std::string& path) {
    std::string uri = "file:";
    for (const char c : path)
        uri += c == '%' ? "%25" : c == '?' ? "%3f" : c == '#' ? "%23" : std::string(1, c);
    return uri;
}

/// The file alone, without its log: no other may write it.
std::unique_ptr<SqliteDatabase> open_immutable(const std::string& path) {
    return std::make_unique<SqliteDatabase>(uri_of(path) + "?immutable=1",
                                            SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
}

/// All that a damaged journal has; none: some may be missing.
std::optional<std::vector<ServerProtection>> protections_in(const std::string& aside) {
    std::error_code no_log;
    if (std::filesystem::file_size(aside + "-wal", no_log) > 0 && !no_log) return std::nullopt;
    try {
        auto database = open_immutable(aside);
        if (database->ask("PRAGMA integrity_check(protection)") != "ok") return std::nullopt;
        return Store{aside, std::move(database), nullptr, {}}.protections().value();
    } catch (const DatabaseFailure&) {
        return std::nullopt;
    }
}

Result<void> lose_protections(const JournalOptions& options, const std::string& how) {
    const std::string why = "its journal was " + how +
                            ": servers that operators protected are no longer known; protect "
                            "them again, then: reaper resume";
    spdlog::error("{}", why);
    return options.on_protections_lost ? options.on_protections_lost(why) : Result<void>{};
}

/// A damaged journal is neither trusted nor in the way: a new one takes its place.
Result<std::unique_ptr<Store>> open_or_replace(const std::string& path,
                                               std::unique_ptr<FileLease> lease,
                                               JournalOptions options) {
    std::string why;
    try {
        const FirstRows none = [&, removed = lease->had_journal()](Database&) {
            return removed ? lose_protections(options, "removed") : Result<void>{};
        };
        return open_store(path, lease, options, none);
    } catch (const journal::Damage& damage) {
        why = damage.what;
    }
    lease->remember_journal();
    if (!journal::was_a_journal(path))
        return refused(
            path, "is not a journal, or damaged beyond recognition (" + why + "); move it aside");
    const auto aside = journal::set_aside(path, now());
    if (!aside) return aside.error();
    const auto protections = protections_in(*aside);
    const std::string line = "journal " + path + ": is damaged (" + why + "); it is set aside as " +
                             *aside + " and a new one is begun. What was under way is not " +
                             "resumed; messages that were not acknowledged come again. Servers " +
                             "that operators protected " +
                             (protections ? "stay protected" : "are no longer known");
    spdlog::error("{}", line);
    const FirstRows kept = [&](Database& database) -> Result<void> {
        if (!protections) return lose_protections(options, "damaged");
        for (const auto& each : *protections) journal::write_protection(database, each);
        return {};
    };
    auto fresh = open_store(path, lease, options, kept);
    if (!fresh) return fresh.error();
    const JournalEvent event{"journal-damaged", line, now()};
    if (const auto noted = (*fresh)->note_event(event); !noted) return noted.error();
    return fresh;
}

std::unique_ptr<SqliteDatabase> open_read_only(const std::string& path) {
    try {
        auto database = std::make_unique<SqliteDatabase>(path, SQLITE_OPEN_READONLY);
        database->ask("SELECT count(*) FROM sqlite_schema");
        return database;
    } catch (const DatabaseFailure&) {
        // A reader without rights to the directory can't make the shared memory of a write-ahead
        // log. When no log is there, the file alone is everything.
        if (::access((path + "-wal").c_str(), F_OK) == 0) throw;
        auto database = open_immutable(path);
        database->ask("SELECT count(*) FROM sqlite_schema");
        return database;
    }
}

}  // namespace

namespace journal {

Result<OwnedDatabase> own_file(const std::string& path) {
    return guarded<OwnedDatabase>(path, [&]() -> Result<OwnedDatabase> {
        auto locked = lock_path(path);
        if (!locked) return locked.error();
        try {
            auto database = open_to_write(locked->first, locked->second.get());
            if (!database) return database.error();
            return OwnedDatabase{path, std::move(locked->second), std::move(*database)};
        } catch (const Damage& damage) {
            return refused(path, "is damaged (" + damage.what + ")");
        }
    });
}

}  // namespace journal

Result<std::unique_ptr<Journal>> open_journal(const std::string& path, JournalOptions options) {
    using Opened = std::unique_ptr<Journal>;
    return guarded<Opened>(path, [&]() -> Result<Opened> {
        const auto journal_on = [](Result<std::unique_ptr<Store>> store) -> Result<Opened> {
            if (!store) return store.error();
            return Opened{std::make_unique<StoredJournal>(std::move(*store))};
        };
        std::unique_ptr<FileLease> held;
        if (path == in_memory) return journal_on(open_store(path, held, options));
        auto locked = lock_path(path);
        if (!locked) return locked.error();
        return journal_on(open_or_replace(locked->first, std::move(locked->second), options));
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
        auto database = open_read_only(path);
        if (const auto good = journal::check_schema(*database, path); !good) return good.error();
        auto store = std::make_unique<Store>(path, std::move(database), nullptr, JournalOptions{});
        return Opened{std::make_unique<StoredJournal>(std::move(store))};
    });
}

}  // namespace reaper
