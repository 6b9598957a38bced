// `reaper hosts`: one view of the cloud.
#include <utility>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/cli/channel/remote_cloud.hpp"
#include "reaper/cli/cloud/cloud_view.hpp"
#include "reaper/cli/cloud/estimated_room.hpp"
#include "reaper/cli/cloud/host_filters.hpp"
#include "reaper/cli/cloud/offline.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/model/text.hpp"
#include "reaper/report/hosts_tables.hpp"
#include "reaper/report/json.hpp"
#include "reaper/runtime/run_task.hpp"
#include "reaper/triggers/flavor_search.hpp"

namespace reaper::cli {
namespace {

/// How to end where a host or a project is not found.
ExitCode not_there(const Error& why, const Terminal& terminal) {
    return terminal.fail(why.code == Errc::not_found ? ExitCode::unknown : ExitCode::usage, why);
}

ExitCode show(Snapshot whole, const EstimatedRoom& estimated, const HostsCommand& command,
              const Terminal& terminal) {
    HostFilters filters = command.filters;
    const auto host = host_in(whole, filters.host);
    if (!host) return not_there(host.error(), terminal);
    filters.host = *host;
    if (const auto why = unknown_zone_in(whole, filters.zone)) {
        terminal.complain(*why);
        return ExitCode::unknown;
    }
    const Snapshot snapshot = filtered(std::move(whole), filters, command.servers);
    if (command.servers)
        return show_list(terminal,
                         {report::servers_table(snapshot),
                          [&snapshot] { return report::servers_json(snapshot); }, "servers"});
    return show_list(terminal, {report::hosts_table(snapshot, estimated),
                                [&] { return report::to_json(snapshot, estimated); }, "hosts"});
}

ExitCode show_file(const GlobalOptions& global, const HostsCommand& command,
                   const Terminal& terminal) {
    auto policy = offline_policy(global, [&](const std::string& line) { terminal.complain(line); });
    if (!policy) return ExitCode::usage;
    auto cloud = open_snapshot(command.snapshot_file, std::move(*policy), global.config_given);
    if (!cloud) return terminal.fail(ExitCode::usage, cloud.error());
    // By its name too, as far as the file tells.
    const auto project = project_in(cloud->cache.snapshot, command.filters.project);
    if (!project) return not_there(project.error(), terminal);
    HostsCommand asked = command;
    asked.filters.project = *project;
    if (!has_flavor(cloud->cache.snapshot, asked.filters.flavor))
        return terminal.fail(ExitCode::unknown,
                             Error{Errc::not_found, "--flavor: there is no server of a flavor " +
                                                        in_quotes(asked.filters.flavor)});
    return show(std::move(cloud->cache.snapshot), {}, asked, terminal);
}

ExitCode hosts_remotely(const GlobalOptions& global, const HostsCommand& command,
                        const Terminal& terminal) {
    auto api = daemon_api(global, terminal);
    if (!api) return ExitCode::usage;
    ExitCode code{};
    auto cloud = cloud_of(*api, terminal, code);
    if (!cloud) return code;
    auto project = project_in(cloud->snapshot, command.filters.project);
    if (!project && project.error().code == Errc::not_found) {
        // It may be there without servers.
        auto found = project_by(*api, command.filters.project, terminal, code);
        if (!found) return code;
        project = std::move(*found);
    }
    if (!project) return not_there(project.error(), terminal);
    HostsCommand asked = command;
    asked.filters.project = *project;
    if (!has_flavor(cloud->snapshot, asked.filters.flavor)) {
        if (const auto why = why_no_flavor(*api, asked.filters.flavor)) {
            terminal.complain(*why);
            return ExitCode::unknown;
        }
    }
    const EstimatedRoom estimated = estimated_room(cloud->snapshot, *api);
    return show(std::move(cloud->snapshot), estimated, asked, terminal);
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
    if (!has_flavor(cache->snapshot, asked.filters.flavor)) {
        // It may be there without servers.
        const auto search = run_task(io, find_flavor(cloud->ports().compute, asked.filters.flavor));
        if (!search) return terminal.fail(search.error());
        if (!search->found)
            return terminal.fail(ExitCode::unknown,
                                 Error{Errc::not_found, "--flavor: " + search->why_not});
    }
    const EstimatedRoom estimated =
        local_estimated_room(cache->snapshot, settings->admin.asked_socket(), terminal);
    return show(std::move(cache->snapshot), estimated, asked, terminal);
}

}  // namespace reaper::cli
