// What is recorded of requests: plans, deletions, outcomes, and what happened to the room.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/plan.hpp"
#include "reaper/model/request.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// How a request ended.
enum class OutcomeKind {
    freed,           ///< Placement shows the room
    already_there,   ///< the room was there, no servers deleted
    not_enough,      ///< not enough revocable servers: no servers deleted
    refused,         ///< revocable requester, requester gone, no room can help
    incomplete,      ///< some victims were deleted, but the room did not come (in time)
    failed,          ///< an outside failure outlasted all retries; no servers deleted
    dry_run,         ///< reported only
    superseded,      ///< a newer request of the same server took its place
    handed_over,     ///< its message went to another reaper
    revocable_room,  ///< its res-type admits revocable room, and there is enough: no servers
                     ///< deleted
    revocable_only,  ///< it admits nothing else, and there is not enough: no servers deleted
};
std::string_view to_string(OutcomeKind kind);
std::optional<OutcomeKind> outcome_kind_from(std::string_view text);

struct Outcome {
    OutcomeKind kind{};
    std::string reason;  ///< one line for people
    TimePoint at{};
    /// The safeguard that refused it, as one word (`paused`, `limit-window`, `thrash`, ...); or
    /// empty.
    std::string safeguard{};
};

/// What happened to the room that a cull freed.
enum class FreedRoomResultKind {
    taken,               ///< the requester, or its retry, got it, or half of it at least
    short_lived,         ///< the same, and gave some of it back within minutes
    elsewhere,           ///< it got room on another host
    handed_over,         ///< a later request has it, which is judged in its place
    taken_by_regular,    ///< another regular request got it first
    taken_by_revocable,  ///< new revocable servers got it first: held room would have kept them off
    wasted,              ///< the room went unused
};
std::string_view to_string(FreedRoomResultKind kind);
std::optional<FreedRoomResultKind> freed_room_result_kind_from(std::string_view text);

/// A server that took a slot of freed room.
struct RoomTaker {
    ServerId server;
    TimePoint at{};                   ///< when it was seen to have it
    std::optional<Duration> lived{};  ///< it gave the room back after this long; none: not early
    friend bool operator==(const RoomTaker&, const RoomTaker&) = default;
};

struct FreedRoomResult {
    FreedRoomResultKind kind{};
    std::string reason;           ///< one line for people
    std::vector<HostId> untaken;  ///< hosts whose freed room was not taken
    TimePoint at{};
    std::vector<RoomTaker> takers{};
};

/// What happened to one victim.
enum class Step {
    skipped,      ///< the fresh read found it unfit; detail says why
    notice_sent,  ///< written before its owner hears of it; detail: when it ends (`iso_time`)
    notified,     ///< its owner can know; detail as above
    stop_sent,    ///< it is stopped before its end, so that its guest shuts down
    withdrawn,    ///< it stays, and its owner can know; detail says why
    delete_sent,  ///< written before the call goes out
    delete_accepted,
    force_delete_sent,
    shelve_sent,   ///< in the place of `delete_sent`: it is shelved, and may come back
    gone,          ///< Placement no longer shows anything held by it
    vanished,      ///< it was gone before we deleted it; its room is credited
    failed,        ///< it still holds room after the deadline; detail says why
    left_shelved,  ///< it is off and on its host still, as its plan ended; it may come back
    unseen,        ///< the deadline passed, and it is unknown whether it holds room
};
/// A call that makes it go was sent for the first time: to delete it or to shelve it.
constexpr bool begins_eviction(Step step) {
    return step == Step::delete_sent || step == Step::shelve_sent;
}
/// A call that makes it go was sent.
constexpr bool sends_eviction(Step step) {
    return begins_eviction(step) || step == Step::force_delete_sent;
}
std::string_view to_string(Step step);
std::optional<Step> step_from(std::string_view text);

struct StepEntry {
    ServerId server;
    Step step{};
    std::string detail;
    TimePoint at{};
};

/// Has this request been seen before?
struct Admission {
    bool first = false;              ///< it is new, and now recorded
    std::optional<Outcome> outcome;  ///< how it ended, if it did
};

/// One round of a cull, as decided.
struct PlanEntry {
    int round = 0;  ///< 1, 2, ...
    TimePoint at{};
    Decision decision;  ///< with all reasons
};

/// A request with its whole record.
struct RequestRecord {
    Request request;
    TimePoint received_at{};
    std::vector<PlanEntry> plans;
    std::vector<StepEntry> steps;
    std::optional<Outcome> outcome;
    std::optional<FreedRoomResult> freed_room{};
};
/// Did it end before it was served? Then it may never have been known what it asks for.
bool not_served(const RequestRecord& record);
/// It ended, by a search of nova-scheduler's that was not finished, or left hosts or servers out:
/// Nova's message of the same failure has a time of its own, all hosts, and all servers.
bool was_only_a_search(const RequestRecord& record);
/// Of so many planned slots, those that came free if only some victims were deleted.
int slots_freed_by(int planned, int deleted, int victims);
/// With as many slots as its last plan freed; as it was asked, if none was deleted.
Request as_freed(const RequestRecord& record);

/// One line of `history`.
struct RequestSummary {
    Request request;
    TimePoint received_at{};
    int victims = 0;  ///< servers whose deletion was sent
    std::optional<Outcome> outcome;
    std::optional<FreedRoomResult> freed_room{};
    int planned = 0;  ///< servers that its plans chose
};

