// `reaper candidates`: where a server would fit if revocable ones made room.
#include <algorithm>
#include <spdlog/spdlog.h>
#include <utility>
#include <vector>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/cli/cloud/cloud_view.hpp"
#include "reaper/cli/cloud/exact_reading.hpp"
#include "reaper/cli/cloud/offline.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/decision/room_oracle.hpp"
#include "reaper/model/resources_text.hpp"
#include "reaper/planner/culling.hpp"
#include "reaper/report/culling.hpp"
#include "reaper/report/json_values.hpp"
#include "reaper/report/natural_order.hpp"

namespace reaper::cli {
namespace {

void by_name(std::vector<CullingCandidate>& candidates) {
    std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
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
    if (why) {
        terminal.complain(*why);
        return ExitCode::unknown;
    }
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
    Ledger ledger = cloud->ledger;
    ledger.expire(cloud->cache.snapshot, cloud->cache.snapshot.taken_at);
    const CloudIndex index{cloud->cache.snapshot};
    return show({index, ledger, *cloud->policy, cloud->cache.snapshot.taken_at}, command,
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

ExitCode show_candidates(const GlobalOptions& global, const CandidatesCommand& command,
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
