#include "reaper/report/history_tables.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "reaper/model/text.hpp"
#include "reaper/report/render_parts.hpp"

namespace reaper::report {
namespace {

std::string what_of(const Request& request) {
    return request.correction ? "correction" : std::string{to_string(request.operation)};
}

/// What happened to the room, and why.
std::string room_text(const std::optional<FreedRoomResult>& room) {
    if (!room) return "";
    return std::string{to_string(room->kind)} + (room->reason.empty() ? "" : ": " + room->reason);
}

/// Deleted ones; of a dry run, how many its plans chose.
Cell victims_cell(const RequestSummary& line) {
    const bool dry_run = line.outcome && line.outcome->kind == OutcomeKind::dry_run;
    if (dry_run && line.victims == 0 && line.planned > 0) return Planned{line.planned};
    return std::int64_t{line.victims};
}

/// Its name, or its id if it has none.
std::string name_or_id(const Request& request, const ServerId& server) {
    const auto name = request.requester_names.find(server);
    return name == request.requester_names.end() ? server.str() : name->second;
}

/// `web-1 and 2 more`
Cell first_requester_cell(const Request& request) {
    if (request.requesters.empty()) return Cell{};
    std::string text = name_or_id(request, request.requesters.front());
    if (request.requesters.size() > 1)
        text += " and " + std::to_string(request.requesters.size() - 1) + " more";
    return text_cell(text);
}

Cell requesters_cell(const Request& request) {
    return text_cell(joined(request.requesters, ", ",
                            [&](const ServerId& each) { return name_or_id(request, each); }));
}

Cell asks_cell(const Request& request) {
    if (request.source == RequestSource::life_span)
        return counted(request.correction->servers.size(), "server") + " past the life span on " +
               request.correction->host_name;
    if (request.correction) return request.correction->host_name + " to be relieved";
    return what_is_asked(request);
}

/// `taken`, `1 of 2 taken`
Cell room_cell(const RequestSummary& line) {
    if (!line.freed_room) return Cell{};
    const std::string kind{to_string(line.freed_room->kind)};
    const std::size_t takers = line.freed_room->takers.size();
    const bool in_part = line.freed_room->kind == FreedRoomResultKind::taken && takers > 0 &&
                         takers < static_cast<std::size_t>(std::max(line.request.slots, 1));
    return in_part
               ? std::to_string(takers) + " of " + std::to_string(line.request.slots) + " " + kind
               : kind;
}

/// As `reaper explain` takes it.
Cell short_id_cell(const Request& request) {
    constexpr std::size_t enough = 12;
    return text_cell(request.id.str().substr(0, enough));
}

std::vector<Cell> request_cells(const RequestSummary& line, TimePoint now) {
    const Request& request = line.request;
    const auto& outcome = line.outcome;
    const auto age = std::chrono::duration_cast<std::chrono::seconds>(now - line.received_at);
    return {Age{age.count()},
            short_id_cell(request),
            line.received_at,
            text_cell(request.id.str()),
            outcome ? std::string{to_string(outcome->kind)} : std::string{"under way"},
            first_requester_cell(request),
            asks_cell(request),
            victims_cell(line),
            room_cell(line),
            std::int64_t{request.slots},
            text_cell(request.flavor),
            text_cell(to_string(request.resources)),
            what_of(request),
            project_cell(request.project, request.project_name),
            std::string{to_string(request.source)},
            outcome ? Cell{outcome->at} : Cell{},
            outcome ? text_cell(outcome->safeguard) : Cell{},
            text_cell(request.project.str()),
            std::int64_t{line.planned},
            requesters_cell(request),
            outcome ? text_cell(outcome->reason) : Cell{},
            text_cell(room_text(line.freed_room))};
}

}  // namespace

Table requests_table(const std::vector<RequestSummary>& requests, TimePoint now) {
    using Place = Column::Place;
    Table table;
    table.columns = {number("age", Place::terminal),
                     {"id", Place::terminal},
                     {"received", Place::elsewhere},
                     {"request", Place::elsewhere},
                     column("outcome"),
                     {"requester", Place::always, false, true},
                     {"asks", Place::terminal, false, true},
                     number("victims"),
                     column("room"),
                     number("slots", Place::elsewhere),
                     {"flavor", Place::elsewhere},
                     {"of", Place::elsewhere},
                     {"operation", Place::elsewhere},
                     {"project", Place::elsewhere},
                     wide("source"),
                     wide("ended"),
                     wide("safeguard"),
                     wide("project_id"),
                     number("planned_victims", Place::wide),
                     wide("requesters"),
                     {"reason", Place::elsewhere},
                     {"room_reason", Place::elsewhere}};
    table.key = 3;
    table.none = "No requests.";
    for (const auto& line : requests) table.rows.push_back(request_cells(line, now));
    return table;
}

Table messages_table(const std::vector<MessageEntry>& messages) {
    Table table;
    table.columns = {column("at"),      column("verdict"), column("event"),
                     column("request"), column("message"), under("reason")};
    table.key = 4;
    table.none = "No messages.";
    for (const auto& message : messages)
        table.rows.push_back({message.at, text_cell(message.verdict), text_cell(message.event_type),
                              text_cell(message.request.str()), text_cell(message.message_id),
                              text_cell(message.reason)});
    return table;
}

Table victims_table(const std::vector<VictimEntry>& victims) {
    Table table;
    table.columns = {column("at"),   column("name"),    column("server"),  column("request"),
                     column("host"), column("project"), wide("project_id")};
    table.key = 2;
    table.none = "No victims.";
    for (const auto& victim : victims)
        table.rows.push_back({victim.at, text_cell(victim.name), text_cell(victim.server.str()),
                              text_cell(victim.request.str()), text_cell(victim.host),
                              project_cell(victim.project, victim.project_name),
                              text_cell(victim.project.str())});
    return table;
}

Table events_table(const std::vector<JournalEvent>& events) {
    Table table;
    table.columns = {column("at"), column("event"), under("reason")};
    table.key = 1;
    table.none = "No events.";
    for (const auto& event : events)
        table.rows.push_back({event.at, text_cell(event.kind), text_cell(event.reason)});
    return table;
}

}  // namespace reaper::report
