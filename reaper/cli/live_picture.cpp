#include "reaper/cli/live_picture.hpp"

#include <functional>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {

std::optional<config::Settings> settings_for_looking(const GlobalOptions& global,
                                                     const Terminal& terminal) {
    return load_config(
        global.config_file, [&](const std::string& line) { terminal.complain(line); },
        [](const std::string& line) { spdlog::info("{}", line); });
}

Result<Picture> live_picture(boost::asio::io_context& io, const Cloud& cloud,
                             const CompiledPolicy& policy, const Terminal& terminal) {
    std::function<void(std::size_t, std::size_t)> progress = [&](std::size_t done,
                                                                 std::size_t total) {
        terminal.progress("reading the cloud: " + std::to_string(done) + " of " +
                          std::to_string(total) + " resource providers");
    };
    terminal.progress("reading the cloud ...");
    auto picture = run_task(io, read_picture(cloud.ports(), policy.taggers, std::move(progress)));
    terminal.end_progress();
    return picture;
}

}  // namespace reaper::cli
