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
#include "reaper/ports/task.hpp"

namespace reaper {

/// How a request ended.
enum class OutcomeKind {
    freed,          ///< Placement shows the room
    already_there,  ///< the room was there without a kill
    not_enough,     ///< not enough revocable servers: nobody died
    refused,        ///< revocable requester, requester gone, no room can help
    incomplete,     ///< some victims died, but the room did not come (in time)
    failed,         ///< an outside failure outlasted all retries; nobody died
    dry_run,        ///< reported only
};
std::string_view to_string(OutcomeKind kind);
std::optional<OutcomeKind> outcome_kind_from(std::string_view text);

struct Outcome {
    OutcomeKind kind{};
    std::string reason;  ///< one line for people
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
    failed,    ///< detail says why
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
};

/// One line of `history`.
struct StoryLine {
    Request request;
    TimePoint received_at{};
    int victims = 0;  ///< servers whose deletion was sent
    std::optional<Outcome> outcome;
};

/// A message that did not become a request, or joined one.
struct MessageEntry {
    std::string message_id;
    std::string event_type;
    RequestId request;    ///< empty if none
    std::string verdict;  ///< `joined`, `duplicate`, `ignored`, `too-old`, `malformed`
    std::string reason;
    TimePoint at{};
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

    /// Requests without an outcome, oldest first: work to resume after a restart.
    virtual ResultTask<std::vector<Story>> unfinished() = 0;
    /// Finished requests that ended at or after `since` (their room may still be promised).
    virtual ResultTask<std::vector<Story>> finished_since(TimePoint since) = 0;
    /// Newest first.
    virtual ResultTask<std::vector<StoryLine>> list(int limit) = 0;
    virtual ResultTask<std::optional<Story>> story(RequestId id) = 0;
    /// Messages newest first.
    virtual ResultTask<std::vector<MessageEntry>> messages(int limit) = 0;
};

}  // namespace reaper
