// The command line as plain data: what the user asked for, before anything is read or called.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "reaper/cli/exit_code.hpp"
#include "reaper/model/resources.hpp"

namespace reaper::cli {

enum class ColorMode { automatic, always, never };

/// Accepted before and after the command.
struct GlobalOptions {
    std::string config_file = "/etc/reaper/reaper.yaml";
    bool json = false;
    std::optional<std::string> log_level;  ///< trace, debug, info, warning, error
    ColorMode color = ColorMode::automatic;
};

struct RunCommand {
    bool dry_run = false;
};

struct PlanCommand {
    std::vector<std::string> notifications;  ///< files; `-` is stdin
    Resources resources;                     ///< empty when notifications are given
    int slots = 1;
    std::string project;  ///< id or name; set with `resources`
    std::optional<std::string> availability_zone;
    std::vector<std::string> required_traits, forbidden_traits;
    std::optional<std::string> strategy;
    std::optional<int> alternatives;
};

struct HostsCommand {};
struct CheckCommand {};
struct ConfigCommand {};
struct StrategiesCommand {};
struct TaggersCommand {};

struct HistoryCommand {
    enum class What { list, show, messages };
    What what = What::list;
    int limit = 20;
    std::string request;  ///< of `show`
};

using Command = std::variant<RunCommand, PlanCommand, HostsCommand, CheckCommand, HistoryCommand,
                             StrategiesCommand, TaggersCommand, ConfigCommand>;

struct Arguments {
    GlobalOptions global;
    Command command;
};

/// Nothing to run: help or version was asked for (`out`), or the line is wrong (`err`).
struct Leave {
    ExitCode code{};
    std::string out;
    std::string err;  ///< one line without the `reaper: ` prefix
};

/// `argv[0]` is the program; the environment gives REAPER_CONFIG.
std::variant<Arguments, Leave> parse_arguments(int argc, const char* const* argv);

}  // namespace reaper::cli
