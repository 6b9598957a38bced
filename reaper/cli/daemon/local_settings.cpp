#include "reaper/cli/daemon/local_settings.hpp"

#include <cerrno>
#include <string>
#include <unistd.h>
#include <utility>
#include <variant>
#include <vector>

#include "config/dry_run.hpp"

namespace reaper::cli {

namespace {

constexpr const char* state_directory = "/var/lib/reaper";
/// As the sample configuration has it.
constexpr const char* look_socket = "/run/reaper-look/reaper.sock";

/// The group reaper-look may read the journal, but not the configuration, which carries secrets.
bool is_read_only(const GlobalOptions& global) {
    const char* const file = global.config_file.c_str();
    return !global.config_given && ::access(file, R_OK) != 0 && errno == EACCES &&
           ::access(state_directory, R_OK | X_OK) == 0;
}

/// Before it has ever run in earnest, what a dry run keeps is what there is to see.
void take_dry_run(config::LocalSettings& settings, const Terminal& terminal) {
    if (settings.dry_run || !settings.journal.in_file() ||
        ::access(settings.journal.path.c_str(), F_OK) == 0)
        return;
    auto kept = config::kept_by_dry_run(settings.journal, settings.record);
    if (::access(kept.journal.path.c_str(), F_OK) != 0) return;
    terminal.warn("no journal at " + settings.journal.path + " yet; taken instead: a dry run's, " +
                  kept.journal.path);
    settings.journal = std::move(kept.journal);
    settings.other_journal = config::JournalSettings{""};
    settings.record = std::move(kept.record);
}

}  // namespace

void take_modules(const GlobalOptions& global, const Terminal& terminal) {
    for (const auto& error : config::load_modules(global.config_file, config::system_environment()))
        terminal.warn(config::to_string(error));
}

std::optional<config::LocalSettings> local_settings(const GlobalOptions& global,
                                                    const Terminal& terminal) {
    config::Environment environment = config::system_environment();
    environment.open_module = nullptr;  // none of their parts is needed
    const bool looks = is_read_only(global);
    const bool may_ask = looks && ::access(look_socket, W_OK) == 0;
    if (looks) {
        std::string taken = std::string{state_directory} + " and the defaults";
        if (may_ask)
            taken = std::string{state_directory} + ", " + look_socket + " and the defaults";
        terminal.warn(global.config_file + ": may not be read; taken instead: " + taken);
        environment.read_file = [](const std::string&) { return config::FileText{"{}"}; };
    }
    auto loaded = config::load_local(global.config_file, environment);
    if (auto* const settings = std::get_if<config::LocalSettings>(&loaded)) {
        take_dry_run(*settings, terminal);
        if (may_ask) settings->admin.look_socket = look_socket;
        return std::move(*settings);
    }
    for (const auto& error : std::get<std::vector<config::ConfigError>>(loaded))
        terminal.complain(config::to_string(error));
    return std::nullopt;
}

}  // namespace reaper::cli
