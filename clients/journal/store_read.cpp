// The store's reading side: rows back to records.
#include <algorithm>
#include <limits>

#include "clients/journal/dialect.hpp"
#include "clients/journal/schema.hpp"
#include "clients/journal/store.hpp"
#include "reaper/json/json_text.hpp"
#include "reaper/model/text.hpp"
#include "reaper/report/json.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper::journal {
namespace {

nlohmann::json parsed(const std::string& text) {
    return parse_bounded(text);
}

std::string counted(std::int64_t deletions) {
    return deletions == 1 ? "1 deletion was sent"
                          : std::to_string(deletions) + " deletions were sent";
}

std::vector<HostId> hosts_of(const std::string& text) {
    std::vector<HostId> hosts;
    const nlohmann::json list = parsed(text);
    if (!list.is_array()) return hosts;
    for (const auto& id : list)
        if (id.is_string()) hosts.emplace_back(id.get<std::string>());
    return hosts;
}

/// None where no server took the room yet.
std::vector<RoomTaker> takers_of(const std::string& text) {
    std::vector<RoomTaker> takers;
    const nlohmann::json list = parsed(text);
    if (!list.is_array()) return takers;
    for (const auto& each : list) {
        if (!each.is_array() || each.size() != 3 || !each[0].is_string() || !each[1].is_number())
            continue;
        RoomTaker taker{ServerId{each[0].get<std::string>()},
                        TimePoint{TimePoint::duration{each[1].get<std::int64_t>()}}, std::nullopt};
        if (each[2].is_number()) taker.lived = Duration{each[2].get<std::int64_t>()};
        takers.push_back(std::move(taker));
    }
    return takers;
}

}  // namespace

Store::Row Store::row_of(const Statement& statement) {
    Row row;
    row.seq = statement.number(0);
    row.id = statement.text(1);
    row.json = statement.text(2);
    row.received_at = statement.time(3);
    if (!statement.null(4)) {
        const auto kind = outcome_kind_from(statement.text(4));
        row.outcome = Outcome{kind.value_or(OutcomeKind::failed), statement.text(5),
                              statement.time(6), statement.text(7)};
    }
    if (!statement.null(8)) {
        const auto kind = freed_room_result_kind_from(statement.text(8));
        row.freed_room = FreedRoomResult{kind.value_or(FreedRoomResultKind::wasted),
                                         statement.text(9), hosts_of(statement.text(10)),
                                         statement.time(11), takers_of(statement.text(12))};
    }
    return row;
}

std::optional<Store::Row> Store::find(const RequestId& id) {
    auto select = database_.statement(REQUEST_ROW " FROM request WHERE id = ?1");
    select.bind(1, id.str());
    if (!select.step()) return std::nullopt;
    return row_of(select);
}

Error Store::unreadable(const std::string& id, const std::string& why) const {
    return Error{Errc::storage, "journal " + path_ + ": the record of " + printable(id) +
                                    " can't be read: " + why};
}

Result<Request> Store::request_of(const Row& row) const {
    auto request = report::request_from_json(parsed(row.json));
    if (!request) return unreadable(row.id, request.error().what);
    request->id = RequestId{row.id};  // byte for byte, which JSON can't promise
    return request;
}

Result<std::vector<PlanEntry>> Store::plans_of(const Row& row) {
    std::vector<PlanEntry> plans;
    auto select =
        database_.statement("SELECT round, at, decision FROM plan WHERE request = ?1 ORDER BY seq");
    select.bind(1, row.seq);
    while (select.step()) {
        auto decision = report::decision_from_json(parsed(select.text(2)));
        if (!decision) return unreadable(row.id, decision.error().what);
        if (auto* const plan = std::get_if<Plan>(&*decision)) plan->request = RequestId{row.id};
        plans.push_back({static_cast<int>(select.number(0)), select.time(1), std::move(*decision)});
    }
    return plans;
}

Result<std::vector<StepEntry>> Store::steps_of(const Row& row) {
    std::vector<StepEntry> steps;
    auto select = database_.statement(
        "SELECT server, step, detail, at FROM step WHERE request = ?1 ORDER BY seq");
    select.bind(1, row.seq);
    while (select.step()) {
        const auto step = step_from(select.text(1));
        if (!step) return unreadable(row.id, "unknown step " + select.text(1));
        steps.push_back({ServerId{select.text(0)}, *step, select.text(2), select.time(3)});
    }
    return steps;
}

