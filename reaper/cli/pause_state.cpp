#include "reaper/cli/pause_state.hpp"

namespace reaper::cli {

std::optional<PauseNote> pause_in_force(const std::string& pause_file) {
    auto note = PauseFile{pause_file}.note();
    return note ? note : PauseFile{breaker_file(pause_file)}.note();
}

}  // namespace reaper::cli
