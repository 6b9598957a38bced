// `reaper snapshot`: one view of the cloud, as a file.
#include <iostream>
#include <utility>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/cli/channel/remote_cloud.hpp"
#include "reaper/cli/cloud/cloud_view.hpp"
#include "reaper/cli/output/whole_file.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/model/time.hpp"
#include "reaper/report/anonymize.hpp"
#include "reaper/report/json.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper::cli {
namespace {

std::size_t servers_of(const Snapshot& snapshot) {
    std::size_t count = 0;
    for (const Host& host : snapshot.hosts) count += host.servers.size();
    return count;
}

void tell(const report::SnapshotFile& file, const std::string& path, const Terminal& terminal) {
    const std::size_t hosts = file.snapshot.hosts.size();
    const std::size_t servers = servers_of(file.snapshot);
    if (terminal.json()) {
        const nlohmann::json answer{{"file", path}, {"hosts", hosts}, {"servers", servers}};
        return terminal.answer(report::dump(answer) + "\n");
    }
    terminal.answer(path + ": " + std::to_string(hosts) + " hosts, " + std::to_string(servers) +
                    " servers, as of " + iso_time(file.snapshot.taken_at) +
                    (file.anonymous ? ", anonymous" : "") + "\n");
}

ExitCode write(const report::SnapshotFile& file, const std::string& path,
               const Terminal& terminal) {
    if (path == "-") {
        report::write_snapshot(std::cout, file);
        std::cout.flush();
        if (std::cout) return ExitCode::ok;
        terminal.complain("stdout can't be written");
        return ExitCode::failed;
    }
    const auto written =
        write_whole_file(path, [&](std::ostream& out) { report::write_snapshot(out, file); });
    if (!written) return terminal.fail(ExitCode::failed, written.error());
    tell(file, path, terminal);
    return ExitCode::ok;
}

/// By the daemon that --api names: as it sees the cloud.
ExitCode snapshot_remotely(const GlobalOptions& global, const SnapshotCommand& command,
                           const Terminal& terminal) {
    auto api = daemon_api(global, terminal);
    if (!api) return ExitCode::usage;
    ExitCode code{};
    auto file = cloud_of(*api, terminal, code);
    if (!file) return code;
    terminal.warn(
        "the API tells neither metadata, tags and extra specs of servers nor aggregates: the "
        "servers are revocable as the daemon says, and a configuration can't tag them again");
    return write(command.anonymous ? report::anonymized(*file) : *file, command.out, terminal);
}

}  // namespace

ExitCode carry_out(const GlobalOptions& global, const SnapshotCommand& command,
                   const Terminal& terminal) {
    if (!global.api.url.empty()) return snapshot_remotely(global, command, terminal);
    const auto settings = settings_for_looking(global, terminal);
    if (!settings) return ExitCode::usage;
    const auto policy = compile_policy(settings->policy);
    if (!policy) return terminal.fail(ExitCode::usage, policy.error());

    boost::asio::io_context io{1};
    auto cloud = connect_cloud(io, *settings);
    if (!cloud) return terminal.fail(ExitCode::usage, cloud.error());
    report::SnapshotFile file;
    file.ledger = known_ledger(io, *settings, cloud->clock->now(), "written");
    auto cache = cloud_view(io, *cloud, **policy, terminal);
    if (!cache) return terminal.fail(cache.error());
    file.snapshot = std::move(cache->snapshot);
    file.tag_data = std::move(cache->tag_data);
    if (command.anonymous) file = report::anonymized(file);
    return write(file, command.out, terminal);
}

}  // namespace reaper::cli
