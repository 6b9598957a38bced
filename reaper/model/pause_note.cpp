#include "reaper/model/pause_note.hpp"

#include "reaper/model/time_text.hpp"

namespace reaper {

std::string PauseNote::line() const {
    std::string text = by.empty() ? "" : "by " + by + " ";
    text += "since " + iso_time(at);
    if (!reason.empty()) text += ": " + reason;
    if (!trouble.empty()) text += (reason.empty() ? ": " : "; ") + trouble;
    return text;
}

}  // namespace reaper
