// The store's reading side: rows back to records.
#include <algorithm>
#include <spdlog/spdlog.h>

#include "clients/journal/request_row.hpp"
#include "clients/journal/store.hpp"
#include "reaper/model/text.hpp"
#include "reaper/report/json.hpp"

namespace reaper::journal {
namespace {

nlohmann::json parsed(const std::string& text) {
    return nlohmann::json::parse(text, nullptr, false);
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
        "WHERE request = ?1 AND step IN ('delete-sent', 'force-delete-sent')");
    select.bind(1, row.seq);
    const std::int64_t sent = select.step() ? select.number(0) : 0;
    const TimePoint last = sent > 0 ? select.time(1) : row.received_at;
    if (sent == 0) {
        auto drop = database_.statement("DELETE FROM request WHERE seq = ?1");
        drop.bind(1, row.seq).run();
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
        auto record = record_of(row);
        if (record)
            records.push_back(std::move(*record));
        else if (!row.outcome && lease_)
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
        " FROM request WHERE finished_at >= ?1 AND finished_at < ?2 AND EXISTS "
        "(SELECT 1 FROM step WHERE step.request = request.seq "
        " AND step.step IN ('delete-sent', 'force-delete-sent')) ORDER BY finished_at, seq");
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

}  // namespace reaper::journal
