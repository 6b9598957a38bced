// `reaper room`: how many servers fit now, after which deletions, or why never.
#include <utility>
#include <vector>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/cli/cloud/cloud_view.hpp"
#include "reaper/cli/cloud/offline.hpp"
#include "reaper/cli/cloud/planning.hpp"
#include "reaper/cli/cloud/reading.hpp"
#include "reaper/cli/daemon/status_report.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/decision/room_oracle.hpp"
#include "reaper/model/named_records.hpp"
#include "reaper/model/resources_text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/room.hpp"
#include "reaper/report/text.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
namespace {

/// How to end where the cloud can't have it at all: the reason was printed.
std::optional<ExitCode> ends_unknown(const Request& request, const CloudIndex& hosts,
                                     const Terminal& terminal) {
    const auto why = why_unknown(request, hosts);
    if (!why) return std::nullopt;
    return terminal.fail(ExitCode::unknown, Error{Errc::not_found, *why});
}

/// `cloud_remarks`: about the reading.
ExitCode show(const report::RoomReport& told, const std::vector<std::string>& cloud_remarks,
              const Terminal& terminal) {
    if (wants_document(terminal)) {
        nlohmann::json document = report::room_json(told.answer, told.request);
        document["version"] = report::json_version;
        document["remarks"] = told.remarks;
        for (const auto& remark : cloud_remarks) document["remarks"].push_back(remark);
        document["taken_at"] = iso_time(told.taken_at);
        answer_document(terminal, document);
    } else {
        for (const auto& remark : told.remarks)
            terminal.answer("Remark: " + report::safe(remark) + ".\n");
        for (const auto& remark : cloud_remarks) spdlog::warn("{}", remark);
        terminal.answer(
            report::render_room(told.answer, told.request, terminal.render_options(told.taken_at)));
    }
    switch (told.answer.verdict) {
        case RoomVerdict::fits_now:
        case RoomVerdict::on_its_way:
        case RoomVerdict::after_victims: return ExitCode::ok;
        case RoomVerdict::held_back:
        case RoomVerdict::free_room_only:
        case RoomVerdict::never: break;
    }
    return ExitCode::not_enough;
}

ExitCode show_on_file(const GlobalOptions& global, const RoomCommand& command,
                      const Terminal& terminal) {
    auto policy = offline_policy(global, [&](const std::string& line) { terminal.complain(line); });
    if (!policy) return ExitCode::usage;
    const auto cloud =
        open_snapshot(command.snapshot_file, std::move(*policy), global.config_given);
    if (!cloud) return terminal.fail(ExitCode::usage, cloud.error());
    const TimePoint taken_at = cloud->cache.snapshot.taken_at;
    Safeguards safeguards{cloud->policy->safeguards};
    auto project = project_in_file(cloud->cache, command.project);
    if (!project)
        return terminal.fail(
            project.error().code == Errc::not_found ? ExitCode::unknown : ExitCode::usage,
            project.error());
    report::RoomReport told;
    told.taken_at = taken_at;
    told.request = request_of(command, RequestId{"room"}, std::move(project->id), taken_at);
    Request& request = told.request;
    const Snapshot& snapshot = cloud->cache.snapshot;
    add_names(snapshot.project_names, request);
    const CloudIndex hosts{snapshot, cloud->policy->protection};
    if (const auto code = ends_unknown(request, hosts, terminal)) return *code;
    if (!project->remark.empty()) told.remarks.push_back(std::move(project->remark));
    if (auto remark = zone_remark(request, hosts)) told.remarks.push_back(std::move(*remark));
    told.answer = room_for(*cloud->policy, request, hosts, cloud->cache.tag_data, cloud->ledger,
                           taken_at, safeguards);
    add_names(snapshot.project_names, told.answer.decision);
    return show(told, snapshot.remarks, terminal);
}

/// A request, with its project and flavor looked up; else how to end: the reason was printed.
using Built = std::variant<Request, ExitCode>;

Built built_of(boost::asio::io_context& io, const CloudToLookAt& look, const RoomCommand& command,
               const Terminal& terminal) {
    const TimePoint now = look.cloud.clock->now();
    Request request = request_of(command, RequestId{"room"}, ProjectId{}, now);
    if (!command.project.empty()) {
        auto found = run_task(io, described_request(look.cloud.ports().identity, command, now));
        if (!found) return terminal.fail(found.error());
        if (const auto* const unknown = std::get_if<UnknownName>(&*found))
            return terminal.fail(ExitCode::unknown, Error{Errc::not_found, unknown->why});
        request.project = std::get<Request>(*found).project;
        request.project_name = std::get<Request>(*found).project_name;
    }
    if (command.flavor.empty()) return request;
    return of_named_flavor(io, look, std::move(request), command.flavor, terminal);
}

std::string traits_text(const RoomCommand& command) {
    std::string text;
    for (const auto& trait : command.required_traits)
        text += (text.empty() ? "" : ",") + trait + "=required";
    for (const auto& trait : command.forbidden_traits)
        text += (text.empty() ? "" : ",") + trait + "=forbidden";
    return text;
}

/// By the daemon that --api names: on its cache, by its policy.
ExitCode room_remotely(const GlobalOptions& global, const RoomCommand& command,
                       const Terminal& terminal) {
    auto api = daemon_api(global, terminal);
    if (!api) return ExitCode::usage;
    const std::string target =
        target_of("/v1/room", {{"flavor", command.flavor},
                               {"resources", written(command.resources)},
                               {"count", std::to_string(command.slots)},
                               {"zone", command.availability_zone.value_or("")},
                               {"project", command.project},
                               {"traits", traits_text(command)}});
    ExitCode code{};
    const auto said = api->get(target, code, ExitCode::unknown);
    if (!said) return code;
    const auto room = taken(report::room_from_json(*said), *api, terminal, code);
    return room ? show(*room, {}, terminal) : code;
}

}  // namespace