Result<RequestRecord> Store::record_of(const Row& row) {
    auto request = request_of(row);
    if (!request) return request.error();
    auto plans = plans_of(row);
    if (!plans) return plans.error();
    auto steps = steps_of(row);
    if (!steps) return steps.error();
    return RequestRecord{std::move(*request), row.received_at, std::move(*plans),
                         std::move(*steps),   row.outcome,     row.freed_room};
}

// If nothing was sent, its message was not acknowledged and comes again, as that of a new request.
// If something was, a second cull could take more than was needed: it ends here.
void Store::settle_unreadable(const Row& row, const Error& error) {
    auto select = database_.statement(
        "SELECT count(DISTINCT server), max(at) FROM step "
        "WHERE request = ?1 AND step IN " EVICTION_STEPS);
    select.bind(1, row.seq);
    const std::int64_t sent = select.step() ? select.number(0) : 0;
    const TimePoint last = sent > 0 ? select.time(1) : row.received_at;
    if (sent == 0) {
        Transaction transaction{database_};
        database_.statement("DELETE FROM request WHERE seq = ?1").bind(1, row.seq).run();
        transaction.commit();
        spdlog::error("{}; nothing was deleted for it, and it is dropped: its message comes again",
                      error.what);
        return;
    }
    const std::string reason = counted(sent) + ", then: " + error.what;
    const auto ended = finish(RequestId{row.id}, {OutcomeKind::incomplete, reason, last});
    spdlog::error("{}; {}, and it is not resumed{}", error.what, counted(sent),
                  ended ? "" : " (" + ended.error().what + ")");
}

Result<std::vector<RequestRecord>> Store::records_of(const std::vector<Row>& rows) {
    std::vector<RequestRecord> records;
    for (const auto& row : rows) {
        // All of them may take longer than the lease lasts.
        if (const auto ours = check_ownership(); !ours) return ours.error();
        auto record = record_of(row);
        if (record)
            records.push_back(std::move(*record));
        else if (!row.outcome && ownership_)
            settle_unreadable(row, record.error());
        else
            spdlog::error("{}; it is left out", record.error().what);
    }
    return records;
}

Result<std::vector<RequestRecord>> Store::unfinished() {
    std::vector<Row> rows;
    auto select =
        database_.statement(REQUEST_ROW " FROM request WHERE finished_at IS NULL ORDER BY seq");
    while (select.step()) rows.push_back(row_of(select));
    return records_of(rows);
}

Result<std::vector<RequestRecord>> Store::culls_between(TimePoint since, TimePoint until) {
    std::vector<Row> rows;
    auto select = database_.statement(
        REQUEST_ROW
        " FROM request WHERE finished_at >= ?1 AND finished_at < ?2 AND (outcome = 'freed' OR "
        "EXISTS "
        "(SELECT 1 FROM step WHERE step.request = request.seq "
        " AND step.step IN " EVICTION_STEPS ")) ORDER BY finished_at, seq");
    select.bind(1, since).bind(2, until);
    while (select.step()) rows.push_back(row_of(select));
    return records_of(rows);
}

Result<std::vector<RequestRecord>> Store::freed_rooms_since(TimePoint since) {
    std::vector<Row> rows;
    auto select = database_.statement(
        REQUEST_ROW " FROM request WHERE freed_room_at >= ?1 ORDER BY freed_room_at, seq");
    select.bind(1, since);
    while (select.step()) rows.push_back(row_of(select));
    return records_of(rows);
}

std::optional<RequestSummary> Store::summary_of(const Statement& statement) {
    const Row row = row_of(statement);
    auto request = request_of(row);
    if (request)
        return RequestSummary{
            std::move(*request), row.received_at, static_cast<int>(statement.number(13)),
            row.outcome,         row.freed_room,  static_cast<int>(statement.number(14))};
    spdlog::error("{}; it is left out", request.error().what);
    return std::nullopt;
}

Result<std::vector<RequestSummary>> Store::list(int limit) {
    std::vector<RequestSummary> lines;
    auto select = database_.statement(REQUEST_ROW REQUEST_DELETIONS
                                      " FROM request ORDER BY seq DESC LIMIT ?1");
    select.bind(1, std::int64_t{std::clamp(limit, 0, max_rows_listed)});
    while (select.step())
        if (auto line = summary_of(select)) lines.push_back(std::move(*line));
    return lines;
}

