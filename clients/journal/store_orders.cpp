// The store's orders of reservations, and the reservations that it saw last.
#include "clients/journal/store.hpp"

namespace reaper::journal {
namespace {

#define SELECT_ORDERS                                                                          \
    "SELECT seq, key, principal, content, mark, removes, state, reason, given_at, changed_at " \
    "FROM reservation_order "

OrderRecord order_of(const Statement& row) {
    OrderRecord order;
    order.number = row.number(0);
    order.key = row.text(1);
    order.principal = row.text(2);
    order.content = row.text(3);
    order.mark = row.text(4);
    order.removes = row.text(5);
    order.progress = order_progress_of(row.text(6));
    order.reason = row.text(7);
    order.given_at = row.time(8);
    order.changed_at = row.time(9);
    return order;
}

}  // namespace

Result<std::int64_t> Store::note_order(const OrderRecord& order) {
    if (order.number != 0) {
        auto update = database_.statement(
            "UPDATE reservation_order SET removes = ?2, state = ?3, reason = ?4, changed_at = ?5 "
            "WHERE seq = ?1");
        update.bind(1, order.number).bind(2, order.removes).bind(3, to_string(order.progress));
        update.bind(4, order.reason).bind(5, order.changed_at).run();
        return order.number;
    }
    prune(order.given_at);
    auto insert = database_.statement(
        "INSERT INTO reservation_order (key, principal, content, mark, removes, state, reason, "
        "given_at, changed_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");
    insert.bind(1, order.key).bind(2, order.principal).bind(3, order.content);
    insert.bind(4, order.mark).bind(5, order.removes).bind(6, to_string(order.progress));
    insert.bind(7, order.reason).bind(8, order.given_at).bind(9, order.changed_at).run();
    return database_.last_row();
}

Result<std::optional<OrderRecord>> Store::order(const std::string& principal,
                                                const std::string& key) {
    auto select = database_.statement(SELECT_ORDERS
                                      "WHERE principal = ?1 AND key = ?2 AND key <> '' "
                                      "ORDER BY seq DESC LIMIT 1");
    select.bind(1, principal).bind(2, key);
    std::optional<OrderRecord> found;
    if (select.step()) found = order_of(select);
    return found;
}

Result<std::vector<OrderRecord>> Store::orders(int limit) {
    auto select = database_.statement(
        SELECT_ORDERS
        "WHERE state IN ('begun', 'waiting') OR seq IN "
        "(SELECT seq FROM reservation_order ORDER BY seq DESC LIMIT ?1) ORDER BY seq DESC");
    select.bind(1, std::int64_t{limit});
    std::vector<OrderRecord> orders;
    while (select.step()) orders.push_back(order_of(select));
    return orders;
}

Result<void> Store::note_reservations(const std::vector<KnownReservation>& there,
                                      const std::vector<ReservationId>& gone) {
    Transaction transaction{database_};
    for (const KnownReservation& each : there) {
        auto insert = database_.statement(
            "INSERT OR REPLACE INTO reservation (id, project, user, at) VALUES (?1, ?2, ?3, ?4)");
        insert.bind(1, each.id.str()).bind(2, each.project).bind(3, each.user).bind(4, each.at);
        insert.run();
    }
    for (const ReservationId& id : gone)
        database_.statement("DELETE FROM reservation WHERE id = ?1").bind(1, id.str()).run();
    transaction.commit();
    return {};
}

Result<std::vector<KnownReservation>> Store::reservations() {
    std::vector<KnownReservation> known;
    auto select = database_.statement("SELECT id, project, user, at FROM reservation ORDER BY id");
    while (select.step()) {
        KnownReservation each;
        each.id = ReservationId{select.text(0)};
        each.project = select.text(1);
        each.user = select.text(2);
        each.at = select.time(3);
        known.push_back(std::move(each));
    }
    return known;
}

}  // namespace reaper::journal
