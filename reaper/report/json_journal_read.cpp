// From JSON back to what the journal tells. Exceptions end in this file.
#include "reaper/report/json.hpp"
#include "reaper/report/json_values.hpp"

namespace reaper::report {
namespace {

StepEntry step_in(const JsonPlace& in) {
    return {ServerId{in["server"].text()}, meaning(in["step"], step_from), in["detail"].text(),
            in["at"].time()};
}

RequestRecord record_in(const JsonPlace& in) {
    RequestRecord record;
    record.request = request_in(in["request"]);
    record.received_at = in["received_at"].time();
    record.plans = list(in["plans"], plan_entry_in);
    record.steps = list(in["steps"], step_in);
    record.outcome = unless_null(in, "outcome", outcome_in);
    record.freed_room = unless_null(in, "freed_room", freed_room_in);
    return record;
}

RequestSummary summary_in(const JsonPlace& in) {
    RequestSummary line;
    line.request = request_in(in["request"]);
    line.received_at = in["received_at"].time();
    line.victims = in["victims"].count();
    line.planned = in["planned_victims"].count();
    line.outcome = unless_null(in, "outcome", outcome_in);
    line.freed_room = unless_null(in, "freed_room", freed_room_in);
    return line;
}

/// Kinds by their words; `name` is of one of the maps.
template <class Kind, class Read>
std::map<Kind, std::int64_t> counts_in(const JsonPlace& in, Read kind_from) {
    std::map<Kind, std::int64_t> counts;
    in.each_member([&](const std::string& name, const JsonPlace& count) {
        const std::optional<Kind> kind = kind_from(name);
        if (!kind) count.fail("unknown word '" + printable(name, 50) + "'");
        counts[*kind] = count.amount();
    });
    return counts;
}

std::map<std::string, std::int64_t> words_in(const JsonPlace& in) {
    return counts_in<std::string>(in, [](const std::string& name) { return std::optional{name}; });
}

JournalTotals totals_in(const JsonPlace& in) {
    JournalTotals totals;
    totals.outcomes = counts_in<OutcomeKind>(in["outcomes"], outcome_kind_from);
    totals.under_way = in["under_way"].amount();
    totals.victims = in["victims"].amount();
    totals.freed_rooms =
        counts_in<FreedRoomResultKind>(in["freed_room"], freed_room_result_kind_from);
    totals.safeguards = words_in(in["safeguards"]);
    totals.messages = words_in(in["messages"]);
    totals.events = words_in(in["events"]);
    return totals;
}

InventoryHold hold_in(const JsonPlace& in) {
    InventoryHold hold;
    hold.provider = ProviderId{in["provider"].text()};
    hold.resource_class = ResourceClass{in["class"].text()};
    hold.host_name = in["host"].text();
    hold.before = in["reserved_before"].integer();
    hold.set = in["reserved"].integer();
    hold.request = RequestId{in["request"].text()};
    hold.since = in["since"].time();
    return hold;
}

VictimEntry victim_entry_in(const JsonPlace& in) {
    return {in["at"].time(),
            RequestId{in["request"].text()},
            ServerId{in["server"].text()},
            in["name"].text(),
            ProjectId{in["project"].text()},
            in["host"].text(),
            in.text_or_empty("project_name")};
}

MessageEntry message_in(const JsonPlace& in) {
    return {in["message_id"].text(), in["event_type"].text(), RequestId{in["request"].text()},
            in["verdict"].text(),    in["reason"].text(),     in["at"].time()};
}

JournalEvent event_in(const JsonPlace& in) {
    return {in["kind"].text(), in["reason"].text(), in["at"].time()};
}

}  // namespace

PlanEntry plan_entry_in(const JsonPlace& in) {
    return {in["round"].count(), in["at"].time(), decision_in(in["decision"])};
}

Outcome outcome_in(const JsonPlace& in) {
    return {meaning(in["kind"], outcome_kind_from), in["reason"].text(), in["at"].time(),
            in.text_or_empty("safeguard")};
}

FreedRoomResult freed_room_in(const JsonPlace& in) {
    FreedRoomResult result;
    result.kind = meaning(in["kind"], freed_room_result_kind_from);
    result.reason = in["reason"].text();
    in["untaken"].each([&](const JsonPlace& host) { result.untaken.emplace_back(host.text()); });
    result.at = in["at"].time();
    return result;
}

Result<RequestRecord> record_from_json(const nlohmann::json& document) {
    return read_json(document, "record", record_in);
}

Result<std::vector<RequestSummary>> requests_from_json(const nlohmann::json& document) {
    return read_json(document, "list of requests",
                     [](const JsonPlace& in) { return list(in, summary_in); });
}

Result<std::vector<VictimEntry>> victims_from_json(const nlohmann::json& document) {
    return read_json(document, "list of victims",
                     [](const JsonPlace& in) { return list(in, victim_entry_in); });
}

Result<std::vector<MessageEntry>> messages_from_json(const nlohmann::json& document) {
    return read_json(document, "list of messages",
                     [](const JsonPlace& in) { return list(in, message_in); });
}

Result<std::vector<JournalEvent>> events_from_json(const nlohmann::json& document) {
    return read_json(document, "list of events",
                     [](const JsonPlace& in) { return list(in, event_in); });
}

Result<JournalTotals> totals_from_json(const nlohmann::json& document) {
    return read_json(document, "journal's totals", totals_in);
}

Result<InventoryHold> hold_from_json(const nlohmann::json& document) {
    return read_json(document, "hold", hold_in);
}

}  // namespace reaper::report