Result<std::optional<RequestRecord>> Store::record(const RequestId& id) {
    const auto row = find(id);
    if (!row) return std::optional<RequestRecord>{};
    auto record = record_of(*row);
    if (!record) return record.error();
    return std::optional<RequestRecord>{std::move(*record)};
}

// The store's reading side: requests, victims and chosen servers that are looked for.

namespace {

// In each statement: ?1 since, ?2 until, ?3 project, ?4 host, ?5 flavor, ?6 server, ?7 outcome (or
// `none`: it has none yet), ?8 limit, ?9 skip, ?10 the row before which requests are, ?11 and ?12
// the first and last id of requests, ?13 the server's name (NULL: ?6 is a UUID, no name). An empty
// text leaves nothing out. What is not JSON is left out
// by the conditions that read JSON, and breaks nothing.
#define OUTCOME_FITS \
    "(?7 = '' OR (?7 = 'none' AND request.outcome IS NULL) OR request.outcome = ?7)"

/// The deletion that stands: no skipping took it back.
#define NOT_TAKEN_BACK                                                            \
    "NOT EXISTS (SELECT 1 FROM step AS later WHERE later.request = sent.request " \
    "AND later.server = sent.server AND later.step = 'skipped' AND later.seq > sent.seq)"

// `FIRST` names the rows that are looked at, by an index; all else is a condition on each of them.
#define REQUESTS(FIRST)                                                                            \
    REQUEST_ROW REQUEST_DELETIONS                                                                  \
        " FROM request WHERE " FIRST                                                               \
        "received_at >= ?1 AND received_at < ?2 AND seq < ?10 AND " OUTCOME_FITS                   \
        " AND (?3 = '' OR EXISTS (SELECT 1 FROM request_search AS known "                          \
        "WHERE known.request = request.seq AND known.project = ?3))"                               \
        " AND (?5 = '' OR EXISTS (SELECT 1 FROM request_search AS known "                          \
        "WHERE known.request = request.seq AND known.flavor = ?5))"                                \
        " AND (?4 = '' OR EXISTS (SELECT 1 FROM chosen JOIN step AS sent "                         \
        "ON sent.request = chosen.request AND sent.server = chosen.server "                        \
        "WHERE chosen.request = request.seq AND chosen.host = ?4 AND sent.step IN " EVICTION_STEPS \
        " AND " NOT_TAKEN_BACK                                                                     \
        "))"                                                                                       \
        " AND (?6 = '' OR EXISTS (SELECT 1 FROM chosen WHERE chosen.request = request.seq "        \
        "AND (chosen.server = ?6 OR chosen.name = ?13)) "                                          \
        "OR EXISTS (SELECT 1 FROM " REQUESTERS                                                     \
        " AS waiting WHERE waiting.value = ?6) "                                                   \
        "OR EXISTS (SELECT 1 FROM " REQUESTER_NAMES                                                \
        " AS named WHERE named.value = ?13) "                                                      \
        "OR (?6 LIKE 'req-________%' AND substr(id, 1, length(?6)) = ?6))"                         \
        " ORDER BY seq DESC LIMIT ?8 OFFSET ?9"

constexpr const char* requests_sql = REQUESTS("");
constexpr const char* requests_by_id_sql = REQUESTS(
    "seq IN (SELECT named.seq FROM request AS named WHERE named.id BETWEEN ?11 AND ?12) AND ");
constexpr const char* requests_under_way_sql = REQUESTS("finished_at IS NULL AND ");
constexpr const char* requests_of_host_sql =
    REQUESTS("seq IN (SELECT chosen.request FROM chosen WHERE chosen.host = ?4) AND ");
constexpr const char* requests_of_project_sql = REQUESTS(
    "seq IN (SELECT known.request FROM request_search AS known WHERE known.project = ?3) AND ");
constexpr const char* requests_of_flavor_sql = REQUESTS(
    "seq IN (SELECT known.request FROM request_search AS known WHERE known.flavor = ?5) AND ");

// A deletion counts from its first sending that no skipping took back, as in victims_since.
#define VICTIMS(FROM, FIRST)                                                               \
    "SELECT sent.at, request.id, sent.server, chosen.name, chosen.project, chosen.host, "  \
    "chosen.project_name FROM " FROM " WHERE " FIRST "sent.step IN " EVICTION_STEPS        \
    " AND sent.at >= ?1 AND sent.at < ?2 "                                                 \
    "AND " NOT_TAKEN_BACK                                                                  \
    " AND NOT EXISTS (SELECT 1 FROM step AS earlier WHERE earlier.request = sent.request " \
    "AND earlier.server = sent.server AND earlier.step IN " EVICTION_STEPS                 \
    " AND earlier.seq < sent.seq AND NOT EXISTS (SELECT 1 FROM step AS taken_back "        \
    "WHERE taken_back.request = sent.request AND taken_back.server = sent.server "         \
    "AND taken_back.step = 'skipped' AND taken_back.seq > earlier.seq)) AND " OUTCOME_FITS \
    " AND (?3 = '' OR chosen.project = ?3) AND (?4 = '' OR chosen.host = ?4)"              \
    " AND (?6 = '' OR sent.server = ?6 OR chosen.name = ?13)"                              \
    " AND (?5 = '' OR EXISTS (SELECT 1 FROM plan, " VICTIMS_OF_PLAN                        \
    " WHERE plan.request = sent.request "                                                  \
    "AND " VICTIM_SERVER " = sent.server AND " VICTIM_FLAVOR                               \
    " = ?5))"                                                                              \
    " ORDER BY sent.at DESC, sent.seq DESC LIMIT ?8 OFFSET ?9"

// The newest deletions first, until enough fit.
constexpr const char* newest_victims_sql = VICTIMS(
    "step AS sent JOIN request ON request.seq = sent.request "
    "LEFT JOIN chosen ON chosen.request = sent.request AND chosen.server = sent.server",
    "");
// CROSS: in this order.
#define CHOSEN_FIRST                                                   \
    "chosen CROSS JOIN step AS sent ON sent.request = chosen.request " \
    "AND sent.server = chosen.server CROSS JOIN request ON request.seq = sent.request"
constexpr const char* victims_of_host_sql = VICTIMS(CHOSEN_FIRST, "chosen.host = ?4 AND ");
constexpr const char* victims_of_project_sql = VICTIMS(CHOSEN_FIRST, "chosen.project = ?3 AND ");
constexpr const char* victims_of_server_sql =
    VICTIMS(CHOSEN_FIRST, "(chosen.server = ?6 OR chosen.name = ?13) AND ");

// What dry runs planned, by when they ended.
#define PLANNED(FROM, FIRST)                                                                  \
    "SELECT request.finished_at, request.id, "                                                \
    "chosen.server, chosen.name, chosen.project, chosen.host, chosen.project_name FROM " FROM \
    " WHERE " FIRST                                                                           \
    "request.outcome = 'dry-run' AND request.finished_at >= ?1 "                              \
    "AND request.finished_at < ?2 AND " OUTCOME_FITS                                          \
    " AND (?3 = '' OR chosen.project = ?3) AND (?4 = '' OR chosen.host = ?4)"                 \
    " AND (?6 = '' OR chosen.server = ?6 OR chosen.name = ?13)"                               \
    " AND (?5 = '' OR EXISTS (SELECT 1 FROM plan, " VICTIMS_OF_PLAN                           \
    " WHERE plan.request = chosen.request "                                                   \
    "AND " VICTIM_SERVER " = chosen.server AND " VICTIM_FLAVOR                                \
    " = ?5))"                                                                                 \
    " ORDER BY request.finished_at DESC, request.seq DESC, chosen.server LIMIT ?8 OFFSET ?9"

// CROSS: in this order.
constexpr const char* planned_victims_sql =
    PLANNED("request CROSS JOIN chosen ON chosen.request = request.seq", "");
#define CHOSEN_BY "chosen CROSS JOIN request ON request.seq = chosen.request"
constexpr const char* planned_on_host_sql = PLANNED(CHOSEN_BY, "chosen.host = ?4 AND ");
constexpr const char* planned_of_project_sql = PLANNED(CHOSEN_BY, "chosen.project = ?3 AND ");
constexpr const char* planned_of_server_sql =
    PLANNED(CHOSEN_BY, "(chosen.server = ?6 OR chosen.name = ?13) AND ");

/// So many chosen servers are looked at one by one. Where there are more of a host, a project or a
/// name, some of the newest deletions are theirs.
constexpr std::int64_t few = 2000;
constexpr const char* chosen_of_host_sql =
    "SELECT count(*) FROM (SELECT 1 FROM chosen WHERE host = ?1 LIMIT ?2) AS some";
constexpr const char* chosen_of_project_sql =
    "SELECT count(*) FROM (SELECT 1 FROM chosen WHERE project = ?1 LIMIT ?2) AS some";
constexpr const char* chosen_of_server_sql =
    "SELECT count(*) FROM (SELECT 1 FROM chosen WHERE server = ?1 OR name = ?1 LIMIT ?2) AS some";

bool are_few(Database& database, const char* sql, const std::string& value) {
    if (value.empty()) return false;
    auto select = database.statement(sql);
    select.bind(1, value).bind(2, few + 1);
    return select.step() && select.number(0) <= few;
}

const char* sql_of_requests(const JournalQuery& query) {
    if (!query.id_begins.empty()) return requests_by_id_sql;
    if (query.under_way) return requests_under_way_sql;
    if (!query.host.empty()) return requests_of_host_sql;
    if (!query.project.empty()) return requests_of_project_sql;
    return query.flavor.empty() ? requests_sql : requests_of_flavor_sql;
}

// Of these two: ?1 since, ?2 until, ?3 limit, ?4 skip; of events ?5 kind, empty: of any.
constexpr const char* found_messages_sql =
    "SELECT message_id, event_type, request, verdict, reason, at FROM message "
    "WHERE at >= ?1 AND at < ?2 ORDER BY at DESC, seq DESC LIMIT ?3 OFFSET ?4";
constexpr const char* found_events_sql =
    "SELECT kind, reason, at FROM event WHERE at >= ?1 AND at < ?2 AND (?5 = '' OR kind = ?5) "
    "ORDER BY at DESC, seq DESC LIMIT ?3 OFFSET ?4";

constexpr const char* chosen_sql =
    "SELECT request.id, request.received_at, chosen.server, chosen.name, chosen.project, "
    "chosen.host, chosen.project_name FROM chosen JOIN request ON request.seq = chosen.request "
    "WHERE chosen.server = ?1 OR chosen.name = ?3 "
    "ORDER BY request.seq DESC, chosen.server LIMIT ?2";

std::int64_t rows_at_most(int limit) {
    return std::clamp(limit, 0, max_rows_listed);
}

void bind(Statement& select, const JournalQuery& query) {
    select.bind(1, query.since.value_or(TimePoint{Duration::min()}));
    select.bind(2, query.until.value_or(TimePoint{Duration::max()}));
    select.bind(3, query.project).bind(4, query.host).bind(5, query.flavor).bind(6, query.server);
    if (!is_uuid(query.server)) select.bind(13, query.server);
    select.bind(7, query.under_way ? std::string_view{"none"}
                   : query.outcome ? to_string(*query.outcome)
                                   : std::string_view{});
    select.bind(8, rows_at_most(query.limit)).bind(9, std::int64_t{std::max(query.skip, 0)});
}

void bind_time(Statement& select, const JournalQuery& query) {
    select.bind(1, query.since.value_or(TimePoint{Duration::min()}));
    select.bind(2, query.until.value_or(TimePoint{Duration::max()}));
    select.bind(3, rows_at_most(query.limit)).bind(4, std::int64_t{std::max(query.skip, 0)});
}

}  // namespace

