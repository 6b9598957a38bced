// Why a server was deleted, or skipped: what its owner asks. Made of the record of one request, and
// of nothing else; what the record lacks is said.
//
// As JSON: {version, asked, request, received_at, servers[], others[], rounds, decision (round, at,
// decision; or null), outcome (or null), freed_room (or null), times[{at, what}], unknown[],
// also[]}. `servers` are those that were asked about, `others` those that were chosen with them:
// {server, name, project, project_name (where it is known), host, flavor, resources, created, fate,
// fate_reason, reason, round, chosen_at, sent_at (or null), gone_at (or null)}; also: {request,
// received_at, server, name, project, host (empty: the server waited for the room of that
// request)}. The rest is as in json.hpp.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/named_records.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/report/render.hpp"
#include "reaper/safeguards/protection.hpp"

namespace reaper::report {

/// What happened to a server that was chosen.
enum class Fate {
    planned,      ///< nothing was sent
    noticed,      ///< it has notice until the time in `fate_reason`
    going,        ///< its deletion was sent, and the request is under way
    shelving,     ///< the same, and it is shelved instead
    deleted,      ///< its room is free
    shelved,      ///< its room is free, and it may come back
    skipped,      ///< its recheck found that it has to live
    vanished,     ///< it was gone before
    still_there,  ///< its deletion was sent, and it held its room at the deadline
    unknown,      ///< its deletion was sent, and the outcome was not observed
};
std::string_view to_string(Fate fate);
std::optional<Fate> fate_from(std::string_view text);

struct ExplainedServer {
    Victim victim;  ///< as the last plan that chose it has it
    Fate fate{};
    std::string fate_reason{};  ///< of its last step; may be empty
    int round = 0;              ///< of that plan
    TimePoint chosen_at{};
    bool shelved = false;  ///< the last call was to shelve it
    std::optional<TimePoint> sent_at{};
    std::optional<TimePoint> gone_at{};
};

struct TimelineEntry {
    TimePoint at{};
    std::string what;
};

struct Explanation {
    std::string asked;  ///< what the user gave: a server's id or name, or a request's id
    Request request;
    TimePoint received_at{};
    std::vector<ExplainedServer> servers;  ///< that were asked about; of a request: all
    std::vector<ExplainedServer> others;   ///< that were chosen with them
    int rounds = 0;                        ///< plans of the request
    std::optional<PlanEntry> decision;     ///< the plan that chose the servers, or the last one
    std::optional<Outcome> outcome;
    std::optional<FreedRoomResult> freed_room;
    std::vector<TimelineEntry> times;  ///< in order
    std::vector<std::string> unknown;  ///< what the journal does not know, one line each
    /// Where else plans chose a server that was asked about, or another one of its name; of one
    /// that waited: for what else it did. The newest request first.
    std::vector<ChosenServer> also{};
    /// Of these servers, those that operators protect now.
    std::vector<ServerProtection> protections{};
};

/// `asked_about`: servers that plans of the record chose; empty: the whole request.
Explanation explain(const RequestRecord& record, const std::set<ServerId>& asked_about);

/// The requester of that id or name; none: no such server waits for the room of the request.
std::optional<ServerId> waiting_server(const Request& request, const std::string& asked);

/// The request of that id; else what plans chose of that id or name, in the newest request; else
/// the newest request in which such a server waited, among the newest 10,000 of the journal: all
/// requests are read for that. None: the journal knows none of them.
ResultTask<std::optional<Explanation>> find_explanation(JournalReader& journal, std::string asked);

/// Two journals have the same: is the entry of `one` shown rather than that of `other`? It is
/// where what was asked about was deleted last; of a server that only waited, the newer request.
bool goes_before(const Explanation& one, const Explanation& other);

/// For what else the server waited, by another journal; nothing unless both report one that
/// waited.
void add_other_waits(const Explanation& other, Explanation& told);

/// Names the projects that have no name yet: what was recorded stays.
void add_names(const ProjectNames& names, Explanation& told);

/// The same line wherever the journal knows nothing: what was asked for, and what to do.
std::string not_explained(const std::string& asked);

/// Of a server that no plan chose: what would have to be so that it goes, in a sentence or two.
/// `protection`: the policy's.
std::string why_never_chosen(const Server& server, const Host& host, const Protection& protection);

std::string render_explanation(const Explanation& explanation, const RenderOptions& options = {});
nlohmann::json to_json(const Explanation& explanation);
/// The inverse; `bad_answer` with the place for anything of another shape.
Result<Explanation> explanation_from_json(const nlohmann::json& document);

}  // namespace reaper::report
