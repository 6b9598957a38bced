#include "reaper/cli/output/watch.hpp"

namespace reaper::cli {

ExitCode watch(const Terminal& terminal, const std::function<ExitCode()>& frame,
               const std::function<bool()>& pause) {
    terminal.begin_frame();
    ExitCode code = frame();
    if (code != ExitCode::ok) return code;
    while (code != ExitCode::usage && pause()) {
        terminal.begin_frame();
        code = frame();
    }
    return code;
}

}  // namespace reaper::cli