Result<std::vector<RequestSummary>> Store::find_requests(const JournalQuery& query) {
    std::vector<RequestSummary> lines;
    std::int64_t before = std::numeric_limits<std::int64_t>::max();
    if (!query.after.empty()) {
        const auto row = find(RequestId{query.after});
        if (!row)
            return Error{Errc::not_found, "the journal knows no request " + in_quotes(query.after)};
        before = row->seq;
    }
    // Others come in the place of rows that can't be read: who asked takes fewer lines for the end.
    JournalQuery rest = query;
    while (true) {
        auto select = database_.statement(sql_of_requests(rest));
        bind(select, rest);
        select.bind(10, before);
        if (!rest.id_begins.empty())
            select.bind(11, rest.id_begins).bind(12, rest.id_begins + '\xff');
        std::int64_t rows = 0;
        for (; select.step(); ++rows) {
            before = select.number(0);
            if (auto line = summary_of(select)) lines.push_back(std::move(*line));
        }
        const auto left = rows_at_most(query.limit) - static_cast<std::int64_t>(lines.size());
        if (left == 0 || rows < rows_at_most(rest.limit)) return lines;
        rest.limit = static_cast<int>(left);
        rest.skip = 0;
    }
}

const char* sql_of_victims(Database& database, const JournalQuery& query) {
    if (are_few(database, chosen_of_server_sql, query.server))
        return query.planned ? planned_of_server_sql : victims_of_server_sql;
    if (are_few(database, chosen_of_host_sql, query.host))
        return query.planned ? planned_on_host_sql : victims_of_host_sql;
    if (are_few(database, chosen_of_project_sql, query.project))
        return query.planned ? planned_of_project_sql : victims_of_project_sql;
    return query.planned ? planned_victims_sql : newest_victims_sql;
}

