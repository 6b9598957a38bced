// `reaper hosts`: one view of the cloud.
#include <utility>

#include "reaper/cli/cloud_view.hpp"
#include "reaper/cli/commands.hpp"
#include "reaper/cli/list_output.hpp"
#include "reaper/cli/offline.hpp"
#include "reaper/report/hosts_tables.hpp"
#include "reaper/report/json.hpp"

namespace reaper::cli {
namespace {

ExitCode show(const Snapshot& snapshot, const HostsCommand& command, const Terminal& terminal) {
    if (command.servers)
        return show_list(terminal,
                         {report::servers_table(snapshot),
                          [&snapshot] { return report::servers_json(snapshot); }, "servers"});
    return show_list(terminal, {report::hosts_table(snapshot),
                                [&snapshot] { return report::to_json(snapshot); }, "hosts"});
}

ExitCode show_file(const GlobalOptions& global, const HostsCommand& command,
                   const Terminal& terminal) {
    auto policy = offline_policy(global, [&](const std::string& line) { terminal.complain(line); });
    if (!policy) return ExitCode::usage;
    auto cloud = open_snapshot(command.snapshot_file, std::move(*policy), global.config_given);
    if (!cloud) return terminal.fail(ExitCode::usage, cloud.error());
    return show(cloud->cache.snapshot, command, terminal);
}

}  // namespace

ExitCode show_hosts(const GlobalOptions& global, const HostsCommand& command,
                    const Terminal& terminal) {
    if (!command.snapshot_file.empty()) return show_file(global, command, terminal);
    const auto settings = settings_for_looking(global, terminal);
    if (!settings) return ExitCode::usage;
    const auto policy = compile_policy(settings->policy);
    if (!policy) return terminal.fail(ExitCode::usage, policy.error());

    boost::asio::io_context io{1};
    auto cloud = connect_cloud(io, *settings);
    if (!cloud) return terminal.fail(ExitCode::usage, cloud.error());
    const auto cache = cloud_view(io, *cloud, **policy, terminal);
    if (!cache) return terminal.fail(ExitCode::failed, cache.error());
    return show(cache->snapshot, command, terminal);
}

}  // namespace reaper::cli
