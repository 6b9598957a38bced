// The JSON shape of requests, decisions and stories: what `--json` prints and the journal keeps.
//
// Stable: `"version": 1` stands in every request, decision, story and list; a change that would
// break a reader gets a new number. Times are `2024-05-01T12:00:00.000Z` (UTC), resources are
// objects of class to amount, kinds are the words of the to_string functions, absent things are
// null or left out as said below.
//
//  request   {version, id, operation, project, resources, slots, requesters[], availability_zone
//             (or null), required_traits[], forbidden_traits[], excluded_hosts{host: why}, res_type
//             (regular, ~regular, revocable or ~revocable), res_type_because (where that was said;
//             empty: nowhere), sent_at, and, where it is bound to places: landing
//             (reaper/report/json_landing.hpp)}
//  decision  {version, decision: "plan", request, strategy, slots_requested, slots_wanted,
//             slots_freed, hosts[], rejected[], note}
//            {version, decision: "nothing-to-do", reason, room (regular or revocable), hosts[]}
//            {version, decision: "not-enough", slots_requested, slots_possible, reason, rejected[]}
//  host      {host, host_name, slots, slots_ready, victims[], free_before, free_after, reason}
//  victim    {server, name, project, host, resources, created, reason}
//  rejection {host, host_name, code, reason}
//  outcome   {kind, reason, at, brake (or null)}
//  aftermath {kind, reason, untaken[], at}
//  step      {server, step, detail, at}
//  plan of a story {round, at, decision}
//  story     {version, request, received_at, plans[], steps[], outcome (or null),
//             aftermath (or null)}
//  line      {request, received_at, victims, outcome (or null), aftermath (or null)}
//  victim of the journal {at, request, server, name, project, host}
//  mark      {kind, reason, at}
//  totals    {version, outcomes{kind: n}, under_way, victims, aftermaths{kind: n}, brakes{word: n},
//             messages{verdict: n}, marks{kind: n}}
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/error.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/request.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper::report {

inline constexpr int json_version = 1;

nlohmann::json to_json(const Resources& resources);
nlohmann::json to_json(const Request& request);
nlohmann::json to_json(const Victim& victim);
nlohmann::json to_json(const Awaited& awaited);
nlohmann::json to_json(const HostPlan& host);
nlohmann::json to_json(const Rejection& rejection);
nlohmann::json to_json(const RejectionCount& count);
nlohmann::json to_json(const Decision& decision);
nlohmann::json to_json(const Outcome& outcome);
nlohmann::json to_json(const Aftermath& aftermath);
nlohmann::json to_json(const StepEntry& step);
nlohmann::json to_json(const PlanEntry& plan);
nlohmann::json to_json(const Story& story);
nlohmann::json to_json(const StoryLine& line);
/// {version, stories: [line...]}
nlohmann::json to_json(const std::vector<StoryLine>& lines);
nlohmann::json to_json(const MessageEntry& message);
/// {version, messages: [...]}
nlohmann::json to_json(const std::vector<MessageEntry>& messages);
nlohmann::json to_json(const VictimEntry& victim);
/// {version, victims: [...]}
nlohmann::json to_json(const std::vector<VictimEntry>& victims);
nlohmann::json to_json(const Mark& mark);
/// {version, marks: [...]}
nlohmann::json to_json(const std::vector<Mark>& marks);
nlohmann::json to_json(const RoomHold& hold);
nlohmann::json to_json(const JournalTotals& totals);
nlohmann::json to_json(const Server& server);
/// {version, taken_at, hosts: [{id, name, service_host, enabled, up, why_unavailable,
/// availability_zone, aggregates[], res_type (the label: regular, revocable or any), capacity,
/// used, free, regular_room and revocable_room ({total, free}, or null: none of the kind), servers:
/// [{id, name, project, status, task_state, locked, created, flavor, resources, revocable,
/// revocable_because (or null), revocable_by (the taggers' names, or null)}]}], res_types{label:
/// hosts}, remarks[]}; free of a class may be negative (an overcommitted host), but not that of a
/// kind of room.
nlohmann::json to_json(const Snapshot& snapshot);

/// What a host has and what is taken, over all its providers.
struct Room {
    Resources capacity;
    Resources used;
};
Room room_of(const Host& host);

std::optional<RejectionCode> rejection_code_from(std::string_view text);

/// The inverses. `bad_answer` with the place for anything of another shape or version.
Result<Request> request_from_json(const nlohmann::json& json);
Result<Decision> decision_from_json(const nlohmann::json& json);

/// As text; never throws: bytes that are not UTF-8 become U+FFFD. `indent` < 0: one line.
std::string dump(const nlohmann::json& json, int indent = -1);

/// An array of what `to_json` makes of each.
nlohmann::json array_of(const auto& things) {
    nlohmann::json array = nlohmann::json::array();
    for (const auto& thing : things) array.push_back(to_json(thing));
    return array;
}

}  // namespace reaper::report