Result<std::vector<VictimEntry>> Store::find_victims(const JournalQuery& query) {
    std::vector<VictimEntry> victims;
    auto select = database_.statement(sql_of_victims(database_, query));
    bind(select, query);
    while (select.step())
        victims.push_back({select.time(0), RequestId{select.text(1)}, ServerId{select.text(2)},
                           select.text(3), ProjectId{select.text(4)}, select.text(5),
                           select.text(6)});
    return victims;
}

Result<std::vector<MessageEntry>> Store::find_messages(const JournalQuery& query) {
    std::vector<MessageEntry> messages;
    auto select = database_.statement(found_messages_sql);
    bind_time(select, query);
    while (select.step())
        messages.push_back({select.text(0), select.text(1), RequestId{select.text(2)},
                            select.text(3), select.text(4), select.time(5)});
    return messages;
}

Result<std::vector<JournalEvent>> Store::find_events(const JournalQuery& query) {
    std::vector<JournalEvent> events;
    auto select = database_.statement(found_events_sql);
    bind_time(select, query);
    select.bind(5, query.kind);
    while (select.step()) events.push_back({select.text(0), select.text(1), select.time(2)});
    return events;
}

Result<std::vector<ChosenServer>> Store::chosen(const std::string& server, int limit) {
    std::vector<ChosenServer> found;
    auto select = database_.statement(chosen_sql);
    select.bind(1, server).bind(2, rows_at_most(limit));
    if (!is_uuid(server)) select.bind(3, server);
    while (select.step())
        found.push_back({RequestId{select.text(0)}, select.time(1), ServerId{select.text(2)},
                         select.text(3), ProjectId{select.text(4)}, select.text(5),
                         select.text(6)});
    return found;
}

