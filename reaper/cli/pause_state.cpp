#include "reaper/cli/pause_state.hpp"

#include "reaper/model/time_text.hpp"

namespace reaper::cli {

std::optional<PauseNote> pause_in_force(const std::string& pause_file) {
    auto note = PauseFile{pause_file}.note();
    return note ? note : PauseFile{breaker_file(pause_file)}.note();
}

nlohmann::json json_of(const std::optional<PauseNote>& note) {
    if (!note) return nullptr;
    return {{"by", note->by},
            {"reason", note->reason},
            {"at", iso_time(note->at)},
            {"line", note->line()}};
}

}  // namespace reaper::cli
