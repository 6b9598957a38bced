// What is new in the journal since the last look, for who follows it: a line for each thing that
// happened, oldest first. Looks at the newest entries; what is older than those is not told of.
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

private:
    struct Seen {
        bool ended = false;
        bool room_known = false;
    };
    std::map<RequestId, Seen> seen_;  ///< of the last look
};

/// Victims, as their deletions are sent.
class VictimNews {
public:
    std::vector<NewsLine> look(const std::vector<VictimEntry>& newest);

private:
    std::set<std::pair<RequestId, ServerId>> seen_;
};

}  // namespace reaper::report
