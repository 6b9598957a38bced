// The JSON shape of requests, decisions and records: what `--json` prints and the journal keeps.
//
// Stable: `"version": 2` stands in every request, decision, record and list; a change that would
// break a reader gets a new number. Times are `2024-05-01T12:00:00.000Z` (UTC), resources are
// objects of class to amount, kinds are the words of the to_string functions, absent things are
// null or left out as said below.
//
//  request   {version, id, operation, project, resources, slots, requesters[], availability_zone
//             (or null), required_traits[], forbidden_traits[], excluded_hosts{host: why}, res_type
//             (regular, ~regular, revocable or ~revocable), res_type_because (where that was said;
//             empty: nowhere), source, sent_at, deadline (if any) and, where it is bound to places:
//             placement; where some of it has to come from one provider: groups[], which are part
//             of `resources`, and, of two and more, group_policy (none or isolate); of a server
//             that moves, from_host (service host where it is or was last); of one whose metadata
//             says that it ran as revocable, runs_revocable: true; and, if it has any:
//             requester_names{id: name} (of those whose name is known), root_required_traits[],
//             fallback{resources, required_traits[], forbidden_traits[]}}
//  placement {group (or null): {id, name, policy, max_on_a_host, members[]}, only_hosts[],
//  why_only,
//             aggregates[[uuid]], with[], apart_from[], only_offered?: true,
//             without_slow_hosts?: true}
//  group     {suffix, resources, required_traits[], forbidden_traits[], and, where it is bound to
//             places: aggregates[[uuid]], in_tree}
//  decision  {version, decision: "plan", request, strategy, slots_requested, slots_wanted,
//             slots_freed, hosts[], rejected[], note}
//            {version, decision: "nothing-to-do", reason, room (regular or revocable), hosts[]}
//            {version, decision: "refused", reason}
//            {version, decision: "not-enough", slots_requested, slots_possible, reason, rejected[],
//             for_search?: true}
//  host      {host, host_name, slots, slots_ready, victims[], free_before, free_after, reason, slot
//             (resources; where its slots are those of the request's fallback)} and, where it was
//             looked: spared[] (the first of the revocable servers that stay), spared_in_all
//  victim    {server, name, project, host, resources, created, reason} and, if known: flavor
//  spared    {server, name, project, resources, created, reason, might_have_gone}
//  rejection {host, host_name, code, reason}
//  outcome   {kind, reason, at, safeguard (or null)}
//  freed_room {kind, reason, untaken[], at}
//  step      {server, step, detail, at}
//  plan of a record {round, at, decision}
//  record     {version, request, received_at, plans[], steps[], outcome (or null),
//             freed_room (or null)}
//  line      {request, received_at, victims, planned_victims (that plans chose), outcome (or null),
//             freed_room (or null)}
//  victim of the journal {at, request, server, name, project, host}
//  event     {kind, reason, at}
//  totals    {version, outcomes{kind: n}, under_way, victims, freed_room{kind: n},
//             safeguards{word: n}, messages{verdict: n}, events{kind: n}}
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reaper/json/json_place.hpp"
#include "reaper/model/cloud.hpp"
#include "reaper/model/error.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/records.hpp"
#include "reaper/model/request.hpp"
#include "reaper/model/request_record.hpp"
#include "reaper/model/text.hpp"
#include "reaper/planner/oversubscribed_room.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper::report {

// From JSON back to values, for readers of documents that have these within. Each throws WrongJson.

/// Of a request or a decision: one that this reaper reads.
void check_json_version(const JsonPlace& in);
Request request_in(const JsonPlace& in);
Decision decision_in(const JsonPlace& in);
PlanEntry plan_entry_in(const JsonPlace& in);
Outcome outcome_in(const JsonPlace& in);
FreedRoomResult freed_room_in(const JsonPlace& in);

/// Runs a reader and turns its exceptions into an error.
template <class Read>
auto read_json(const nlohmann::json& document, const char* what, Read read)
    -> Result<decltype(read(std::declval<const JsonPlace&>()))> {
    const std::string where = std::string{"JSON of a "} + what + ": ";
    try {
        return read(JsonPlace{document});
    } catch (const WrongJson& wrong) {
        return Error{wrong.code, where + wrong.what};
    } catch (const nlohmann::json::exception& exception) {
        return Error{Errc::bad_answer, where + exception.what()};
    }
}