Result<std::map<std::string, std::int64_t>> Store::victims_by_flavor(TimePoint since) {
    return counts("SELECT " VICTIM_FLAVOR
                  ", count(DISTINCT sent.server) FROM step AS sent "
                  "JOIN plan ON plan.request = sent.request, " VICTIMS_OF_PLAN
                  " WHERE sent.step IN " EVICTION_STEPS " AND sent.at >= ?1 AND " NOT_TAKEN_BACK
                  " AND " VICTIM_SERVER " = sent.server GROUP BY 1",
                  since);
}

#undef OUTCOME_FITS
#undef NOT_TAKEN_BACK
#undef REQUESTS
#undef VICTIMS
#undef PLANNED
#undef CHOSEN_BY
#undef CHOSEN_FIRST

// The store's reading side: deleted servers, events, totals.

namespace {

// A deletion counts from its first sending that no skipping took back.
constexpr const char* victims_sql = R"sql(
SELECT sent.at, request.id, sent.server, chosen.name, chosen.project, chosen.host,
       chosen.project_name
FROM step AS sent
JOIN request ON request.seq = sent.request
LEFT JOIN chosen ON chosen.request = sent.request AND chosen.server = sent.server
WHERE sent.step IN )sql" EVICTION_STEPS R"sql( AND sent.at >= ?1
  AND NOT EXISTS (SELECT 1 FROM step AS later
                  WHERE later.request = sent.request AND later.server = sent.server
                    AND later.step = 'skipped' AND later.seq > sent.seq)
  AND NOT EXISTS (SELECT 1 FROM step AS earlier
                  WHERE earlier.request = sent.request AND earlier.server = sent.server
                    AND earlier.step IN )sql" EVICTION_STEPS R"sql(
                    AND earlier.seq < sent.seq
                    AND NOT EXISTS (SELECT 1 FROM step AS taken_back
                                    WHERE taken_back.request = sent.request
                                      AND taken_back.server = sent.server
                                      AND taken_back.step = 'skipped'
                                      AND taken_back.seq > earlier.seq))
ORDER BY sent.at, sent.seq)sql";

}  // namespace

