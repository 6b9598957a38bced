#include "reaper/cli/daemon/pause_state.hpp"

#include "reaper/report/text.hpp"

namespace reaper::cli {

std::optional<PauseNote> pause_in_force(const std::string& pause_file) {
    auto note = PauseFile{pause_file}.note();
    return note ? note : PauseFile{breaker_file(pause_file)}.note();
}

std::string resumed_text(const std::string& where, const std::optional<PauseNote>& paused,
                         const std::optional<PauseNote>& opened) {
    std::string text;
    if (paused) text = "resumed " + where + "; it was paused " + report::safe(paused->line());
    if (opened)
        text += (text.empty() ? "resumed " + where + "; it was stopped " : "; and stopped ") +
                report::safe(opened->line());
    return text.empty() ? "it was not paused " + where : text;
}

const char* const half_open_stays =
    "; its circuit breaker is half open, and stays so until the room of a cull is taken; to close "
    "it now: 'reaper pause', and 'reaper resume' when 'reaper history events' has the pause";

}  // namespace reaper::cli
