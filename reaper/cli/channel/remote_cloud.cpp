#include "reaper/cli/channel/remote_cloud.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <variant>

#include "reaper/report/json.hpp"

namespace reaper::cli {
namespace {

using Why = std::optional<std::string>;

Why only_here(const std::string& what) {
    return what + " works without --api (and REAPER_API) only: run it on the daemon's machine";
}

/// Each command by its own kind; what is not named here goes.
struct Scope {
    Why operator()(const auto&) const { return std::nullopt; }
    Why operator()(const RunCommand&) const { return only_here("'reaper run'"); }
    Why operator()(const GatewayCommand&) const { return only_here("'reaper gateway'"); }
    Why operator()(const SetupCommand&) const { return only_here("'reaper setup'"); }
    Why operator()(const ReservationSetupCommand&) const { return only_here("'reaper setup'"); }
    Why operator()(const RoomSetupCommand&) const { return only_here("'reaper setup'"); }
    Why operator()(const DeadLettersCommand&) const { return only_here("'reaper dead-letters'"); }
    Why operator()(const JournalCommand&) const { return only_here("'reaper journal'"); }
    Why operator()(const CheckCommand&) const { return only_here("'reaper check'"); }
    Why operator()(const EstimateCommand&) const { return only_here("'reaper estimate'"); }
    Why operator()(const ReportCommand&) const { return only_here("'reaper report'"); }
    Why operator()(const SimulateCommand&) const { return only_here("'reaper simulate'"); }
    Why operator()(const ConfigCommand&) const { return only_here("'reaper config'"); }
    Why operator()(const PlanCommand& command) const {
        if (!command.snapshot_file.empty()) return std::nullopt;
        if (!command.notifications.empty()) return only_here("--notification");
        if (!command.requests_file.empty()) return only_here("--requests");
        if (command.strategy) return only_here("--strategy");
        if (command.alternatives) return only_here("--alternatives");
        return std::nullopt;
    }
};

}  // namespace

std::optional<std::string> why_not_remote(const GlobalOptions& global, const Command& command) {
    if (global.api.url.empty()) return std::nullopt;
    return std::visit(Scope{}, command);
}

namespace {

/// A page of the daemon's cloud, added to what there is; the place of the next one, or nothing.
Result<std::string> take_page(const nlohmann::json& said, report::SnapshotFile& file) {
    return report::read_json(said, "snapshot", [&](const JsonPlace& in) {
        Snapshot& snapshot = file.snapshot;
        snapshot.taken_at = in["taken_at"].time();
        in["remarks"].each([&](const JsonPlace& each) { snapshot.remarks.push_back(each.text()); });
        for (const std::string& name : in["revocable_classes"].text_set())
            snapshot.revocable_classes.emplace(name);
        // The first page has it.
        if (in.has("ledger"))
            file.ledger = report::part_in(in, in["ledger"].value(), report::ledger_from_json);
        if (in.has("project_names"))
            snapshot.project_names.merge(
                report::part_in(in, in["project_names"].value(), report::project_names_from_json));
        in["hosts"].each([&](const JsonPlace& each) {
            snapshot.hosts.push_back(report::part_in(each, each.value(), report::host_from_json));
        });
        std::string next;
        in["hosts_links"].each([&](const JsonPlace& link) { next = link["href"].text(); });
        if (!next.empty() && !next.starts_with("/v1/snapshot?"))
            in.fail("its next page is elsewhere");
        return next;
    });
}

}  // namespace

std::optional<report::SnapshotFile> cloud_of(DaemonApi& api, const Terminal& terminal,
                                             ExitCode& code) {
    constexpr int most_pages = 10'000;
    report::SnapshotFile file;
    std::string target = "/v1/snapshot";
    for (int page = 0; page < most_pages && !target.empty(); ++page) {
        const auto said = api.get(target, code);
        if (!said) return std::nullopt;
        auto next = taken(take_page(*said, file), api, terminal, code);
        if (!next) return std::nullopt;
        target = std::move(*next);
    }
    if (!target.empty()) {
        terminal.complain(api.name() + ": its list of hosts has no end");
        code = ExitCode::failed;
        return std::nullopt;
    }
    auto& hosts = file.snapshot.hosts;
    std::ranges::sort(hosts, [](const Host& a, const Host& b) {
        return std::tie(a.name, a.id) < std::tie(b.name, b.id);
    });
    return file;
}

std::optional<std::string> project_by(DaemonApi& api, const std::string& written,
                                      const Terminal& terminal, ExitCode& code) {
    const auto said = api.get(target_of("/v1/snapshot", {{"limit", "1"}, {"project", written}}),
                              code, ExitCode::unknown);
    if (!said) return std::nullopt;
    return taken(report::read_json(*said, "snapshot",
                                   [](const JsonPlace& in) { return in["project"].text(); }),
                 api, terminal, code);
}

std::optional<std::string> why_no_flavor(DaemonApi& api, const std::string& written) {
    // It looks the flavor up before all else; what it says of room is nothing here.
    std::string why;
    ExitCode code = ExitCode::ok;
    api.complain_to([&why](const std::string& text) { why = text; });
    const bool there =
        api.get(target_of("/v1/room", {{"flavor", written}}), code, ExitCode::unknown).has_value();
    api.complain_to({});
    const bool unknown = code == ExitCode::unknown && why.find("no flavor") != why.npos;
    if (there || !unknown) return std::nullopt;
    return why;
}

EstimatedRoom estimated_room_in(const nlohmann::json& said) {
    EstimatedRoom room;
    if (!said.is_object()) return room;
    const auto name = said.find("class");
    const auto hosts = said.find("hosts");
    if (name == said.end() || !name->is_string() || hosts == said.end()) return room;
    room.of = ResourceClass{name->get<std::string>()};
    for (const auto& each : *hosts) {
        if (!each.is_object()) continue;
        const auto host = each.find("host");
        const auto wanted = each.find("wanted");
        if (host != each.end() && host->is_string() && wanted != each.end() &&
            wanted->is_number_integer())
            room.wanted.emplace(HostId{host->get<std::string>()}, wanted->get<std::int64_t>());
    }
    return room;
}

EstimatedRoom estimated_room(const Snapshot& snapshot, DaemonApi& api) {
    if (!any_oversubscribed(snapshot.revocable_classes)) return {};
    const auto said = api.get_if_there("/v1/oversubscription");
    if (!said) return {};
    return estimated_room_in(*said);
}

EstimatedRoom local_estimated_room(const Snapshot& snapshot, const std::string& socket,
                                   const Terminal& terminal) {
    if (socket.empty() || !any_oversubscribed(snapshot.revocable_classes)) return {};
    DaemonApi api{socket_channel(socket), terminal};
    return estimated_room(snapshot, api);
}

}  // namespace reaper::cli
