// Port: the durable record of every trigger, plan, deletion and outcome.
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
#include "reaper/runtime/task.hpp"

namespace reaper {

/// How a request ended.
enum class OutcomeKind {
    freed,           ///< Placement shows the room
    already_there,   ///< the room was there without a kill
    not_enough,      ///< not enough revocable servers: nobody died
    refused,         ///< revocable requester, requester gone, no room can help
    incomplete,      ///< some victims died, but the room did not come (in time)
    failed,          ///< an outside failure outlasted all retries; nobody died
    dry_run,         ///< reported only
    superseded,      ///< a newer request of the same server took its place
    handed_over,     ///< its message went to another reaper
    revocable_room,  ///< its res-type admits revocable room, and there is enough: nobody died
    revocable_only,  ///< it admits nothing else, and there is not enough: nobody died
};
std::string_view to_string(OutcomeKind kind);
std::optional<OutcomeKind> outcome_kind_from(std::string_view text);

struct Outcome {
    OutcomeKind kind{};
    std::string reason;  ///< one line for people
    TimePoint at{};
    /// The brake that refused it, as one word (`paused`, `limit-window`, `thrash`, ...); or empty.
    std::string brake{};
};

/// What became of the room that a cull freed.
enum class AftermathKind {
    taken,      ///< the requester, or its retry, got it
    elsewhere,  ///< it got room on another host
    wasted,     ///< nobody came: the cull helped nobody
};
std::string_view to_string(AftermathKind kind);
std::optional<AftermathKind> aftermath_kind_from(std::string_view text);

struct Aftermath {
    AftermathKind kind{};
    std::string reason;           ///< one line for people
    std::vector<HostId> untaken;  ///< hosts whose freed room was not taken
    TimePoint at{};
};

/// What happened to one victim.
enum class Step {
    spared,       ///< the fresh read found it unfit; detail says why
    delete_sent,  ///< written before the call goes out
    delete_accepted,
    force_delete_sent,
    gone,      ///< Placement shows nothing held by it any more
    vanished,  ///< it was gone before we deleted it; its room is credited
    failed,    ///< it still holds room after the deadline; detail says why
    unseen,    ///< the deadline passed, and whether it holds room could not be told
};
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

/// A request with its whole story.
struct Story {
    Request request;
    TimePoint received_at{};
    std::vector<PlanEntry> plans;
    std::vector<StepEntry> steps;
    std::optional<Outcome> outcome;
    std::optional<Aftermath> aftermath{};
};

/// One line of `history`.
struct StoryLine {
    Request request;
    TimePoint received_at{};
    int victims = 0;  ///< servers whose deletion was sent
    std::optional<Outcome> outcome;
    std::optional<Aftermath> aftermath{};
};

/// A server whose deletion was sent; name, project and host are those of the plan that chose it.
struct VictimEntry {
    TimePoint at{};  ///< when the deletion that stands was sent
    RequestId request;
    ServerId server;
    std::string name;
    ProjectId project;
    std::string host;  ///< service host
};

/// Those of one story, in the order of their deletions. A deletion that did not happen (its victim
/// was spared afterwards) is none.
std::vector<VictimEntry> victims_of(const Story& story);

/// A message that did not become a request, or joined one.
struct MessageEntry {
    std::string message_id;
    std::string event_type;
    RequestId request;    ///< empty if none
    std::string verdict;  ///< `joined`, `duplicate`, `ignored`, `too-old`, `malformed`
    std::string reason;
    TimePoint at{};
};

/// Something that the operator or the reaper did to the reaper itself.
struct Mark {
    std::string kind;    ///< `paused`, `resumed`, `breaker-opened`, `clock-stepped`, ...
    std::string reason;  ///< one line for people
    TimePoint at{};
};

/// `reserved` of one inventory that the reaper raised, so that no new revocable server takes room
/// that is promised to a request. One for each provider and class at a time.
struct RoomHold {
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
enum class HoldEndKind {
    given_back,  ///< `reserved` is as it was
    changed,     ///< somebody else set `reserved` meanwhile: it is theirs
    gone,        ///< the provider, or its inventory of the class, is no more
    not_set,     ///< it never came to be
};
std::string_view to_string(HoldEndKind kind);

struct HoldEnd {
    HoldEndKind kind{};
    std::string reason;  ///< one line for people; may be empty
    TimePoint at{};
};

/// How much happened since a moment. What did not happen is not in the maps.
struct JournalTotals {
    std::map<OutcomeKind, std::int64_t> outcomes;      ///< requests that ended
    std::int64_t under_way = 0;                        ///< requests without an outcome, now
    std::int64_t victims = 0;                          ///< as of victims_since
    std::map<AftermathKind, std::int64_t> aftermaths;  ///< culls; `wasted` helped nobody
    std::map<std::string, std::int64_t> brakes;        ///< refusals by the word that explains them
    std::map<std::string, std::int64_t> messages;      ///< by verdict
    std::map<std::string, std::int64_t> marks;         ///< by kind
};

class Journal {
public:
    virtual ~Journal() = default;
    /// Records the request if it is new. Nothing of a known one changes, but requesters not yet
    /// known are added. Durable on return, as every call here.
    virtual ResultTask<Admission> admit(Request request, TimePoint now) = 0;
    virtual ResultTask<void> add_plan(RequestId id, PlanEntry plan) = 0;
    virtual ResultTask<void> add_step(RequestId id, StepEntry step) = 0;
    virtual ResultTask<void> finish(RequestId id, Outcome outcome) = 0;
    virtual ResultTask<void> note_message(MessageEntry message) = 0;
    /// The first one of a request stays.
    virtual ResultTask<void> note_aftermath(RequestId id, Aftermath aftermath) = 0;
    virtual ResultTask<void> note_mark(Mark mark) = 0;

    /// Requests without an outcome, oldest first: work to resume after a restart.
    virtual ResultTask<std::vector<Story>> unfinished() = 0;
    /// Finished requests for which a deletion was sent, and that ended at or after `since`; the
    /// first to end first.
    virtual ResultTask<std::vector<Story>> culls_since(TimePoint since) = 0;
    /// Newest first.
    virtual ResultTask<std::vector<StoryLine>> list(int limit) = 0;
    virtual ResultTask<std::optional<Story>> story(RequestId id) = 0;
    /// Messages newest first.
    virtual ResultTask<std::vector<MessageEntry>> messages(int limit) = 0;
    /// Servers whose deletion was sent at or after `since`, oldest first.
    virtual ResultTask<std::vector<VictimEntry>> victims_since(TimePoint since) = 0;
    /// Stories with an aftermath noted at or after `since`, oldest first.
    virtual ResultTask<std::vector<Story>> aftermaths_since(TimePoint since) = 0;
    /// Newest first.
    virtual ResultTask<std::vector<Mark>> marks(int limit) = 0;
    virtual ResultTask<JournalTotals> totals(TimePoint since) = 0;
    /// Before `reserved` is raised. The first one of a provider and class stays until it ends.
    virtual ResultTask<void> add_hold(RoomHold hold) = 0;
    /// Of the one on that provider and class that has not ended; nothing if there is none.
    virtual ResultTask<void> end_hold(ProviderId provider, ResourceClass resource_class,
                                      HoldEnd end) = 0;
    /// Those that have not ended, oldest first.
    virtual ResultTask<std::vector<RoomHold>> holds() = 0;
};

}  // namespace reaper
