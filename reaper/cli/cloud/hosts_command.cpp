// `reaper hosts`: one view of the cloud.
#include "reaper/cli/cloud/hosts_command.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/cli/channel/remote_cloud.hpp"
#include "reaper/cli/cloud/cloud_view.hpp"
#include "reaper/cli/cloud/offline.hpp"
#include "reaper/cli/cloud/reading.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/decision/room_oracle.hpp"
#include "reaper/model/named_records.hpp"
#include "reaper/model/resources_text.hpp"
#include "reaper/model/text.hpp"
#include "reaper/planner/culling.hpp"
#include "reaper/report/culling.hpp"
#include "reaper/report/hosts_tables.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/table.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/run_task.hpp"
#include "reaper/triggers/flavor_search.hpp"

namespace reaper::cli {
namespace {

bool is_meant(const Server& server, const HostFilters& filters) {
    if (!filters.project.empty() && server.project.str() != filters.project) return false;
    if (!filters.flavor.empty() && server.flavor_name != filters.flavor) return false;
    return filters.type.empty() || (filters.type == "revocable") == server.revocable();
}

}  // namespace

Result<std::string> host_in(const Snapshot& snapshot, const std::string& written) {
    if (written.empty()) return written;
    std::vector<const Host*> hosts;
    for (const Host& host : snapshot.hosts) hosts.push_back(&host);
    const auto found = host_named(hosts, written);
    if (!found) return found.error();
    return (*found)->id.str();
}

Result<std::string> project_in(const Snapshot& snapshot, const std::string& written) {
    if (written.empty() || snapshot.project_names.contains(ProjectId{written})) return written;
    const auto is_its = [&](const Server& server) { return server.project.str() == written; };
    for (const Host& host : snapshot.hosts)
        if (std::ranges::any_of(host.servers, is_its)) return written;
    const auto named = projects_named(snapshot.project_names, written);
    if (named.size() == 1) return named.front().str();
    if (named.size() > 1)
        return Error{Errc::bad_input, "--project: " + several_projects(written, named)};
    return Error{Errc::not_found, "--project: no project of the id or name " + in_quotes(written) +
                                      " has servers there"};
}

bool has_flavor(const Snapshot& snapshot, const std::string& name) {
    const auto is_of = [&](const Server& server) { return server.flavor_name == name; };
    return name.empty() || std::ranges::any_of(snapshot.hosts, [&](const Host& host) {
               return std::ranges::any_of(host.servers, is_of);
           });
}

Snapshot filtered(Snapshot snapshot, const HostFilters& filters, bool servers) {
    const bool of_servers =
        !filters.project.empty() || !filters.flavor.empty() || !filters.type.empty();
    std::erase_if(snapshot.hosts, [&](Host& host) {
        if (!filters.host.empty() && host.id.str() != filters.host) return true;
        if (!filters.zone.empty() && host.availability_zone != filters.zone) return true;
        if (!of_servers) return false;
        const auto meant = [&](const Server& server) { return is_meant(server, filters); };
        if (servers) std::erase_if(host.servers, [&](const Server& each) { return !meant(each); });
        return std::ranges::none_of(host.servers, meant);
    });
    std::ranges::stable_sort(snapshot.hosts, [](const Host& a, const Host& b) {
        return report::natural_less(a.name, b.name);
    });
    return snapshot;
}

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
    if (!filters.zone.empty())
        if (const auto why = why_unknown_zone(filters.zone, CloudIndex{whole}))
            return terminal.fail(ExitCode::unknown, Error{Errc::not_found, *why});
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
        if (const auto why = why_no_flavor(*api, asked.filters.flavor))
            return terminal.fail(ExitCode::unknown, Error{Errc::not_found, *why});
    }
    const EstimatedRoom estimated = estimated_room(cloud->snapshot, *api);
    return show(std::move(cloud->snapshot), estimated, asked, terminal);
}

}  // namespace

