// The JSON of what the journal tells: records, messages, victims, events, totals.
#include "reaper/model/time_text.hpp"
#include "reaper/report/json.hpp"

namespace reaper::report {
namespace {

using nlohmann::json;

json or_null(const auto& thing) {
    return thing ? to_json(*thing) : json(nullptr);
}

json counts_of(const auto& counts) {
    json object = json::object();
    for (const auto& entry : counts) {
        const auto& what = entry.first;
        if constexpr (requires { to_string(what); })
            object[std::string{to_string(what)}] = entry.second;
        else
            object[what] = entry.second;
    }
    return object;
}

}  // namespace

json to_json(const Outcome& outcome) {
    return {{"kind", std::string{to_string(outcome.kind)}},
            {"reason", outcome.reason},
            {"at", iso_time(outcome.at)},
            {"safeguard", outcome.safeguard.empty() ? json(nullptr) : json(outcome.safeguard)}};
}

json to_json(const FreedRoomResult& freed_room) {
    json untaken = json::array();
    for (const auto& host : freed_room.untaken) untaken.push_back(host.str());
    return {{"kind", std::string{to_string(freed_room.kind)}},
            {"reason", freed_room.reason},
            {"untaken", std::move(untaken)},
            {"at", iso_time(freed_room.at)}};
}

json to_json(const StepEntry& step) {
    return {{"server", step.server.str()},
            {"step", std::string{to_string(step.step)}},
            {"detail", step.detail},
            {"at", iso_time(step.at)}};
}

json to_json(const PlanEntry& plan) {
    return {{"round", plan.round}, {"at", iso_time(plan.at)}, {"decision", to_json(plan.decision)}};
}

json to_json(const RequestRecord& record) {
    return {{"version", json_version},
            {"request", to_json(record.request)},
            {"received_at", iso_time(record.received_at)},
            {"plans", array_of(record.plans)},
            {"steps", array_of(record.steps)},
            {"outcome", or_null(record.outcome)},
            {"freed_room", or_null(record.freed_room)}};
}

json to_json(const RequestSummary& line) {
    return {{"request", to_json(line.request)}, {"received_at", iso_time(line.received_at)},
            {"victims", line.victims},          {"planned_victims", line.planned},
            {"outcome", or_null(line.outcome)}, {"freed_room", or_null(line.freed_room)}};
}

json to_json(const std::vector<RequestSummary>& lines) {
    return {{"version", json_version}, {"requests", array_of(lines)}};
}

json to_json(const MessageEntry& message) {
    return {{"message_id", message.message_id}, {"event_type", message.event_type},
            {"request", message.request.str()}, {"verdict", message.verdict},
            {"reason", message.reason},         {"at", iso_time(message.at)}};
}

json to_json(const std::vector<MessageEntry>& messages) {
    return {{"version", json_version}, {"messages", array_of(messages)}};
}

json to_json(const VictimEntry& victim) {
    json object{{"at", iso_time(victim.at)},       {"request", victim.request.str()},
                {"server", victim.server.str()},   {"name", victim.name},
                {"project", victim.project.str()}, {"host", victim.host}};
    if (!victim.project_name.empty()) object["project_name"] = victim.project_name;
    return object;
}

json to_json(const std::vector<VictimEntry>& victims) {
    return {{"version", json_version}, {"victims", array_of(victims)}};
}

json to_json(const ChosenServer& chosen) {
    json object{{"request", chosen.request.str()}, {"received_at", iso_time(chosen.received_at)},
                {"server", chosen.server.str()},   {"name", chosen.name},
                {"project", chosen.project.str()}, {"host", chosen.host}};
    if (!chosen.project_name.empty()) object["project_name"] = chosen.project_name;
    return object;
}

json to_json(const ServerProtection& protection) {
    return {{"server", protection.server.str()},
            {"name", protection.name},
            {"since", iso_time(protection.since)},
            {"until", protection.until ? json(iso_time(*protection.until)) : json(nullptr)},
            {"by", protection.by},
            {"reason", protection.reason}};
}

json to_json(const JournalEvent& event) {
    return {{"kind", event.kind}, {"reason", event.reason}, {"at", iso_time(event.at)}};
}

json to_json(const std::vector<JournalEvent>& events) {
    return {{"version", json_version}, {"events", array_of(events)}};
}

json to_json(const InventoryHold& hold) {
    return {{"provider", hold.provider.str()},
            {"class", hold.resource_class.str()},
            {"host", hold.host_name},
            {"reserved_before", hold.before},
            {"reserved", hold.set},
            {"request", hold.request.str()},
            {"since", iso_time(hold.since)}};
}

json to_json(const JournalTotals& totals) {
    return {{"version", json_version},
            {"outcomes", counts_of(totals.outcomes)},
            {"under_way", totals.under_way},
            {"victims", totals.victims},
            {"freed_room", counts_of(totals.freed_rooms)},
            {"safeguards", counts_of(totals.safeguards)},
            {"messages", counts_of(totals.messages)},
            {"events", counts_of(totals.events)}};
}

}  // namespace reaper::report
