#include "clients/journal/store.hpp"

#include <algorithm>

#include "reaper/report/json.hpp"

namespace reaper::journal {
namespace {

constexpr int messages_between_prunes = 1'000;  // and new requests

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
        throw;
    }
    group_.reset();
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
            "INSERT OR REPLACE INTO chosen (request, server, name, project, host, "
            "project_name) VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
        insert.bind(1, request).bind(2, victim.server.str()).bind(3, victim.name);
        insert.bind(4, victim.project.str()).bind(5, victim.host);
        insert.bind(6, victim.project_name).run();
    }
}

Result<void> Store::add_step(const RequestId& id, const StepEntry& step) {
    Transaction transaction{database_};
    const auto request = must_find(id);
    if (!request) return request.error();
    auto insert = database_.statement(
        "INSERT INTO step (request, server, step, detail, at) VALUES (?1, ?2, ?3, ?4, ?5)");
    insert.bind(1, *request).bind(2, step.server.str()).bind(3, to_string(step.step));
    insert.bind(4, step.detail).bind(5, step.at);
    insert.run();
    const std::int64_t row = database_.last_row();
    transaction.commit();
    const bool deletes = step.step == Step::delete_sent || step.step == Step::force_delete_sent;
    return lease_ && deletes ? read_back(row, step) : Result<void>{};
}

// By a connection of its own: ours would answer from a file that has no name any longer.
Result<void> Store::read_back(std::int64_t step, const StepEntry& written) const {
    Database others{path_, SQLITE_OPEN_READONLY};
    auto look = others.statement("SELECT 1 FROM step WHERE rowid = ?1 AND server = ?2");
    look.bind(1, step).bind(2, written.server.str());
    if (look.step()) return check_files();
    return Error{Errc::storage, "journal " + path_ + ": a deletion was written and is not there; " +
                                    "restart the reaper"};
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
    auto insert = database_.statement(
        "INSERT INTO message (message_id, event_type, request, verdict, reason, at) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
    insert.bind(1, message.message_id).bind(2, message.event_type).bind(3, message.request.str());
    insert.bind(4, message.verdict).bind(5, message.reason).bind(6, message.at);
    insert.run();
    return {};
}

Result<void> Store::note_event(const JournalEvent& event) {
    prune(event.at);
    auto insert = database_.statement("INSERT INTO event (kind, reason, at) VALUES (?1, ?2, ?3)");
    insert.bind(1, event.kind).bind(2, event.reason).bind(3, event.at).run();
    return {};
}

void Store::prune(TimePoint now) {
    if (pruned_at_ && now < *pruned_at_ + std::chrono::days{1}) return;
    pruned_at_ = now;
    messages_since_prune_ = 0;
    const TimePoint oldest = now - options_.retention;
    // Failing to tidy up is no reason to fail the call that came by: the next day tries again.
    try {
        Transaction transaction{database_};
        auto records = database_.statement(
            "DELETE FROM request WHERE finished_at < ?1 "
            "AND seq <= (SELECT max(seq) FROM request) - ?2");
        records.bind(1, oldest).bind(2, options_.newest_kept).run();
        // A flood of requests without deletions must not fill the disk.
        auto idle = database_.statement(
            "DELETE FROM request WHERE finished_at IS NOT NULL "
            "AND seq <= (SELECT max(seq) FROM request) - ?1 AND NOT EXISTS "
            "(SELECT 1 FROM step WHERE step.request = request.seq)");
        idle.bind(1, options_.max_rows).run();
        auto old = database_.statement("DELETE FROM message WHERE at < ?1");
        old.bind(1, oldest).run();
        auto many = database_.statement(
            "DELETE FROM message WHERE seq <= (SELECT max(seq) FROM message) - ?1");
        many.bind(1, options_.max_rows).run();
        auto events = database_.statement(
            "DELETE FROM event WHERE at < ?1 OR seq <= (SELECT max(seq) FROM event) - ?2");
        events.bind(1, oldest).bind(2, options_.max_rows).run();
        auto holds = database_.statement("DELETE FROM hold WHERE ended_at < ?1");
        holds.bind(1, oldest).run();
        auto orders = database_.statement(
            "DELETE FROM reservation_order WHERE state NOT IN ('begun', 'waiting') AND "
            "(changed_at < ?1 OR seq <= (SELECT max(seq) FROM reservation_order) - ?2) "
            "AND seq <= (SELECT max(seq) FROM reservation_order) - ?3");
        orders.bind(1, oldest).bind(2, options_.max_rows).bind(3, options_.newest_kept).run();
        while (bytes_used() > options_.max_bytes && forget_idle() > 0) {
        }
        transaction.commit();
    } catch (const DatabaseFailure&) {
        return;
    }
}

std::int64_t Store::bytes_used() {
    const std::int64_t pages =
        database_.ask_number("PRAGMA page_count") - database_.ask_number("PRAGMA freelist_count");
    return pages * database_.ask_number("PRAGMA page_size");
}

int Store::forget_idle() {
    constexpr std::int64_t at_once = 100;
    auto idle = database_.statement(
        "DELETE FROM request WHERE seq IN (SELECT seq FROM request WHERE finished_at IS NOT NULL "
        "AND seq <= (SELECT max(seq) FROM request) - ?1 AND NOT EXISTS "
        "(SELECT 1 FROM step WHERE step.request = request.seq) ORDER BY seq LIMIT ?2)");
    idle.bind(1, options_.newest_kept).bind(2, at_once).run();
    return database_.changes();
}

}  // namespace reaper::journal