/// A server whose deletion was sent; name, project and host are those of the plan that chose it.
struct VictimEntry {
    TimePoint
        at{};  ///< when the deletion that stands was sent; of a planned one: when its request ended
    RequestId request;
    ServerId server;
    std::string name;
    ProjectId project;
    std::string host;            ///< service host
    std::string project_name{};  ///< as the plan had it; empty: not known
};

/// Those of one record, in the order of their deletions. A deletion that did not happen (its victim
/// was skipped afterwards) is none.
std::vector<VictimEntry> victims_of(const RequestRecord& record);

/// A server that a plan of a request chose, whether it was deleted or not.
struct ChosenServer {
    RequestId request;
    TimePoint received_at{};  ///< when the request was
    ServerId server;
    std::string name;
    ProjectId project;
    std::string host;            ///< service host
    std::string project_name{};  ///< as the plan had it; empty: not known
};

/// What is looked for among requests or victims; what is empty leaves nothing out.
struct JournalQuery {
    std::optional<TimePoint> since{};  ///< requests: received; victims: their deletion was sent
    std::optional<TimePoint> until{};  ///< before that
    std::string project{};             ///< id; requests: the requester's; victims: their own
    std::string host{};                ///< service host of victims
    std::string flavor{};              ///< name; as of projects
    /// Id or name of a chosen server; requests: or a requester's, or how the request's id begins.
    std::string server{};
    std::optional<OutcomeKind> outcome{};  ///< of the request
    bool under_way = false;                ///< it has none yet
    bool planned = false;                  ///< victims: what dry runs would have deleted
    std::string kind{};                    ///< events: of that kind alone
    std::string after{};                   ///< requests: only those older than this one, by its id
    std::string id_begins{};               ///< requests: how their id begins; found by it at once
    /// For a client: all other calls of the journal go first, and it fails if it takes too long.
    bool patient = false;
    int skip = 0;  ///< so many of the newest that fit are left out
    int limit = 20;
};

/// What the journal knows of the values that a query names, at any time. What it does not name is
/// known.
struct KnownValues {
    std::vector<ProjectId> projects{};  ///< the one of that id; else those that had that name
    bool host = true;
    bool flavor = true;
};

/// A message that did not become a request, or joined one.
struct MessageEntry {
    std::string message_id;
    std::string event_type;
    RequestId request;    ///< empty if none
    std::string verdict;  ///< `joined`, `duplicate`, `retried`, `refused`, `ignored`, `too-old`,
                          ///< `other-plan`, `malformed`
    std::string reason;
    TimePoint at{};
};

/// Something that the operator or the reaper did to the reaper itself.
struct JournalEvent {
    /// `paused`, `resumed`, `breaker-opened`, `project-breaker-opened`, `shape-cooldown`,
    /// `clock-stepped`, ...
    std::string kind;
    std::string reason;  ///< one line for people
    TimePoint at{};
};

/// `reserved` of one inventory that the reaper raised, so that no new revocable server takes room
/// that is promised to a request. One for each provider and class at a time.
struct InventoryHold {
    ProviderId provider;
    ResourceClass resource_class;
    HostId host;  ///< whose tree the provider belongs to
    std::string host_name;
    Amount before = 0;  ///< `reserved` as it was
    Amount set = 0;     ///< as the reaper set it
    RequestId request;  ///< the first one that it was set for
    TimePoint since{};
};

/// How a hold ended.
enum class InventoryHoldEndKind {
    given_back,  ///< `reserved` is as it was
    changed,     ///< another client set `reserved` meanwhile: it is theirs
    gone,        ///< the provider, or its inventory of the class, is no more
    not_set,     ///< it never came to be
};
std::string_view to_string(InventoryHoldEndKind kind);

struct InventoryHoldEnd {
    InventoryHoldEndKind kind{};
    std::string reason;  ///< one line for people; may be empty
    TimePoint at{};
};

/// Counts of what happened since a time. The maps have no zeros.
struct JournalTotals {
    std::map<OutcomeKind, std::int64_t> outcomes;  ///< requests that ended
    std::int64_t under_way = 0;                    ///< requests without an outcome, now
    std::int64_t victims = 0;                      ///< as of victims_since
    std::map<FreedRoomResultKind, std::int64_t>
        freed_rooms;  ///< culls; the room of `wasted` ones went unused
    std::map<std::string, std::int64_t> safeguards;  ///< refusals by the word that explains them
    std::map<std::string, std::int64_t> messages;    ///< by verdict
    std::map<std::string, std::int64_t> events;      ///< by kind
};

/// What happened in one slot of time. The maps have no zeros.
struct TimelineSlot {
    std::map<OutcomeKind, std::int64_t> outcomes;  ///< requests that ended
    std::map<FreedRoomResultKind, std::int64_t> freed_rooms;
    std::int64_t victims = 0;  ///< as of victims_since
    /// Of the rooms, those that searches and claims at the gateway waited for, and of these those
    /// that their requesters took: boots that succeeded at the first try.
    std::int64_t waited_for = 0, first_tries = 0;

    friend bool operator==(const TimelineSlot&, const TimelineSlot&) = default;
};

/// Slots by number, from 0 on; those in which nothing happened are left out.
using Timeline = std::map<std::int64_t, TimelineSlot>;

}  // namespace reaper
