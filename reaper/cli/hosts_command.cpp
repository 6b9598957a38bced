// `reaper hosts`: one view of the cloud.
#include <algorithm>
#include <tuple>
#include <utility>

#include "reaper/cli/cloud_view.hpp"
#include "reaper/cli/commands.hpp"
#include "reaper/cli/daemon_api.hpp"
#include "reaper/cli/list_output.hpp"
#include "reaper/cli/offline.hpp"
#include "reaper/report/hosts_tables.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/json_values.hpp"
#include "reaper/report/snapshot_parts.hpp"

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

/// A page of the daemon's cloud, added to what there is; the place of the next one, or nothing.
Result<std::string> take_page(const nlohmann::json& said, Snapshot& snapshot) {
    return report::read_json(said, "snapshot", [&](const JsonPlace& in) {
        snapshot.taken_at = in["taken_at"].time();
        snapshot.remarks =
            report::list(in["remarks"], [](const JsonPlace& each) { return each.text(); });
        for (const std::string& name : in["revocable_classes"].text_set())
            snapshot.revocable_classes.emplace(name);
        in["hosts"].each([&](const JsonPlace& each) {
            auto host = report::host_from_json(each.value());
            if (!host) each.fail(host.error().what);
            snapshot.hosts.push_back(std::move(*host));
        });
        std::string next;
        in["hosts_links"].each([&](const JsonPlace& link) { next = link["href"].text(); });
        if (!next.empty() && !next.starts_with("/v1/snapshot?"))
            in.fail("its next page is elsewhere");
        return next;
    });
}

ExitCode hosts_remotely(const GlobalOptions& global, const HostsCommand& command,
                        const Terminal& terminal) {
    constexpr int most_pages = 10'000;
    auto api = daemon_api(global, terminal);
    if (!api) return ExitCode::usage;
    Snapshot snapshot;
    std::string target = "/v1/snapshot";
    for (int page = 0; page < most_pages && !target.empty(); ++page) {
        ExitCode code{};
        const auto said = api->get(target, code);
        if (!said) return code;
        auto next = taken(take_page(*said, snapshot), *api, terminal, code);
        if (!next) return code;
        target = std::move(*next);
    }
    if (!target.empty()) {
        terminal.complain(api->name() + ": its list of hosts has no end");
        return ExitCode::failed;
    }
    std::sort(snapshot.hosts.begin(), snapshot.hosts.end(), [](const Host& a, const Host& b) {
        return std::tie(a.name, a.id) < std::tie(b.name, b.id);
    });
    return show(snapshot, command, terminal);
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
    const auto cache = cloud_view(io, *cloud, **policy, terminal);
    if (!cache) return terminal.fail(ExitCode::failed, cache.error());
    return show(cache->snapshot, command, terminal);
}

}  // namespace reaper::cli
