// `reaper room`: how many servers fit now, after which deletions, or why never.
#include <spdlog/spdlog.h>
#include <utility>
#include <vector>

#include "reaper/cli/cloud_view.hpp"
#include "reaper/cli/commands.hpp"
#include "reaper/cli/daemon_api.hpp"
#include "reaper/cli/known_ledger.hpp"
#include "reaper/cli/offline.hpp"
#include "reaper/cli/pause_state.hpp"
#include "reaper/cli/plan_input.hpp"
#include "reaper/cli/resolved_policy.hpp"
#include "reaper/cloud_reader/flavor_search.hpp"
#include "reaper/decision/room_oracle.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/json_values.hpp"
#include "reaper/report/room.hpp"
#include "reaper/request_spec/request_builder.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
namespace {

/// What the question is asked of.
struct RoomQuestion {
    const CloudView& cache;
    const Ledger& ledger;
    const CompiledPolicy& policy;
    Safeguards& safeguards;
};

ExitCode show_answer(const RoomAnswer& answer, const Request& request,
                     const std::vector<std::string>& remarks,
                     const std::vector<std::string>& cloud_remarks, TimePoint taken_at,
                     const Terminal& terminal) {
    if (terminal.json()) {
        nlohmann::json document = report::room_json(answer, request);
        document["version"] = report::json_version;
        document["remarks"] = remarks;
        for (const auto& remark : cloud_remarks) document["remarks"].push_back(remark);
        document["taken_at"] = iso_time(taken_at);
        terminal.answer(report::dump(document, 2) + "\n");
    } else {
        for (const auto& remark : remarks) terminal.answer("Remark: " + remark + ".\n");
        for (const auto& remark : cloud_remarks) spdlog::warn("{}", remark);
        terminal.answer(report::render_room(answer, request, terminal.render_options(taken_at)));
    }
    const bool fits =
        answer.verdict != RoomVerdict::never && answer.verdict != RoomVerdict::held_back;
    return fits ? ExitCode::ok : ExitCode::not_enough;
}

ExitCode show(const Request& request, const RoomQuestion& view, std::vector<std::string> remarks,
              const Terminal& terminal) {
    const Snapshot& snapshot = view.cache.snapshot;
    const CloudIndex hosts{snapshot, view.policy.protection};
    if (const auto why = why_unknown(request, hosts)) {
        terminal.complain(*why);
        return ExitCode::unknown;
    }
    if (auto remark = zone_remark(request, hosts)) remarks.push_back(std::move(*remark));
    const RoomAnswer answer = room_for(view.policy, request, hosts, view.cache.tag_data,
                                       view.ledger, snapshot.taken_at, view.safeguards);
    return show_answer(answer, request, remarks, snapshot.remarks, snapshot.taken_at, terminal);
}

ExitCode show_on_file(const GlobalOptions& global, const RoomCommand& command,
                      const Terminal& terminal) {
    auto policy = offline_policy(global, [&](const std::string& line) { terminal.complain(line); });
    if (!policy) return ExitCode::usage;
    const auto cloud =
        open_snapshot(command.snapshot_file, std::move(*policy), global.config_given);
    if (!cloud) return terminal.fail(ExitCode::usage, cloud.error());
    const TimePoint taken_at = cloud->cache.snapshot.taken_at;
    Ledger ledger = cloud->ledger;
    ledger.expire(cloud->cache.snapshot, taken_at);
    Safeguards safeguards{cloud->policy->safeguards};
    const Request request =
        request_of(command, RequestId{"room"}, ProjectId{command.project}, taken_at);
    return show(request, {cloud->cache, ledger, *cloud->policy, safeguards}, {}, terminal);
}

/// A request, with its project and flavor looked up; an error, with how to end: `unknown` if the
/// cloud has no such thing.
struct Unanswered {
    ExitCode code{};
    Error error;
};
using Built = std::variant<Request, Unanswered>;

Built with_flavor(boost::asio::io_context& io, const Cloud& cloud, const SchedulerRules& rules,
                  Request request, const std::string& written) {
    Compute& compute = cloud.ports().compute;
    auto search = run_task(io, find_flavor(compute, written));
    if (!search) return Unanswered{ExitCode::failed, search.error()};
    if (!search->found)
        return Unanswered{ExitCode::unknown, Error{Errc::not_found, search->why_not}};
    const auto release = run_task(io, compute.release());
    if (!release) return Unanswered{ExitCode::failed, release.error()};
    auto built = of_flavor(std::move(request), *search->found, *release, rules);
    if (const auto* const refused = std::get_if<Refused>(&built))
        return Unanswered{ExitCode::usage, Error{Errc::bad_input, "--flavor: " + refused->reason}};
    return std::get<Request>(std::move(built));
}

Built built_of(boost::asio::io_context& io, const Cloud& cloud, const SchedulerRules& rules,
               const RoomCommand& command) {
    const TimePoint now = cloud.clock->now();
    Request request = request_of(command, RequestId{"room"}, ProjectId{}, now);
    if (!command.project.empty()) {
        auto found = run_task(io, described_request(cloud.ports().identity, command, now));
        if (!found) return Unanswered{ExitCode::failed, found.error()};
        if (const auto* const unknown = std::get_if<UnknownName>(&*found))
            return Unanswered{ExitCode::unknown, Error{Errc::not_found, unknown->why}};
        request.project = std::get<Request>(*found).project;
    }
    if (command.flavor.empty()) return request;
    return with_flavor(io, cloud, rules, std::move(request), command.flavor);
}

std::string traits_text(const RoomCommand& command) {
    std::string text;
    for (const auto& trait : command.required_traits)
        text += (text.empty() ? "" : ",") + trait + "=required";
    for (const auto& trait : command.forbidden_traits)
        text += (text.empty() ? "" : ",") + trait + "=forbidden";
    return text;
}

std::string resources_text(const Resources& resources) {
    std::string text;
    for (const auto& [name, amount] : resources)
        text += (text.empty() ? "" : ",") + name.str() + ":" + std::to_string(amount);
    return text;
}

/// By the daemon that --api names: on its cache, by its policy.
ExitCode room_remotely(const GlobalOptions& global, const RoomCommand& command,
                       const Terminal& terminal) {
    auto api = daemon_api(global, terminal);
    if (!api) return ExitCode::usage;
    const std::string target =
        target_of("/v1/room", {{"flavor", command.flavor},
                               {"resources", resources_text(command.resources)},
                               {"count", std::to_string(command.slots)},
                               {"zone", command.availability_zone.value_or("")},
                               {"project", command.project},
                               {"traits", traits_text(command)}});
    ExitCode code{};
    const auto said = api->get(target, code, ExitCode::unknown);
    if (!said) return code;
    const auto room = taken(report::room_from_json(*said), *api, terminal, code);
    if (!room) return code;
    const auto rest = taken(
        report::read_json(*said, "room",
                          [](const JsonPlace& in) {
                              return std::pair{
                                  report::list(in["remarks"],
                                               [](const JsonPlace& each) { return each.text(); }),
                                  in["taken_at"].time()};
                          }),
        *api, terminal, code);
    if (!rest) return code;
    return show_answer(room->answer, room->request, rest->first, {}, rest->second, terminal);
}

}  // namespace

