// The program: parses the command line, runs the command, returns the exit code. The commands are
// in reaper/cli, so that tests link the same code.
#include <exception>
#include <iostream>
#include <new>
#include <string>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/channel/remote_cloud.hpp"
#include "reaper/daemon/logging.hpp"

namespace reaper::cli {
namespace {

ExitCode run_command(const Arguments& arguments, const Terminal& terminal) {
    const GlobalOptions& global = arguments.global;
    if (const auto why = why_not_remote(global, arguments.command)) {
        terminal.complain(*why);
        return ExitCode::usage;
    }
    return std::visit([&](const auto& command) { return carry_out(global, command, terminal); },
                      arguments.command);
}

ExitCode dispatch(const Arguments& arguments) {
    const GlobalOptions& global = arguments.global;
    const Terminal terminal(global);
    set_up_logging({LogStyle::command, global.log_level.value_or("warning"), terminal.error_color(),
                    global.json});
    return terminal.finish(run_command(arguments, terminal));
}

/// Before there is a terminal, or when it is too late for one.
int end_with(ExitCode code, const std::string& why, bool as_json) {
    std::cerr << (as_json ? error_line(why, code) : "reaper: " + why + "\n");
    return static_cast<int>(code);
}

/// Answers go to stdout; logs and errors, one line each, to stderr. Throws nothing.
int run(int argc, char** argv) {
    const bool as_json = asks_for_json(argc, argv);
    try {
        const auto parsed = parse_arguments(argc, argv);
        if (const auto* arguments = std::get_if<Arguments>(&parsed))
            return static_cast<int>(dispatch(*arguments));
        const Leave& leave = std::get<Leave>(parsed);
        std::cout << leave.out << std::flush;
        if (!leave.err.empty()) end_with(leave.code, leave.err, as_json);
        return static_cast<int>(leave.code);
    } catch (const std::bad_alloc&) {
        return end_with(ExitCode::failed, "there is not enough memory for this", as_json);
    } catch (const std::exception& error) {
        return end_with(ExitCode::failed,
                        std::string{"this should not happen, please report it: "} + error.what(),
                        as_json);
    }
}

}  // namespace
}  // namespace reaper::cli

/// Read by jemalloc when the program starts: few threads, and what is free goes back soon.
extern "C" const char* malloc_conf;
const char* malloc_conf = "narenas:1,dirty_decay_ms:1000,muzzy_decay_ms:0";

int main(int argc, char** argv) {
    return reaper::cli::run(argc, argv);
}
