// `reaper hosts`: one picture of the cloud.
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/cli/commands.hpp"
#include "reaper/cli/composition.hpp"
#include "reaper/cli/run_task.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/render.hpp"
#include "reaper/service/policy.hpp"

namespace reaper::cli {

ExitCode show_hosts(const GlobalOptions& global, const Terminal& terminal) {
    const auto complain = [&](const std::string& line) { terminal.complain(line); };
    const auto fail = [&](ExitCode code, const Error& error) {
        terminal.complain(error.what);
        return code;
    };
    // `check` tells warnings; here they would only stand in the way.
    const auto hint = [](const std::string& line) { spdlog::info("{}", line); };
    const auto settings = load_config(global.config_file, complain, hint);
    if (!settings) return ExitCode::usage;
    const auto policy = compile_policy(settings->policy);
    if (!policy) return fail(ExitCode::usage, policy.error());

    boost::asio::io_context io{1};
    auto cloud = connect_cloud(io, *settings);
    if (!cloud) return fail(ExitCode::usage, cloud.error());
    std::function<void(std::size_t, std::size_t)> progress = [&](std::size_t done,
                                                                 std::size_t total) {
        terminal.progress("reading the cloud: " + std::to_string(done) + " of " +
                          std::to_string(total) + " resource providers");
    };
    terminal.progress("reading the cloud ...");
    auto picture =
        run_task(io, read_picture(cloud->ports(), (*policy)->taggers, std::move(progress)));
    terminal.end_progress();
    if (!picture) return fail(ExitCode::failed, picture.error());
    const Snapshot& snapshot = picture->snapshot;
    terminal.answer(terminal.json() ? report::dump(report::to_json(snapshot), 2) + "\n"
                                    : report::render_hosts(
                                          snapshot, terminal.render_options(snapshot.taken_at)));
    return ExitCode::ok;
}

}  // namespace reaper::cli
