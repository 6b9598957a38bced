// `reaper hosts`: one view of the cloud.
#include <utility>

#include "reaper/cli/cloud_view.hpp"
#include "reaper/cli/commands.hpp"
#include "reaper/cli/daemon_api.hpp"
#include "reaper/cli/estimated_room.hpp"
#include "reaper/cli/host_filters.hpp"
#include "reaper/cli/list_output.hpp"
#include "reaper/cli/offline.hpp"
#include "reaper/cli/remote_cloud.hpp"
#include "reaper/report/hosts_tables.hpp"
#include "reaper/report/json.hpp"

namespace reaper::cli {
namespace {

ExitCode show(Snapshot whole, const EstimatedRoom& estimated, const HostsCommand& command,
              const Terminal& terminal) {
    if (const auto why = unknown_in(whole, command.filters)) {
        terminal.complain(*why);
        return ExitCode::unknown;
    }
    const Snapshot snapshot = filtered(std::move(whole), command.filters, command.servers);
    if (command.servers)
        return show_list(terminal,
                         {report::servers_table(snapshot),
                          [&snapshot] { return report::servers_json(snapshot); }, "servers"});
    return show_list(terminal, {report::hosts_table(snapshot, estimated),
                                [&] { return report::to_json(snapshot, estimated); }, "hosts"});
}

/// The project by its name too, as far as the servers' own snapshot tells.
ExitCode show_named(Snapshot whole, const EstimatedRoom& estimated, const HostsCommand& command,
                    const Terminal& terminal) {
    const auto project = project_in(whole, command.filters.project);
    if (!project) {
        const bool unknown = project.error().code == Errc::not_found;
        return terminal.fail(unknown ? ExitCode::unknown : ExitCode::usage, project.error());
    }
    HostsCommand asked = command;
    asked.filters.project = *project;
    return show(std::move(whole), estimated, asked, terminal);
}

ExitCode show_file(const GlobalOptions& global, const HostsCommand& command,
                   const Terminal& terminal) {
    auto policy = offline_policy(global, [&](const std::string& line) { terminal.complain(line); });
    if (!policy) return ExitCode::usage;
    auto cloud = open_snapshot(command.snapshot_file, std::move(*policy), global.config_given);
    if (!cloud) return terminal.fail(ExitCode::usage, cloud.error());
    return show_named(std::move(cloud->cache.snapshot), {}, command, terminal);
}

ExitCode hosts_remotely(const GlobalOptions& global, const HostsCommand& command,
                        const Terminal& terminal) {
    auto api = daemon_api(global, terminal);
    if (!api) return ExitCode::usage;
    ExitCode code{};
    auto cloud = cloud_of(*api, terminal, code);
    if (!cloud) return code;
    const EstimatedRoom estimated = estimated_room(cloud->snapshot, *api);
    return show_named(std::move(cloud->snapshot), estimated, command, terminal);
}

}  // namespace

ExitCode show_hosts(const GlobalOptions& global, const HostsCommand& command,
                    const Terminal& terminal) {
    if (!command.snapshot_file.empty()) return show_file(global, command, terminal);
    if (!global.api.url.empty()) return hosts_remotely(global, command, terminal);
    const auto settings = settings_for_looking(global, terminal);
    if (!settings) return ExitCode::usage;
    const auto policy = compile_policy(settings->policy);
    if (!policy) return terminal.fail(ExitCode::usage, policy.error());

    boost::asio::io_context io{1};
    auto cloud = connect_cloud(io, *settings);
    if (!cloud) return terminal.fail(ExitCode::usage, cloud.error());
    HostsCommand asked = command;
    if (const auto code = find_project(io, *cloud, asked.filters.project, terminal)) return *code;
    auto cache = cloud_view(io, *cloud, **policy, terminal);
    if (!cache) return terminal.fail(cache.error());
    const EstimatedRoom estimated =
        local_estimated_room(cache->snapshot, settings->admin.socket, terminal);
    return show(std::move(cache->snapshot), estimated, asked, terminal);
}

}  // namespace reaper::cli
