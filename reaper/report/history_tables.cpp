#include "reaper/report/history_tables.hpp"

#include <optional>
#include <string>

namespace reaper::report {
namespace {

std::string what_of(const Request& request) {
    return request.correction ? "correction" : std::string{to_string(request.operation)};
}

/// What became of the room, and why.
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
    std::string all;
    for (const ServerId& each : request.requesters)
        all += (all.empty() ? "" : ", ") + name_or_id(request, each);
    return text_cell(all);
}

std::vector<Cell> request_cells(const RequestSummary& line) {
    const Request& request = line.request;
    const auto& outcome = line.outcome;
    const auto& room = line.freed_room;
    return {line.received_at,
            text_cell(request.id.str()),
            outcome ? std::string{to_string(outcome->kind)} : std::string{"under way"},
            room ? text_cell(std::string{to_string(room->kind)}) : Cell{},
            victims_cell(line),
            first_requester_cell(request),
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
            text_cell(room_text(room))};
}

}  // namespace

Table requests_table(const std::vector<RequestSummary>& requests) {
    Table table;
    table.columns = {column("received"),  column("request"),
                     column("outcome"),   column("room"),
                     number("victims"),   column("requester"),
                     number("slots"),     column("flavor"),
                     column("of"),        column("operation"),
                     column("project"),   wide("source"),
                     wide("ended"),       wide("safeguard"),
                     wide("project_id"),  number("planned_victims", Column::Place::wide),
                     wide("requesters"),  under("reason"),
                     under("room_reason")};
    table.key = 1;
    table.none = "No requests.";
    for (const auto& line : requests) table.rows.push_back(request_cells(line));
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