Result<std::vector<VictimEntry>> Store::victims_since(TimePoint since) {
    std::vector<VictimEntry> victims;
    auto select = database_.statement(victims_sql);
    select.bind(1, since);
    while (select.step())
        victims.push_back({select.time(0), RequestId{select.text(1)}, ServerId{select.text(2)},
                           select.text(3), ProjectId{select.text(4)}, select.text(5),
                           select.text(6)});
    return victims;
}

Result<std::vector<JournalEvent>> Store::events(int limit) {
    JournalQuery query;
    query.limit = limit;
    return find_events(query);
}

std::map<std::string, std::int64_t> Store::counts(const char* sql, TimePoint since) {
    std::map<std::string, std::int64_t> counted;
    auto select = database_.statement(sql);
    select.bind(1, since);
    while (select.step()) counted[select.text(0)] = select.number(1);
    return counted;
}

Result<JournalTotals> Store::totals(TimePoint since) {
    // One state of the file for all counts, also while a reaper writes.
    const Transaction reading{database_, Transaction::Kind::read};
    JournalTotals totals;
    for (const auto& [word, number] :
         counts("SELECT outcome, count(*) FROM request WHERE finished_at >= ?1 GROUP BY outcome",
                since))
        totals.outcomes[outcome_kind_from(word).value_or(OutcomeKind::failed)] += number;
    for (const auto& [word, number] :
         counts("SELECT freed_room, count(*) FROM request WHERE freed_room_at >= ?1 "
                "GROUP BY freed_room",
                since))
        totals
            .freed_rooms[freed_room_result_kind_from(word).value_or(FreedRoomResultKind::wasted)] +=
            number;
    totals.safeguards = counts(
        "SELECT safeguard, count(*) FROM request WHERE finished_at >= ?1 AND safeguard <> '' "
        "GROUP BY safeguard",
        since);
    totals.messages =
        counts("SELECT verdict, count(*) FROM message WHERE at >= ?1 GROUP BY verdict", since);
    totals.events = counts("SELECT kind, count(*) FROM event WHERE at >= ?1 GROUP BY kind", since);
    auto open = database_.statement("SELECT count(*) FROM request WHERE finished_at IS NULL");
    totals.under_way = open.step() ? open.number(0) : 0;
    const auto victims = victims_since(since);
    totals.victims = static_cast<std::int64_t>(victims->size());
    return totals;
}

Result<Timeline> Store::timeline(TimePoint since, Duration slot) {
    const Transaction reading{database_, Transaction::Kind::read};
    Timeline slots;
    const auto slot_of = [&](TimePoint at) { return (at - since) / slot; };
    auto ended = database_.statement(
        "SELECT outcome, (finished_at - ?1) - (finished_at - ?1) % ?2, count(*) FROM request "
        "WHERE finished_at >= ?1 GROUP BY 1, 2");
    ended.bind(1, since);
    ended.bind(2, slot.count());
    while (ended.step())
        slots[ended.number(1) / slot.count()]
            .outcomes[outcome_kind_from(ended.text(0)).value_or(OutcomeKind::failed)] +=
            ended.number(2);
    auto rooms = database_.statement(
        "SELECT freed_room, (freed_room_at - ?1) - (freed_room_at - ?1) % ?2, " REQUEST_SOURCE
        " = 'gateway', count(*) FROM request WHERE freed_room_at >= ?1 GROUP BY 1, 2, 3");
    rooms.bind(1, since);
    rooms.bind(2, slot.count());
    while (rooms.step()) {
        TimelineSlot& there = slots[rooms.number(1) / slot.count()];
        const auto kind =
            freed_room_result_kind_from(rooms.text(0)).value_or(FreedRoomResultKind::wasted);
        const auto number = rooms.number(3);
        there.freed_rooms[kind] += number;
        if (rooms.number(2) == 0) continue;
        there.waited_for += number;
        if (kind == FreedRoomResultKind::taken) there.first_tries += number;
    }
    const auto victims = victims_since(since);
    for (const auto& victim : *victims) ++slots[slot_of(victim.at)].victims;
    return slots;
}

}  // namespace reaper::journal
