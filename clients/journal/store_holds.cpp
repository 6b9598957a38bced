// The store's holds: inventories whose `reserved` was raised.
#include "clients/journal/store.hpp"

namespace reaper::journal {

Result<void> Store::add_hold(const InventoryHold& hold) {
    auto insert = database_.statement(
        "INSERT INTO hold (provider, class, host, host_name, before, raised, request, since) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING");
    insert.bind(1, hold.provider.str()).bind(2, hold.resource_class.str());
    insert.bind(3, hold.host.str()).bind(4, hold.host_name);
    insert.bind(5, hold.before).bind(6, hold.set).bind(7, hold.request.str());
    insert.bind(8, hold.since);
    insert.run();
    return {};
}

Result<void> Store::end_hold(const ProviderId& provider, const ResourceClass& resource_class,
                             const InventoryHoldEnd& end) {
    prune(end.at);
    auto update = database_.statement(
        "UPDATE hold SET how = ?3, reason = ?4, ended_at = ?5 "
        "WHERE provider = ?1 AND class = ?2 AND ended_at IS NULL");
    update.bind(1, provider.str()).bind(2, resource_class.str());
    update.bind(3, to_string(end.kind)).bind(4, end.reason);
    update.bind(5, end.at);
    update.run();
    return {};
}

Result<std::vector<InventoryHold>> Store::holds() {
    std::vector<InventoryHold> holds;
    auto select = database_.statement(
        "SELECT provider, class, host, host_name, before, raised, request, since FROM hold "
        "WHERE ended_at IS NULL ORDER BY seq");
    while (select.step()) {
        InventoryHold hold;
        hold.provider = ProviderId{select.text(0)};
        hold.resource_class = ResourceClass{select.text(1)};
        hold.host = HostId{select.text(2)};
        hold.host_name = select.text(3);
        hold.before = select.number(4);
        hold.set = select.number(5);
        hold.request = RequestId{select.text(6)};
        hold.since = TimePoint{Duration{select.number(7)}};
        holds.push_back(std::move(hold));
    }
    return holds;
}

}  // namespace reaper::journal
