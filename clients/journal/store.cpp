#include "clients/journal/store.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "clients/journal/dialect.hpp"
#include "reaper/model/time.hpp"
#include "reaper/report/json.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper::journal {
namespace {

constexpr int messages_between_prunes = 1'000;    // and new requests
constexpr std::int64_t rows_in_a_step = 100;      // measured or deleted for their size
constexpr std::int64_t old_rows_in_a_step = 500;  // of a table; more than a group of calls adds

}  // namespace

Result<std::int64_t> Store::must_find(const RequestId& id) {
    if (const auto row = find(id)) return row->seq;
    return Error{Errc::storage, "journal " + path_ + ": no request " + id.str() + " in it"};
}

void Store::insert(const Request& request, TimePoint now) {
    auto insert =
        database_.statement("INSERT INTO request (id, request, received_at) VALUES (?1, ?2, ?3)");
    insert.bind(1, request.id.str()).bind(2, report::dump(report::to_json(request)));
    insert.bind(3, now);
    insert.run();
    auto search = database_.statement(
        "INSERT INTO request_search (request, project, project_name, flavor) "
        "VALUES (?1, ?2, ?3, ?4)");
    search.bind(1, database_.last_row()).bind(2, request.project.str());
    search.bind(3, request.project_name).bind(4, request.flavor).run();
}

/// A record ends once: the first outcome stays.
void Store::end(const RequestId& id, const Outcome& outcome) {
    auto update = database_.statement(
        "UPDATE request SET outcome = ?2, outcome_reason = ?3, finished_at = ?4, safeguard = ?5 "
        "WHERE id = ?1 AND outcome IS NULL");
    update.bind(1, id.str()).bind(2, to_string(outcome.kind)).bind(3, outcome.reason);
    update.bind(4, outcome.at).bind(5, outcome.safeguard);
    update.run();
}

void Store::prune_for_a_row(TimePoint now) {
    if (++messages_since_prune_ >= messages_between_prunes) pruned_at_.reset();
    prune(now);
}

void Store::end_group() {
    try {
        group_->commit();
    } catch (...) {
        group_.reset();
        prune_after_group_.reset();
        throw;
    }
    group_.reset();
    if (prune_after_group_) prune(*std::exchange(prune_after_group_, std::nullopt));
}

Result<Admission> Store::admit(const Request& request, TimePoint now) {
    prune_for_a_row(now);
    Transaction transaction{database_};
    if (const auto row = find(request.id)) {
        auto known = request_of(*row);
        if (!known) return Admission{false, row->outcome};  // its start or its end reported it
        const std::size_t before = known->requesters.size();
        for (const auto& requester : request.requesters)
            if (std::find(known->requesters.begin(), known->requesters.end(), requester) ==
                known->requesters.end())
                known->requesters.push_back(requester);
        known->requester_names.insert(request.requester_names.begin(),
                                      request.requester_names.end());
        if (known->requesters.size() > before) {
            auto update = database_.statement("UPDATE request SET request = ?2 WHERE seq = ?1");
            update.bind(1, row->seq).bind(2, report::dump(report::to_json(*known)));
            update.run();
            transaction.commit();
        }
        return Admission{false, row->outcome};
    }
    insert(request, now);
    transaction.commit();
    return Admission{true, std::nullopt};
}

Result<void> Store::readmit(const Request& request, TimePoint now) {
    prune_for_a_row(now);
    Transaction transaction{database_};
    auto drop = database_.statement(
        "DELETE FROM request WHERE id = ?1 AND NOT EXISTS "
        "(SELECT 1 FROM plan WHERE plan.request = request.seq)");
    drop.bind(1, request.id.str()).run();
    if (!find(request.id)) {
        insert(request, now);
    } else {
        auto reopen = database_.statement(
            "UPDATE request SET request = ?2, outcome = NULL, outcome_reason = NULL, "
            "finished_at = NULL, safeguard = '' WHERE id = ?1");
        reopen.bind(1, request.id.str()).bind(2, report::dump(report::to_json(request))).run();
    }
    transaction.commit();
    return {};
}

Result<void> Store::admit_ended(const Request& request, const Outcome& outcome, TimePoint now) {
    prune_for_a_row(now);
    Transaction transaction{database_};
    auto drop = database_.statement(
        "DELETE FROM request WHERE id = ?1 AND outcome IS NULL AND NOT EXISTS "
        "(SELECT 1 FROM plan WHERE plan.request = request.seq)");
    drop.bind(1, request.id.str()).run();
    if (!find(request.id)) insert(request, now);
    end(request.id, outcome);
    transaction.commit();
    return {};
}

