// `reaper config`: what is in effect, or only whether it is right.
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <string>
#include <utility>

#include "config/loader.hpp"
#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/daemon/settings_json.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/daemon/metrics_source.hpp"
#include "reaper/report/json.hpp"

namespace reaper::cli {
namespace {

constexpr const char* credentials = "/run/credentials/";

/// What systemd gives to a service (LoadCredential=) is for its main process alone: what checks the
/// configuration before a reload, or on a person's behalf, may not read it. In its place stands
/// what is right as a password and as a URL.
config::Environment without_credentials(const Terminal& terminal, bool& any) {
    config::Environment environment = config::system_environment();
    environment.read_file = [read = environment.read_file, &terminal,
                             &any](const std::string& path) {
        Result<config::FileText> file = read(path);
        if (file || !path.starts_with(credentials)) return file;
        terminal.warn(path + ": is for the service alone; not checked");
        any = true;
        return Result<config::FileText>{config::FileText{"amqp://not-read@localhost/", false}};
    };
    return environment;
}

/// What those would refuse who use the settings, before they ask anybody. `unread`: certificates
/// and secrets of theirs may be for the service alone.
std::optional<Error> wrong_for_its_users(const config::Settings& settings, bool unread) {
    if (const auto compiled = compile_settings(settings); !compiled) return compiled.error();
    if (unread) return std::nullopt;
    boost::asio::io_context io{1};
    const auto cloud = connect_cloud(io, settings);
    if (!cloud) return cloud.error();
    const auto& prometheus = settings.oversubscription.prometheus;
    if (prometheus.url.empty()) return std::nullopt;
    const auto metrics = connect_metrics(io.get_executor(), prometheus, *cloud->clock);
    return metrics ? std::nullopt : std::optional<Error>{metrics.error()};
}

ExitCode check_config(const GlobalOptions& global, const Terminal& terminal) {
    std::vector<config::ConfigError> warnings;
    bool unread = false;
    const auto loaded =
        config::load_settings(global.config_file, without_credentials(terminal, unread), &warnings);
    for (const auto& warning : warnings) terminal.warn(config::to_string(warning));
    if (const auto* const errors = std::get_if<std::vector<config::ConfigError>>(&loaded)) {
        for (const auto& error : *errors) terminal.complain(config::to_string(error));
        return ExitCode::usage;
    }
    if (const auto wrong = wrong_for_its_users(std::get<config::Settings>(loaded), unread)) {
        terminal.complain(global.config_file + ": " + wrong->what);
        return ExitCode::usage;
    }
    return show_document(
        terminal,
        [&] {
            return nlohmann::json{{"file", global.config_file}, {"valid", true}};
        },
        [&] { return global.config_file + ": the configuration is valid\n"; });
}

/// Where each value comes from, by the file and this process's own environment.
ExitCode show_origins(const GlobalOptions& global, const Terminal& terminal) {
    const auto all = config::origins(global.config_file, config::system_environment());
    if (all.empty()) {
        terminal.complain(global.config_file +
                          ": can't be read, or is no YAML; 'reaper config --check' tells more");
        return ExitCode::usage;
    }
    const auto origin_of = [](const config::KeyOrigin& each) {
        return each.from.empty() ? std::string{"default"} : each.from;
    };
    return show_document(
        terminal,
        [&] {
            nlohmann::json keys = nlohmann::json::array();
            for (const auto& each : all)
                keys.push_back({{"key", each.key},
                                {"variable", each.variable},
                                {"from", origin_of(each)},
                                {"expected", each.expected}});
            return nlohmann::json{{"version", report::json_version},
                                  {"file", global.config_file},
                                  {"keys", std::move(keys)}};
        },
        [&] {
            std::size_t widest = 0;
            for (const auto& each : all) widest = std::max(widest, each.variable.size());
            std::string text;
            for (const auto& each : all)
                text += each.variable + std::string(widest - each.variable.size() + 2, ' ') +
                        origin_of(each) + "\n";
            return text;
        });
}

}  // namespace

ExitCode show_config(const GlobalOptions& global, const ConfigCommand& command,
                     const Terminal& terminal) {
    if (command.check) return check_config(global, terminal);
    if (command.env) return show_origins(global, terminal);
    const auto complain = [&](const std::string& line) { terminal.complain(line); };
    const auto warn = [&](const std::string& line) { terminal.warn(line); };
    const auto settings = load_config(global.config_file, complain, warn);
    if (!settings) return ExitCode::usage;
    return show_document(
        terminal, [&] { return to_json(*settings); }, [&] { return config::to_yaml(*settings); });
}

}  // namespace reaper::cli