ExitCode carry_out(const GlobalOptions& global, const RoomCommand& command,
                   const Terminal& terminal) {
    if (!command.snapshot_file.empty()) return show_on_file(global, command, terminal);
    if (!global.api.url.empty()) return room_remotely(global, command, terminal);
    const auto settings = settings_for_looking(global, terminal);
    if (!settings) return ExitCode::usage;

    boost::asio::io_context io{1};
    const auto reached = cloud_to_look_at(io, *settings, terminal);
    if (const auto* const code = std::get_if<ExitCode>(&reached)) return *code;
    const CloudToLookAt& look = std::get<CloudToLookAt>(reached);
    const auto built = built_of(io, look, command, terminal);
    if (const auto* const code = std::get_if<ExitCode>(&built)) return *code;

    const Request& request = std::get<Request>(built);
    NamesOfProjects names{io.get_executor(), look.cloud.ports().identity, *look.cloud.clock};
    const auto read = read_exactly(io, *settings, look, terminal);
    if (const auto* const code = std::get_if<ExitCode>(&read)) return *code;
    CloudReading& reading = std::get<0>(read)->reading;
    reading.name_projects(names_told(io, names, terminal));
    const CloudIndex& hosts = reading.cache().index();
    const Request without_flavor =
        request_of(command, RequestId{"room"}, ProjectId{}, look.cloud.clock->now());
    for (const Request* const each : {&without_flavor, &request})
        if (const auto code = ends_unknown(*each, hosts, terminal)) return *code;
    report::RoomReport told;
    told.request = request;
    told.remarks = pause_remarks(pause_in_force(settings->pause_file, settings->journal));
    told.remarks.insert(told.remarks.end(), look.remarks.begin(), look.remarks.end());
    if (auto remark = zone_remark(request, hosts)) told.remarks.push_back(std::move(*remark));
    told.answer = run_task(io, reading.decisions().room_for(look.policy, request));
    told.taken_at = reading.cache().ages().built_at;
    return show(told, reading.remarks(), terminal);
}

}  // namespace reaper::cli