ExitCode show_room(const GlobalOptions& global, const RoomCommand& command,
                   const Terminal& terminal) {
    if (!command.snapshot_file.empty()) return show_on_file(global, command, terminal);
    if (!global.api.url.empty()) return room_remotely(global, command, terminal);
    const auto settings = settings_for_looking(global, terminal);
    if (!settings) return ExitCode::usage;

    boost::asio::io_context io{1};
    auto reached = cloud_to_look_at(io, *settings, terminal);
    if (const auto* const code = std::get_if<ExitCode>(&reached)) return *code;
    auto& [cloud, policy, policy_remarks] = std::get<CloudToLookAt>(reached);
    auto built = built_of(io, cloud, policy->scheduler, command);
    if (const auto* const unanswered = std::get_if<Unanswered>(&built))
        return terminal.fail(unanswered->code, unanswered->error);

    std::vector<std::string> remarks = pause_remarks(pause_in_force(settings->pause_file));
    for (auto& remark : policy_remarks) remarks.push_back(std::move(remark));
    if (settings->reservations.enabled)
        remarks.push_back("room that reservations would let go of is not counted");
    Ledger ledger = known_ledger(io, *settings, cloud.clock->now(), "answered");
    Safeguards safeguards = known_safeguards(io, *settings, cloud.clock->now(), "answered");
    const auto cache = cloud_view(io, cloud, *policy, terminal);
    if (!cache) return terminal.fail(ExitCode::failed, cache.error());
    ledger.expire(cache->snapshot, cache->snapshot.taken_at);
    return show(std::get<Request>(built), {*cache, ledger, *policy, safeguards}, remarks, terminal);
}

}  // namespace reaper::cli
