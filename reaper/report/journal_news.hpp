// What is new in the journal since the last look, for who follows it: a line for each thing that
// happened, oldest first. Looks at the newest entries: as many as reach back to what was seen.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
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

/// Requests: received, ended, what became of the room.
class RequestNews {
public:
    /// `newest`: as the journal lists them, newest first.
    std::vector<NewsLine> look(const std::vector<RequestSummary>& newest);
    /// Whether nothing new can be older than these: they go back to one that was seen, and to all
    /// that were not over, if that is not long ago. True before the first look.
    bool reach(const std::vector<RequestSummary>& newest) const;

private:
    struct Seen {
        bool ended = false;
        bool room_known = false;
    };
    std::map<RequestId, Seen> seen_;                ///< of the last look
    TimePoint oldest_not_over_ = TimePoint::max();  ///< when it was received
};

/// Victims, as their deletions are sent.
class VictimNews {
public:
    std::vector<NewsLine> look(const std::vector<VictimEntry>& newest);
    bool reach(const std::vector<VictimEntry>& newest) const;

private:
    std::set<std::pair<RequestId, ServerId>> seen_;
};

}  // namespace reaper::report
