// What is new in the journal since the last look: a line for each thing that happened, oldest
// first. Looks at the newest entries: as many as reach back to what was seen.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reaper/ports/journal.hpp"

namespace reaper::report {

struct NewsLine {
    TimePoint at{};
    std::string text;  ///< one line, safe to show, without its end
    /// The entry as `reaper history --json` has it; of a request with `news`: received, ended or
    /// freed-room.
    nlohmann::json json;
};

/// What lay before the first look: of an entry that comes into sight later, as when a look goes far
/// back, only what happened since is new.
class BeforeFirstLook {
public:
    /// Of the first look: its oldest entry, the newest time, and whether nothing lay before.
    void note(TimePoint oldest, TimePoint newest, bool all) {
        if (std::exchange(looked_, true) || all) return;
        oldest_ = oldest;
        newest_ = newest;
    }
    /// An entry of `at` that was not seen was there anyway.
    bool has(TimePoint at) const { return oldest_ && at < *oldest_; }
    /// It was reported, or left out, by then.
    bool over_by_then(TimePoint at) const { return oldest_ && at <= newest_; }

private:
    bool looked_ = false;
    std::optional<TimePoint> oldest_;
    TimePoint newest_{};
};

/// Requests: received, ended, what happened to the room.
class RequestNews {
public:
    /// `newest`: as the journal lists them, newest first. `all`: it has no others.
    std::vector<NewsLine> look(const std::vector<RequestSummary>& newest, bool all = false);
    /// Whether nothing new can be older than these: they go back to one that was seen, and to all
    /// that were not over, if that is not long ago. True before the first look.
    bool reach(const std::vector<RequestSummary>& newest) const;

private:
    struct Seen {
        bool ended = false;
        bool room_known = false;
    };
    /// Since the first look, so that a longer look back repeats nothing.
    std::map<RequestId, Seen> seen_;
    BeforeFirstLook before_;
    TimePoint oldest_not_over_ = TimePoint::max();  ///< when it was received
};

/// Victims, as their deletions are sent.
class VictimNews {
public:
    std::vector<NewsLine> look(const std::vector<VictimEntry>& newest, bool all = false);
    bool reach(const std::vector<VictimEntry>& newest) const;

private:
    std::set<std::pair<RequestId, ServerId>> seen_;  ///< since the first look
    BeforeFirstLook before_;
};

}  // namespace reaper::report
