#include "reaper/cli/channel/remote_scope.hpp"

#include <variant>

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
    Why operator()(const CheckCommand&) const { return only_here("'reaper check'"); }
    Why operator()(const EstimateCommand&) const { return only_here("'reaper estimate'"); }
    Why operator()(const ReportCommand&) const { return only_here("'reaper report'"); }
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

}  // namespace reaper::cli
