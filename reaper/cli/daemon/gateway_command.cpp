// `reaper gateway`: the gateway alone.
#include <boost/asio/io_context.hpp>
#include <csignal>
#include <utility>
#include <variant>
#include <vector>

#include "config/environment.hpp"
#include "config/findings.hpp"
#include "config/loader.hpp"
#include "reaper/cli/arguments/commands.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/daemon/daemon_shell.hpp"
#include "reaper/daemon/gateway.hpp"
#include "reaper/daemon/logging.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper::cli {

ExitCode carry_out(const GlobalOptions& global, const GatewayCommand&, const Terminal& terminal) {
    std::signal(SIGPIPE, SIG_IGN);
    const auto complain = daemon_lines(terminal, spdlog::level::err);
    config::Environment environment = config::system_environment();
    environment.open_module = nullptr;  // none of their parts is needed
    auto loaded = config::load_gateway(global.config_file, environment);
    if (const auto* const errors = std::get_if<std::vector<config::ConfigError>>(&loaded)) {
        for (const auto& error : *errors) complain(config::to_string(error));
        return config::only_unreadable(*errors) ? ExitCode::failed : ExitCode::usage;
    }
    auto& settings = std::get<config::GatewaySettings>(loaded);
    set_up_logging(daemon_log(settings.log, global.log_level.value_or(settings.log.level),
                              terminal.error_color()));

    boost::asio::io_context io{1};
    std::optional<Cloud> cloud;
    config::Settings of_shell;
    of_shell.cloud = settings.cloud;
    of_shell.http = settings.http;
    of_shell.start_within = settings.start_within;
    if (known_placement_url(settings.gateway, settings.cloud).empty()) {
        auto connected = connect_cloud(io, of_shell);
        if (!connected) {
            spdlog::error("{}", connected.error().what);
            return ExitCode::usage;
        }
        cloud = std::move(*connected);
    }
    DaemonShell shell(io, of_shell, std::nullopt);
    Gateway gateway(io, {settings.gateway, settings.cloud, settings.http},
                    cloud ? cloud->parts.session.get() : nullptr,
                    [&shell](const ServiceStatus& status) { shell.on_status(status); });
    if (const auto listening = gateway.listen(); !listening) {
        spdlog::error("{}", listening.error().what);
        return listening.error().code == Errc::bad_input ? ExitCode::usage : ExitCode::failed;
    }
    spdlog::info("reaper {} starts as a gateway, configuration {}", REAPER_VERSION,
                 global.config_file);
    return shell.run(gateway, false);
}

}  // namespace reaper::cli
