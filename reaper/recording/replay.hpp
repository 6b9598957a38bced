// A recording decided again: as its own configuration would decide, and as another one would.
//
// Each request is decided in the cloud as it was recorded. What an earlier decision of the replay
// would have changed is not played on, but for two things: no server is deleted twice, and its
// victims count against the limits. Circuits (breaker, project_breaker, shape_cooldown) are as they
// were recorded: what would have happened to other room is unknown. Deterministic.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reaper/decision/policy.hpp"
#include "reaper/recording/lines.hpp"

namespace reaper::recording {

// Reads a recording in the order in which it was written.

/// What was found, beside the lines themselves.
struct PlaybackEnd {
    int segments = 0;
    std::vector<std::string> remarks;  ///< what is missing or damaged, for people
};

/// Calls `visit` with each line of all segments, the oldest first. What a crash left half written
/// is passed over, with a remark; so is the rest of a segment with a line that makes no sense.
/// `bad_input` if the directory holds no recording, `storage` if it can't be read.
Result<PlaybackEnd> play_back(const std::string& directory,
                              const std::function<void(Line line)>& visit);

/// The policy that takes the place of a recorded one.
struct ReplayPolicy {
    std::shared_ptr<const CompiledPolicy> compiled;
    bool retags = false;  ///< its taggers say which servers are revocable, not the recording
};
using PolicyFor = std::function<Result<ReplayPolicy>(const PolicyLine& recorded)>;

/// What was, or would be, decided for one request.
struct Choice {
    Decision decision;
    double lost_hours = 0;  ///< how long its victims had existed, together
    double lost_vcpu_hours = 0;

    bool frees() const;                  ///< there are victims
    bool helps() const;                  ///< all slots are there, or would be
    std::string_view safeguard() const;  ///< what kept it from helping; empty: nothing of that kind
};

struct ReplayedRequest {
    Request request;
    TimePoint at{};
    bool surely = false;  ///< it was seen whole, and nothing of it was left out of the recording
    std::optional<Choice> recorded;  ///< by the recorded configuration; none: it can't be decided
    std::optional<Choice> asked;
    // As it happened:
    std::optional<Outcome> outcome;
    std::optional<FreedRoomResult> freed_room;
    std::set<ServerId> deleted;
};

struct Replay {
    bool anonymous = false;
    bool dry_run = true;                    ///< all of it
    std::optional<TimePoint> begins;        ///< the recording
    std::optional<TimePoint> from, to;      ///< its requests
    std::vector<ReplayedRequest> requests;  ///< in the order of coming
    int corrections = 0;                    ///< servers that had to go from a host: left out
    int undecided = 0;                      ///< requests before all hosts were recorded: left out
    int checked = 0;     ///< recorded plans that the recorded configuration was to make again
    int reproduced = 0;  ///< and did
    std::vector<RequestId> not_reproduced{};
    std::vector<std::string> remarks;
};

struct ReplayPeriod {
    std::optional<TimePoint> since, until;
};

/// `bad_input` if there is no recording, or a configuration can't be used; `storage` if it can't be
/// read.
Result<Replay> replay(const std::string& directory, const PolicyFor& recorded,
                      const PolicyFor& asked, const ReplayPeriod& period = {});

/// The same answer, as far as it is known which servers go from which hosts.
bool same_choice(const Decision& a, const Decision& b);

}  // namespace reaper::recording
