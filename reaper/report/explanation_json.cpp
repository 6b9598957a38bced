// The JSON of an explanation, there and back.
#include "reaper/json/fields.hpp"
#include "reaper/report/explanation.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/json_values.hpp"

namespace reaper::report {
namespace {

constexpr auto explained_fields = fields_of<ExplainedServer>([](auto& io, auto& server) {
    auto& victim = server.victim;
    io.required("server", victim.server);
    io.required("name", victim.name);
    io.required("project", victim.project);
    io.optional("project_name", victim.project_name);
    io.required("host", victim.host);
    io.required("flavor", victim.flavor);
    io.required("resources", victim.resources);
    io.required("created", victim.created);
    io.required("reason", victim.reason);
    io.required("fate", server.fate, JsonWords{fate_from});
    io.required("fate_reason", server.fate_reason);
    io.required("round", server.round);
    io.required("chosen_at", server.chosen_at);
    io.required("sent_at", server.sent_at);
    io.required("gone_at", server.gone_at);
});

constexpr auto timeline_fields = fields_of<TimelineEntry>([](auto& io, auto& entry) {
    io.required("at", entry.at);
    io.required("what", entry.what);
});

constexpr auto chosen_fields = fields_of<ChosenServer>([](auto& io, auto& chosen) {
    io.required("request", chosen.request);
    io.required("received_at", chosen.received_at);
    io.required("server", chosen.server);
    io.required("name", chosen.name);
    io.required("project", chosen.project);
    io.required("host", chosen.host);
    io.optional("project_name", chosen.project_name);
});

constexpr auto protection_fields = fields_of<ServerProtection>([](auto& io, auto& protection) {
    io.required("server", protection.server);
    io.required("name", protection.name);
    io.required("since", protection.since);
    io.required("until", protection.until);
    io.required("by", protection.by);
    io.required("reason", protection.reason);
});

constexpr auto explanation_fields = fields_of<Explanation>([](auto& io, auto& told) {
    io.constant("version", json_version);
    io.required("asked", told.asked);
    io.required("request", told.request, JsonCoder<Request>{to_json, request_in});
    io.required("received_at", told.received_at);
    io.required("servers", told.servers, explained_fields);
    io.required("others", told.others, explained_fields);
    io.required("rounds", told.rounds);
    io.lenient("decision", told.decision, JsonCoder<PlanEntry>{to_json, plan_entry_in});
    io.lenient("outcome", told.outcome, JsonCoder<Outcome>{to_json, outcome_in});
    io.lenient("freed_room", told.freed_room, JsonCoder<FreedRoomResult>{to_json, freed_room_in});
    io.required("times", told.times, timeline_fields);
    io.required("unknown", told.unknown);
    io.required("also", told.also, chosen_fields);
    io.optional("protections", told.protections, protection_fields);
});

}  // namespace

nlohmann::json to_json(const ServerProtection& protection) {
    return protection_fields.write(protection);
}

nlohmann::json to_json(const Explanation& told) {
    return explanation_fields.write(told);
}

Result<Explanation> explanation_from_json(const nlohmann::json& document) {
    return read_as(document, "story of a server", explanation_fields);
}

}  // namespace reaper::report
