// What the journal reports, to JSON and back: records, messages, victims, events, totals.
#include "reaper/json/fields.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/json_values.hpp"

namespace reaper::report {
namespace {

using nlohmann::json;

constexpr JsonCoder<Request> request_coder{to_json, request_in};
constexpr JsonCoder<Decision> decision_coder{to_json, decision_in};

/// Null for none.
constexpr JsonCoder<std::string> word_or_null{
    [](const std::string& word) { return word.empty() ? json(nullptr) : json(word); },
    [](const JsonPlace& in) { return in.text(); }};

/// How often there was each kind, by its name.
template <class Kind>
class WordCounts {
public:
    constexpr explicit WordCounts(std::optional<Kind> (*from)(std::string_view)) : from_(from) {}

    static json write(const std::map<Kind, std::int64_t>& counts) {
        return json_of_value(counts, PlainJson{});
    }
    void read(const JsonPlace& in, std::map<Kind, std::int64_t>& counts) const {
        in.each_member([&](const std::string& name, const JsonPlace& count) {
            const std::optional<Kind> kind = from_(name);
            if (!kind) count.fail_unknown_word(name);
            counts[*kind] = count.amount();
        });
    }

private:
    std::optional<Kind> (*from_)(std::string_view);
};

constexpr auto outcome_fields = fields_of<Outcome>([](auto& io, auto& outcome) {
    io.required("kind", outcome.kind, JsonWords{outcome_kind_from});
    io.required("reason", outcome.reason);
    io.required("at", outcome.at);
    io.lenient("safeguard", outcome.safeguard, word_or_null);
});

constexpr auto freed_room_fields = fields_of<FreedRoomResult>([](auto& io, auto& freed_room) {
    io.required("kind", freed_room.kind, JsonWords{freed_room_result_kind_from});
    io.required("reason", freed_room.reason);
    io.required("untaken", freed_room.untaken);
    io.required("at", freed_room.at);
});

constexpr auto step_fields = fields_of<StepEntry>([](auto& io, auto& step) {
    io.required("server", step.server);
    io.required("step", step.step, JsonWords{step_from});
    io.required("detail", step.detail);
    io.required("at", step.at);
});

constexpr auto plan_entry_fields = fields_of<PlanEntry>([](auto& io, auto& plan) {
    io.required("round", plan.round);
    io.required("at", plan.at);
    io.required("decision", plan.decision, decision_coder);
});

constexpr auto record_fields = fields_of<RequestRecord>([](auto& io, auto& record) {
    io.constant("version", json_version);
    io.required("request", record.request, request_coder);
    io.required("received_at", record.received_at);
    io.required("plans", record.plans, plan_entry_fields);
    io.required("steps", record.steps, step_fields);
    io.lenient("outcome", record.outcome, outcome_fields);
    io.lenient("freed_room", record.freed_room, freed_room_fields);
});

constexpr auto summary_fields = fields_of<RequestSummary>([](auto& io, auto& line) {
    io.required("request", line.request, request_coder);
    io.required("received_at", line.received_at);
    io.required("victims", line.victims);
    io.required("planned_victims", line.planned);
    io.lenient("outcome", line.outcome, outcome_fields);
    io.lenient("freed_room", line.freed_room, freed_room_fields);
});

constexpr auto message_fields = fields_of<MessageEntry>([](auto& io, auto& message) {
    io.required("message_id", message.message_id);
    io.required("event_type", message.event_type);
    io.required("request", message.request);
    io.required("verdict", message.verdict);
    io.required("reason", message.reason);
    io.required("at", message.at);
});

constexpr auto victim_entry_fields = fields_of<VictimEntry>([](auto& io, auto& victim) {
    io.required("at", victim.at);
    io.required("request", victim.request);
    io.required("server", victim.server);
    io.required("name", victim.name);
    io.required("project", victim.project);
    io.required("host", victim.host);
    io.optional("project_name", victim.project_name);
});

constexpr auto event_fields = fields_of<JournalEvent>([](auto& io, auto& event) {
    io.required("kind", event.kind);
    io.required("reason", event.reason);
    io.required("at", event.at);
});

constexpr auto hold_fields = fields_of<InventoryHold>([](auto& io, auto& hold) {
    io.required("provider", hold.provider);
    io.required("class", hold.resource_class);
    io.required("host", hold.host_name);
    io.required("reserved_before", hold.before);
    io.required("reserved", hold.set);
    io.required("request", hold.request);
    io.required("since", hold.since);
});

constexpr auto totals_fields = fields_of<JournalTotals>([](auto& io, auto& totals) {
    io.constant("version", json_version);
    io.required("outcomes", totals.outcomes, WordCounts{outcome_kind_from});
    io.required("under_way", totals.under_way, strict_json);
    io.required("victims", totals.victims, strict_json);
    io.required("freed_room", totals.freed_rooms, WordCounts{freed_room_result_kind_from});
    io.required("safeguards", totals.safeguards, strict_json);
    io.required("messages", totals.messages, strict_json);
    io.required("events", totals.events, strict_json);
});

}  // namespace

json to_json(const Outcome& outcome) {
    return outcome_fields.write(outcome);
}

json to_json(const FreedRoomResult& freed_room) {
    return freed_room_fields.write(freed_room);
}

json to_json(const StepEntry& step) {
    return step_fields.write(step);
}

json to_json(const PlanEntry& plan) {
    return plan_entry_fields.write(plan);
}

json to_json(const RequestRecord& record) {
    return record_fields.write(record);
}

json to_json(const RequestSummary& line) {
    return summary_fields.write(line);
}

json to_json(const std::vector<RequestSummary>& lines) {
    return {{"version", json_version}, {"requests", array_of(lines)}};
}

json to_json(const MessageEntry& message) {
    return message_fields.write(message);
}

json to_json(const std::vector<MessageEntry>& messages) {
    return {{"version", json_version}, {"messages", array_of(messages)}};
}

json to_json(const VictimEntry& victim) {
    return victim_entry_fields.write(victim);
}

json to_json(const std::vector<VictimEntry>& victims) {
    return {{"version", json_version}, {"victims", array_of(victims)}};
}

json to_json(const JournalEvent& event) {
    return event_fields.write(event);
}

json to_json(const std::vector<JournalEvent>& events) {
    return {{"version", json_version}, {"events", array_of(events)}};
}

json to_json(const InventoryHold& hold) {
    return hold_fields.write(hold);
}

json to_json(const JournalTotals& totals) {
    return totals_fields.write(totals);
}

PlanEntry plan_entry_in(const JsonPlace& in) {
    return plan_entry_fields.get(in);
}

Outcome outcome_in(const JsonPlace& in) {
    return outcome_fields.get(in);
}

FreedRoomResult freed_room_in(const JsonPlace& in) {
    return freed_room_fields.get(in);
}

Result<RequestRecord> record_from_json(const json& document) {
    return read_as(document, "record", record_fields);
}

Result<std::vector<RequestSummary>> requests_from_json(const json& document) {
    return read_list_as(document, "list of requests", summary_fields);
}

Result<std::vector<VictimEntry>> victims_from_json(const json& document) {
    return read_list_as(document, "list of victims", victim_entry_fields);
}

Result<std::vector<MessageEntry>> messages_from_json(const json& document) {
    return read_list_as(document, "list of messages", message_fields);
}

Result<std::vector<JournalEvent>> events_from_json(const json& document) {
    return read_list_as(document, "list of events", event_fields);
}

Result<JournalTotals> totals_from_json(const json& document) {
    return read_as(document, "journal's totals", totals_fields);
}

Result<InventoryHold> hold_from_json(const json& document) {
    return read_as(document, "hold", hold_fields);
}

}  // namespace reaper::report