ExitCode carry_out(const GlobalOptions& global, const HostsCommand& command,
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

// `reaper candidates`: where a server would fit if revocable ones made room.

namespace {

void by_name(std::vector<CullingCandidate>& candidates) {
    std::ranges::stable_sort(candidates, [](const auto& a, const auto& b) {
        return report::natural_less(a.host_name, b.host_name);
    });
}

/// The request that the command describes; a flavor is looked up elsewhere.
Request described(const CandidatesCommand& command) {
    Request request;
    request.resources = command.resources;
    return request;
}

/// What is asked of: a cloud, and the policy that protects servers there.
struct Asked {
    const CloudIndex& index;
    const Ledger& ledger;
    const CompiledPolicy& policy;
    TimePoint taken_at{};
};

ExitCode show(const Asked& asked, const CandidatesCommand& command, const Request& request,
              const Terminal& terminal) {
    const std::string& zone = command.zone;
    auto why = why_unknown(request, asked.index);
    if (!why && !zone.empty()) why = why_unknown_zone(zone, asked.index);
    if (why) return terminal.fail(ExitCode::unknown, Error{Errc::not_found, *why});
    const CullingQuestion question{request, asked.policy.scheduler, asked.index, asked.ledger};
    std::vector<CullingCandidate> candidates;
    for (const std::uint32_t row : asked.index.order()) {
        const Host& host = *asked.index.row(row).host;
        if (!zone.empty() && host.availability_zone != zone) continue;
        if (auto candidate = question.candidate(host, asked.ledger, asked.policy.protection))
            candidates.push_back(std::move(*candidate));
    }
    by_name(candidates);
    const Resources& resources = request.resources;
    const auto document = [&] {
        report::CullingJson list;
        for (const auto& candidate : candidates) list.add(candidate);
        return nlohmann::json::parse(list.finish(resources, asked.taken_at));
    };
    return show_list(terminal, {report::candidates_table(candidates, resources, asked.index.size()),
                                document, ""});
}

ExitCode show_file(const GlobalOptions& global, const CandidatesCommand& command,
                   const Terminal& terminal) {
    auto policy = offline_policy(global, [&](const std::string& line) { terminal.complain(line); });
    if (!policy) return ExitCode::usage;
    auto cloud = open_snapshot(command.snapshot_file, std::move(*policy), global.config_given);
    if (!cloud) return terminal.fail(ExitCode::usage, cloud.error());
    const CloudIndex index{cloud->cache.snapshot};
    return show({index, cloud->ledger, *cloud->policy, cloud->cache.snapshot.taken_at}, command,
                described(command), terminal);
}

/// By the daemon that --api names: on its cache, by its policy.
ExitCode candidates_remotely(const GlobalOptions& global, const CandidatesCommand& command,
                             const Terminal& terminal) {
    auto api = daemon_api(global, terminal);
    if (!api) return ExitCode::usage;
    ExitCode code{};
    const auto said =
        api->get(target_of("/v1/culling_candidates", {{"flavor", command.flavor},
                                                      {"resources", written(command.resources)},
                                                      {"zone", command.zone}}),
                 code, ExitCode::unknown);
    if (!said) return code;
    auto candidates = taken(report::candidates_from_json(*said), *api, terminal, code);
    if (!candidates) return code;
    const auto resources =
        taken(report::read_json(*said, "list of candidates",
                                [](const JsonPlace& in) { return in["resources"].resources(); }),
              *api, terminal, code);
    if (!resources) return code;
    by_name(*candidates);
    return show_list(terminal, {report::candidates_table(*candidates, *resources, std::nullopt),
                                [&said] { return *said; }, ""});
}

}  // namespace

ExitCode carry_out(const GlobalOptions& global, const CandidatesCommand& command,
                   const Terminal& terminal) {
    if (!command.snapshot_file.empty()) return show_file(global, command, terminal);
    if (!global.api.url.empty()) return candidates_remotely(global, command, terminal);
    const auto settings = settings_for_looking(global, terminal);
    if (!settings) return ExitCode::usage;

    boost::asio::io_context io{1};
    const auto reached = cloud_to_look_at(io, *settings, terminal);
    if (const auto* const code = std::get_if<ExitCode>(&reached)) return *code;
    const CloudToLookAt& look = std::get<CloudToLookAt>(reached);
    for (const auto& remark : look.remarks) spdlog::warn("{}", remark);
    std::variant<Request, ExitCode> built = described(command);
    if (!command.flavor.empty())
        built = of_named_flavor(io, look, described(command), command.flavor, terminal);
    if (const auto* const code = std::get_if<ExitCode>(&built)) return *code;
    const auto read = read_exactly(io, *settings, look, terminal);
    if (const auto* const code = std::get_if<ExitCode>(&read)) return *code;
    const CloudReading& reading = std::get<0>(read)->reading;
    for (const auto& remark : reading.remarks()) spdlog::warn("{}", remark);
    return show(
        {reading.cache().index(), reading.ledger(), *look.policy, reading.cache().ages().built_at},
        command, std::get<Request>(built), terminal);
}

}  // namespace reaper::cli
