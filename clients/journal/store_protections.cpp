// The store's protections: servers that an operator protects.
#include "clients/journal/store.hpp"

namespace reaper::journal {

Result<void> Store::note_protection(const ServerProtection& protection) {
    auto insert = database_.statement(
        "INSERT OR REPLACE INTO protection (server, name, since, until, author, reason) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
    insert.bind(1, protection.server.str()).bind(2, protection.name).bind(3, protection.since);
    if (protection.until) insert.bind(4, *protection.until);
    insert.bind(5, protection.by).bind(6, protection.reason);
    insert.run();
    return {};
}

Result<void> Store::end_protection(const ServerId& server) {
    auto remove = database_.statement("DELETE FROM protection WHERE server = ?1");
    remove.bind(1, server.str());
    remove.run();
    return {};
}

Result<std::vector<ServerProtection>> Store::protections() {
    std::vector<ServerProtection> all;
    auto select = database_.statement(
        "SELECT server, name, since, until, author, reason FROM protection ORDER BY server");
    while (select.step()) {
        ServerProtection protection;
        protection.server = ServerId{select.text(0)};
        protection.name = select.text(1);
        protection.since = TimePoint{Duration{select.number(2)}};
        if (!select.null(3)) protection.until = TimePoint{Duration{select.number(3)}};
        protection.by = select.text(4);
        protection.reason = select.text(5);
        all.push_back(std::move(protection));
    }
    return all;
}

}  // namespace reaper::journal