Result<void> Store::add_plan(const RequestId& id, const PlanEntry& plan) {
    Transaction transaction{database_};
    const auto request = must_find(id);
    if (!request) return request.error();
    auto insert = database_.statement(
        "INSERT INTO plan (request, round, at, decision) VALUES (?1, ?2, ?3, ?4)");
    insert.bind(1, *request).bind(2, std::int64_t{plan.round}).bind(3, plan.at);
    insert.bind(4, report::dump(report::to_json(plan.decision)));
    insert.run();
    if (const auto* const chosen = std::get_if<Plan>(&plan.decision))
        note_chosen(*request, *chosen);
    transaction.commit();
    return {};
}

void Store::note_chosen(std::int64_t request, const Plan& plan) {
    for (const auto& victim : plan.victims()) {
        auto insert = database_.statement(
            "REPLACE INTO chosen (request, server, name, project, host, "
            "project_name) VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
        insert.bind(1, request).bind(2, victim.server.str()).bind(3, victim.name);
        insert.bind(4, victim.project.str()).bind(5, victim.host);
        insert.bind(6, victim.project_name).run();
    }
}

Result<void> Store::within_limit(const StepEntry& step) {
    const int most = options_.limit ? options_.limit->most.load() : 0;
    if (most <= 0) return {};
    const Duration window{options_.limit->window_ms.load()};
    const TimePoint since = step.at - window;
    const auto sent = victims_since(since);
    if (!sent) return sent.error();
    std::set<ServerId> others;
    for (const VictimEntry& victim : *sent)
        if (victim.at > since && victim.server != step.server) others.insert(victim.server);
    if (others.size() < static_cast<std::size_t>(most)) return {};
    return Error{Errc::rejected, "journal " + path_ + ": " + std::to_string(others.size()) +
                                     " servers were deleted in the last " +
                                     format_duration(window) +
                                     ", and limits.victims_per_window is " + std::to_string(most)};
}

Result<void> Store::add_step(const RequestId& id, const StepEntry& step) {
    const bool evicts = sends_eviction(step.step);
    Transaction transaction{database_};
    if (ownership_ && evicts)
        if (const auto may = ownership_->may_delete(); !may) return may.error();
    if (begins_eviction(step.step))
        if (const auto may = within_limit(step); !may) return may.error();
    const auto request = must_find(id);
    if (!request) return request.error();
    auto insert = database_.statement(
        "INSERT INTO step (request, server, step, detail, at) VALUES (?1, ?2, ?3, ?4, ?5)");
    insert.bind(1, *request).bind(2, step.server.str()).bind(3, to_string(step.step));
    insert.bind(4, step.detail).bind(5, step.at);
    insert.run();
    const std::int64_t row = database_.last_row();
    transaction.commit();
    return ownership_ && evicts ? ownership_->read_back(row, step.server) : Result<void>{};
}

Result<void> Store::finish(const RequestId& id, const Outcome& outcome) {
    Transaction transaction{database_};
    const auto request = must_find(id);
    if (!request) return request.error();
    end(id, outcome);
    transaction.commit();
    return {};
}

Result<void> Store::note_freed_room(const RequestId& id, const FreedRoomResult& freed_room) {
    nlohmann::json untaken = nlohmann::json::array();
    for (const auto& host : freed_room.untaken) untaken.push_back(host.str());
    nlohmann::json takers = nlohmann::json::array();
    for (const auto& taker : freed_room.takers)
        takers.push_back({taker.server.str(), taker.at.time_since_epoch().count(),
                          taker.lived ? nlohmann::json(taker.lived->count()) : nullptr});
    Transaction transaction{database_};
    const auto request = must_find(id);
    if (!request) return request.error();
    auto update = database_.statement(
        "UPDATE request SET freed_room = ?2, freed_room_reason = ?3, untaken = ?4, "
        "freed_room_at = ?5, takers = ?6 WHERE seq = ?1 AND (freed_room IS NULL OR "
        "(?2 = 'short-lived' AND freed_room IN ('taken', 'short-lived')))");
    update.bind(1, *request).bind(2, to_string(freed_room.kind)).bind(3, freed_room.reason);
    update.bind(4, report::dump(untaken)).bind(5, freed_room.at).bind(6, report::dump(takers));
    update.run();
    transaction.commit();
    return {};
}

Result<void> Store::note_message(const MessageEntry& message) {
    prune_for_a_row(message.at);
    Transaction transaction{database_};
    auto insert = database_.statement(
        "INSERT INTO message (message_id, event_type, request, verdict, reason, at) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
    insert.bind(1, message.message_id).bind(2, message.event_type).bind(3, message.request.str());
    insert.bind(4, message.verdict).bind(5, message.reason).bind(6, message.at);
    insert.run();
    transaction.commit();
    return {};
}

Result<void> Store::note_event(const JournalEvent& event) {
    prune(event.at);
    Transaction transaction{database_};
    auto insert = database_.statement("INSERT INTO event (kind, reason, at) VALUES (?1, ?2, ?3)");
    insert.bind(1, event.kind).bind(2, event.reason).bind(3, event.at).run();
    transaction.commit();
    return {};
}

void Store::prune(TimePoint now) {
    const bool due = !pruned_at_ || now >= *pruned_at_ + std::chrono::days{1};
    if (!due && !forget_before_ && !measured_) return;
    if (group_) {
        prune_after_group_ = now;  // in transactions of its own
        return;
    }
    // Failing to tidy up is no reason to fail the call that came by: the next day tries again.
    const auto attempt = [this](const auto& tidy) {
        try {
            tidy();
        } catch (const DatabaseFailure& failure) {
            forget_before_.reset();
            measured_.reset();
            spdlog::warn("{}; the rows that are too old or too many stay for now",
                         storage_error(path_, failure).what);
        }
    };
    if (due) {
        pruned_at_ = now;
        messages_since_prune_ = 0;
        if (!measured_) measured_ = Measured{};
        forget_before_ = now - options_.retention;
    }
    if (forget_before_) attempt([&] { forget_old(); });
    if (measured_) attempt([&] { forget_large(); });
}

namespace {

/// Which rows go: ?1 the oldest time that stays, ?2 rows at most, ?3 rows that always stay. `last`:
/// the last one of a step of ?4 rows; `remove`: those up to row ?4, so that MariaDB, which reads
/// the whole table for a DELETE with an IN, reads no others.
struct OldRows {
    const char* last;
    const char* remove;
};
#define OLD_ROWS(TABLE, WHICH)                                         \
    {                                                                  \
        "SELECT max(seq) FROM (SELECT seq FROM " TABLE " WHERE " WHICH \
        " ORDER BY seq LIMIT ?4) AS oldest",                           \
            "DELETE FROM " TABLE " WHERE " WHICH " AND seq <= ?4"      \
    }
constexpr OldRows old_rows[] = {
    OLD_ROWS("request", "finished_at < ?1 AND seq <= (SELECT max(seq) FROM request) - ?3"),
    // A flood of requests without deletions must not fill the disk.
    OLD_ROWS("request",
             "finished_at IS NOT NULL AND seq <= (SELECT max(seq) FROM request) - ?2 "
             "AND NOT EXISTS (SELECT 1 FROM step WHERE step.request = request.seq)"),
    OLD_ROWS("message", "at < ?1"),
    OLD_ROWS("message", "seq <= (SELECT max(seq) FROM message) - ?2"),
    OLD_ROWS("event", "(at < ?1 OR seq <= (SELECT max(seq) FROM event) - ?2)"),
    OLD_ROWS("hold", "ended_at < ?1"),
    OLD_ROWS("reservation_order",
             "state NOT IN ('begun', 'waiting') AND "
             "(changed_at < ?1 OR seq <= (SELECT max(seq) FROM reservation_order) - ?2) "
             "AND seq <= (SELECT max(seq) FROM reservation_order) - ?3")};
/// The same, but ?1 is the oldest row that stays.
constexpr OldRows large_rows =
    OLD_ROWS("request",
             "finished_at IS NOT NULL AND seq < ?1 AND seq <= (SELECT max(seq) FROM request) - ?3 "
             "AND NOT EXISTS (SELECT 1 FROM step WHERE step.request = request.seq)");
#undef OLD_ROWS

/// One step of them; `bind` takes a statement and its ?4. How many went.
template <typename Bind>
std::int64_t remove_rows(Database& database, const OldRows& rows, std::int64_t most,
                         const Bind& bind) {
    auto last = database.statement(rows.last);
    bind(last, most);
    if (!last.step() || last.null(0)) return 0;
    auto remove = database.statement(rows.remove);
    bind(remove, last.number(0));
    remove.run();
    return database.changes();
}

}  // namespace

/// All at once may take longer than a statement may.
void Store::forget_old() {
    const auto bind = [this](Statement& statement, std::int64_t rows) {
        statement.bind(1, *forget_before_).bind(2, options_.max_rows);
        statement.bind(3, options_.newest_kept).bind(4, rows);
    };
    bool all = true;
    Transaction transaction{database_};
    for (const OldRows& rows : old_rows)
        if (remove_rows(database_, rows, old_rows_in_a_step, bind) >= old_rows_in_a_step)
            all = false;
    transaction.commit();
    if (all) forget_before_.reset();
}

/// Texts of all requests may be more than a statement can read in its time.
void Store::forget_large() {
    for (int page = 0; page < 2 && measured_->bytes <= options_.max_bytes; ++page) {
        auto sizes = database_.statement(
            "SELECT count(*), min(seq), sum(size) FROM (SELECT seq, length(request) + "
            "(SELECT coalesce(sum(length(decision)), 0) FROM plan "
            "WHERE plan.request = request.seq) AS size "
            "FROM request WHERE seq < ?1 ORDER BY seq DESC LIMIT ?2) AS newest");
        sizes.bind(1, measured_->from).bind(2, rows_in_a_step).step();
        if (sizes.number(0) == 0) return measured_.reset();
        measured_->bytes += sizes.number(2);
        if (measured_->bytes <= options_.max_bytes) measured_->from = sizes.number(1);
    }
    if (measured_->bytes <= options_.max_bytes) return;
    Transaction transaction{database_};
    const auto bind = [this](Statement& statement, std::int64_t rows) {
        statement.bind(1, measured_->from).bind(3, options_.newest_kept).bind(4, rows);
    };
    const bool all = remove_rows(database_, large_rows, rows_in_a_step, bind) < rows_in_a_step;
    transaction.commit();
    if (all) measured_.reset();
}

// The store's holds: inventories whose `reserved` was raised.

Result<void> Store::add_hold(const InventoryHold& hold) {
    Transaction transaction{database_};
    auto insert = database_.statement(
        "INSERT INTO hold (provider, class, host, host_name, \"before\", raised, request, since) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING");
    insert.bind(1, hold.provider.str()).bind(2, hold.resource_class.str());
    insert.bind(3, hold.host.str()).bind(4, hold.host_name);
    insert.bind(5, hold.before).bind(6, hold.set).bind(7, hold.request.str());
    insert.bind(8, hold.since);
    insert.run();
    transaction.commit();
    return {};
}

Result<void> Store::end_hold(const ProviderId& provider, const ResourceClass& resource_class,
                             const InventoryHoldEnd& end) {
    prune(end.at);
    Transaction transaction{database_};
    auto update = database_.statement(
        "UPDATE hold SET how = ?3, reason = ?4, ended_at = ?5 "
        "WHERE provider = ?1 AND class = ?2 AND ended_at IS NULL");
    update.bind(1, provider.str()).bind(2, resource_class.str());
    update.bind(3, to_string(end.kind)).bind(4, end.reason);
    update.bind(5, end.at);
    update.run();
    transaction.commit();
    return {};
}

Result<std::vector<InventoryHold>> Store::holds() {
    std::vector<InventoryHold> holds;
    auto select = database_.statement(
        "SELECT provider, class, host, host_name, \"before\", raised, request, since FROM hold "
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

// Which projects, hosts and flavors the store knows.

namespace {

constexpr const char* project_by_id_sql =
    "SELECT EXISTS (SELECT 1 FROM chosen WHERE project = ?1) "
    "OR EXISTS (SELECT 1 FROM request_search WHERE project = ?1)";

// Some of them: enough to say that there are several.
constexpr const char* projects_by_name_sql =
    "SELECT project FROM chosen WHERE project_name = ?1 AND project_name <> '' "
    "UNION SELECT project FROM request_search WHERE project_name = ?1 AND project_name <> '' "
    "ORDER BY 1 LIMIT 100";

constexpr const char* host_sql = "SELECT EXISTS (SELECT 1 FROM chosen WHERE host = ?1)";

constexpr const char* flavor_sql =
    "SELECT EXISTS (SELECT 1 FROM request_search WHERE flavor = ?1) "
    "OR EXISTS (SELECT 1 FROM plan, " VICTIMS_OF_PLAN " WHERE " VICTIM_FLAVOR " = ?1)";

bool has_row(Database& database, const char* sql, const std::string& value) {
    auto select = database.statement(sql);
    select.bind(1, value);
    return select.step() && select.number(0) != 0;
}

}  // namespace

Result<KnownValues> Store::known_values(const JournalQuery& query) {
    KnownValues known;
    if (!query.host.empty()) known.host = has_row(database_, host_sql, query.host);
    if (!query.flavor.empty()) known.flavor = has_row(database_, flavor_sql, query.flavor);
    if (query.project.empty()) return known;
    if (has_row(database_, project_by_id_sql, query.project)) {
        known.projects.emplace_back(query.project);
        return known;
    }
    auto select = database_.statement(projects_by_name_sql);
    select.bind(1, query.project);
    while (select.step()) known.projects.emplace_back(select.text(0));
    return known;
}

// The store's orders of reservations, and the reservations that it saw last.

namespace {

#define SELECT_ORDERS                                                                              \
    "SELECT seq, \"key\", principal, content, mark, removes, state, reason, given_at, changed_at " \
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
        Transaction transaction{database_};
        auto update = database_.statement(
            "UPDATE reservation_order SET removes = ?2, state = ?3, reason = ?4, changed_at = ?5 "
            "WHERE seq = ?1");
        update.bind(1, order.number).bind(2, order.removes).bind(3, to_string(order.progress));
        update.bind(4, order.reason).bind(5, order.changed_at).run();
        transaction.commit();
        return order.number;
    }
    prune(order.given_at);
    Transaction transaction{database_};
    auto insert = database_.statement(
        "INSERT INTO reservation_order (\"key\", principal, content, mark, removes, state, reason, "
        "given_at, changed_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");
    insert.bind(1, order.key).bind(2, order.principal).bind(3, order.content);
    insert.bind(4, order.mark).bind(5, order.removes).bind(6, to_string(order.progress));
    insert.bind(7, order.reason).bind(8, order.given_at).bind(9, order.changed_at).run();
    const std::int64_t number = database_.last_row();
    transaction.commit();
    return number;
}

Result<std::optional<OrderRecord>> Store::order(const std::string& principal,
                                                const std::string& key) {
    auto select = database_.statement(SELECT_ORDERS
                                      "WHERE principal = ?1 AND \"key\" = ?2 AND \"key\" <> '' "
                                      "ORDER BY seq DESC LIMIT 1");
    select.bind(1, principal).bind(2, key);
    std::optional<OrderRecord> found;
    if (select.step()) found = order_of(select);
    return found;
}

Result<std::vector<OrderRecord>> Store::orders(int limit) {
    auto select = database_.statement(SELECT_ORDERS
                                      "WHERE state IN ('begun', 'waiting') OR seq IN "
                                      "(SELECT seq FROM (SELECT seq FROM reservation_order ORDER "
                                      "BY seq DESC LIMIT ?1) AS newest) "
                                      "ORDER BY seq DESC");
    select.bind(1, std::int64_t{std::clamp(limit, 0, max_rows_listed)});
    std::vector<OrderRecord> orders;
    while (select.step()) orders.push_back(order_of(select));
    return orders;
}

Result<void> Store::note_reservations(const std::vector<KnownReservation>& there,
                                      const std::vector<ReservationId>& gone) {
    Transaction transaction{database_};
    for (const KnownReservation& each : there) {
        auto insert = database_.statement(
            "REPLACE INTO reservation (id, project, user, at) VALUES (?1, ?2, ?3, ?4)");
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

// The store's protections: servers that an operator protects.

void write_protection(Database& database, const ServerProtection& protection) {
    auto insert = database.statement(
        "REPLACE INTO protection (server, name, since, until, author, reason) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
    insert.bind(1, protection.server.str()).bind(2, protection.name).bind(3, protection.since);
    if (protection.until) insert.bind(4, *protection.until);
    insert.bind(5, protection.by).bind(6, protection.reason);
    insert.run();
}

Result<void> Store::note_protection(const ServerProtection& protection) {
    Transaction transaction{database_};
    write_protection(database_, protection);
    transaction.commit();
    return {};
}

Result<void> Store::end_protection(const ServerId& server, TimePoint since) {
    Transaction transaction{database_};
    auto drop = database_.statement("DELETE FROM protection WHERE server = ?1 AND since = ?2");
    drop.bind(1, server.str()).bind(2, since).run();
    transaction.commit();
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