/// The same by a list of fields (reaper/json/fields.hpp).
auto read_as(const nlohmann::json& document, const char* what, const auto& fields) {
    return read_json(document, what, [&](const JsonPlace& in) { return fields.get(in); });
}

auto read_list_as(const nlohmann::json& document, const char* what, const auto& fields) {
    return read_json(document, what, [&](const JsonPlace& in) {
        return in.list([&](const JsonPlace& each) { return fields.get(each); });
    });
}

/// What `read` makes of the value, a part of what is at `in`; its error becomes one of that place.
template <class Read>
auto part_in(const JsonPlace& in, const nlohmann::json& value, Read read) {
    auto result = read(value);
    if (!result) in.fail(result.error().what);
    return std::move(*result);
}

inline constexpr int json_version = 2;

nlohmann::json text_or_null(const std::optional<std::string>& text);
nlohmann::json to_json(const Resources& resources);
nlohmann::json to_json(const Request& request);
nlohmann::json to_json(const Decision& decision);
nlohmann::json to_json(const Outcome& outcome);
nlohmann::json to_json(const FreedRoomResult& freed_room);
nlohmann::json to_json(const StepEntry& step);
nlohmann::json to_json(const PlanEntry& plan);
nlohmann::json to_json(const RequestRecord& record);
nlohmann::json to_json(const RequestSummary& line);
nlohmann::json to_json(const MessageEntry& message);
nlohmann::json to_json(const VictimEntry& victim);
nlohmann::json to_json(const JournalEvent& event);
nlohmann::json to_json(const ServerProtection& protection);
nlohmann::json to_json(const InventoryHold& hold);
nlohmann::json to_json(const JournalTotals& totals);
nlohmann::json to_json(const Server& server);
/// With `project_name`, if it is among the names.
nlohmann::json to_json(const Server& server, const ProjectNames& names);
/// {version, taken_at, hosts: [{id, name, service_host, enabled, up, why_unavailable,
/// availability_zone, aggregates[], res_type (the label: regular, revocable or any), capacity,
/// used, free, regular_room and revocable_room ({total, free}, or null: none of the kind),
/// oversubscribed{class: {published, used, free, wanted (or null: not known)}}, servers: [{id,
/// name, project, status, task_state, locked, created, flavor, resources, revocable,
/// revocable_because (or null), revocable_by (the taggers' names, or null)}]}], res_types{label:
/// hosts}, oversubscribed{class: {published, used, free, wanted, hosts}}, remarks[]}; free of a
/// class may be negative (an overcommitted host), but not that of a kind of room.
nlohmann::json to_json(const Snapshot& snapshot, const EstimatedRoom& estimated = {});
/// {class: {published, used, free, wanted (or null), hosts}}
nlohmann::json to_json(const OversubscribedRooms& rooms);

/// What a host has and what is taken, over all its providers.
struct Room {
    Resources capacity;
    Resources used;
};
Room room_of(const Host& host);

/// The inverses. `bad_answer` with the place for anything of another shape or version.
Result<Request> request_from_json(const nlohmann::json& json);
Result<Decision> decision_from_json(const nlohmann::json& json);
Result<RequestRecord> record_from_json(const nlohmann::json& json);
/// Of the list `requests`.
Result<std::vector<RequestSummary>> requests_from_json(const nlohmann::json& json);
/// Of the lists `victims`, `messages` and `events`.
Result<std::vector<VictimEntry>> victims_from_json(const nlohmann::json& json);
Result<std::vector<MessageEntry>> messages_from_json(const nlohmann::json& json);
Result<std::vector<JournalEvent>> events_from_json(const nlohmann::json& json);
Result<JournalTotals> totals_from_json(const nlohmann::json& json);
Result<InventoryHold> hold_from_json(const nlohmann::json& json);

/// As text; never throws: bytes that are not UTF-8 become U+FFFD. `indent` < 0: one line.
std::string dump(const nlohmann::json& json, int indent = -1);

/// An array of what `to_json` makes of each.
nlohmann::json array_of(const auto& things) {
    nlohmann::json array = nlohmann::json::array();
    for (const auto& thing : things) array.push_back(to_json(thing));
    return array;
}

/// {version, NAME: [...]}
nlohmann::json list_of(const char* name, nlohmann::json array);

}  // namespace reaper::report
