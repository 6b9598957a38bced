#include "clients/journal/mariadb_journal.hpp"

#include <utility>

#include "clients/journal/copy.hpp"
#include "clients/journal/mariadb_lease.hpp"
#include "clients/journal/mariadb_schema.hpp"
#include "clients/journal/stored_journal.hpp"

namespace reaper {

using journal::guarded;
using journal::MariadbDatabase;
using journal::MariadbLease;
using journal::Store;
using journal::StoredJournal;

namespace journal {

Result<OwnedDatabase> own_database(const MariadbAddress& address, const std::string& holder) {
    const std::string url = address.url();
    return guarded<OwnedDatabase>(url, [&]() -> Result<OwnedDatabase> {
        auto database = std::make_unique<MariadbDatabase>(address, MariadbDatabase::Use::writing);
        if (const auto good = check_tables(*database, url); !good) return good.error();
        auto lease = MariadbLease::take(*database, url, holder);
        if (!lease) return lease.error();
        return OwnedDatabase{url, std::move(*lease), std::move(database)};
    });
}

}  // namespace journal

namespace {

Result<std::unique_ptr<Store>> store_to_write(const MariadbAddress& address,
                                              const std::string& holder, JournalOptions options) {
    auto owned = journal::own_database(address, holder);
    if (!owned) return owned.error();
    return std::make_unique<Store>(owned->name, std::move(owned->database),
                                   std::move(owned->ownership), options);
}

Result<std::unique_ptr<Store>> store_to_read(const MariadbAddress& address) {
    const std::string url = address.url();
    return guarded<std::unique_ptr<Store>>(url, [&]() -> Result<std::unique_ptr<Store>> {
        auto database = std::make_unique<MariadbDatabase>(address, MariadbDatabase::Use::reading);
        if (const auto good = journal::check_tables(*database, url); !good) return good.error();
        database->fence([] {
            throw journal::DatabaseFailure{0, "it is only read here", "another reaper writes it"};
        });
        return std::make_unique<Store>(url, std::move(database), nullptr, JournalOptions{});
    });
}

}  // namespace

Result<std::unique_ptr<Journal>> open_mariadb_journal(const MariadbAddress& address,
                                                      const std::string& holder,
                                                      JournalOptions options) {
    auto store = store_to_write(address, holder, options);
    if (!store) return store.error();
    return std::unique_ptr<Journal>{std::make_unique<StoredJournal>(std::move(*store))};
}

Result<SharedJournal> open_or_follow_mariadb_journal(const MariadbAddress& address,
                                                     const std::string& holder,
                                                     JournalOptions options) {
    auto ours = open_mariadb_journal(address, holder, options);
    if (ours) return SharedJournal{std::move(*ours)};
    if (ours.error().code != Errc::conflict) return ours.error();
    auto store = store_to_read(address);
    if (!store) return store.error();
    auto journal = std::make_unique<StoredJournal>(std::move(*store));
    auto take_over = [raw = journal.get(), address, holder, options] {
        return raw->replace([=] { return store_to_write(address, holder, options); });
    };
    return SharedJournal{std::move(journal), std::move(take_over)};
}

Result<std::unique_ptr<JournalReader>> open_mariadb_journal_for_reading(
    const MariadbAddress& address) {
    auto store = store_to_read(address);
    if (!store) return store.error();
    return std::unique_ptr<JournalReader>{std::make_unique<StoredJournal>(std::move(*store))};
}

Result<std::vector<std::string>> migrate_mariadb_journal(const MariadbAddress& address,
                                                         bool dry_run) {
    using Done = std::vector<std::string>;
    const std::string url = address.url();
    return guarded<Done>(url, [&]() -> Result<Done> {
        MariadbDatabase database{
            address, dry_run ? MariadbDatabase::Use::reading : MariadbDatabase::Use::writing};
        auto missing = journal::missing_tables(database, url);
        if (!missing || dry_run) return missing;
        for (const std::string& statement : *missing) database.execute(statement);
        return missing;
    });
}

}  // namespace reaper
