#include "reaper/cli/cli.hpp"

#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <type_traits>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/channel/remote_cloud.hpp"
#include "reaper/cli/output/error_lines.hpp"
#include "reaper/daemon/logging.hpp"

namespace reaper::cli {
namespace {

ExitCode run_command(const Arguments& arguments, const Terminal& terminal) {
    const GlobalOptions& global = arguments.global;
    if (const auto why = why_not_remote(global, arguments.command)) {
        terminal.complain(*why);
        return ExitCode::usage;
    }
    return std::visit(
        [&](const auto& command) {
            using Chosen = std::remove_cvref_t<decltype(command)>;
            if constexpr (std::is_same_v<Chosen, RunCommand>)
                return run_daemon(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, GatewayCommand>)
                return run_gateway(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, PlanCommand>)
                return show_plan(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, RequestCommand>)
                return request_room(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, ApplyCommand>)
                return apply_plan(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, RoomCommand>)
                return show_room(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, HostsCommand>)
                return show_hosts(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, CandidatesCommand>)
                return show_candidates(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, SetupCommand>)
                return set_up(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, ReservationSetupCommand>)
                return set_up_reservations(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, RoomSetupCommand>)
                return set_up_oversubscription(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, ReserveCommand>)
                return change_reservations(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, ReservationsCommand>)
                return show_reservations(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, SnapshotCommand>)
                return take_snapshot(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, CheckCommand>)
                return check_everything(global, terminal);
            else if constexpr (std::is_same_v<Chosen, HistoryCommand>)
                return show_history(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, ExplainCommand>)
                return show_explanation(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, DeadLettersCommand>)
                return handle_dead_letters(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, JournalCommand>)
                return handle_journal(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, UsageCommand>)
                return show_usage(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, RiskCommand>)
                return show_risk(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, EstimateCommand>)
                return show_estimate(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, ReplayCommand>)
                return show_replay(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, ReportCommand>)
                return show_report(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, PauseCommand>)
                return pause_reaper(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, ProtectCommand>)
                return protect_server(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, SimulateCommand>)
                return simulate_notice(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, ResumeCommand>)
                return resume_reaper(global, terminal);
            else if constexpr (std::is_same_v<Chosen, StatusCommand>)
                return show_status(global, terminal);
            else if constexpr (std::is_same_v<Chosen, HealthCommand>)
                return show_health(global, command, terminal);
            else if constexpr (std::is_same_v<Chosen, ReapersCommand>)
                return show_reapers(global, terminal);
            else if constexpr (std::is_same_v<Chosen, OversubscriptionCommand>)
                return show_oversubscription(global, terminal);
            else if constexpr (std::is_same_v<Chosen, StrategiesCommand>)
                return show_strategies(global, terminal);
            else if constexpr (std::is_same_v<Chosen, TaggersCommand>)
                return show_taggers(global, terminal);
            else if constexpr (std::is_same_v<Chosen, EstimatorsCommand>)
                return show_estimators(global, terminal);
            else if constexpr (std::is_same_v<Chosen, QosCommand>)
                return show_qos(global, terminal);
            else
                return show_config(global, command, terminal);
        },
        arguments.command);
}

ExitCode dispatch(const Arguments& arguments) {
    const GlobalOptions& global = arguments.global;
    const Terminal terminal(global);
    set_up_logging({LogStyle::command, global.log_level.value_or("warning"), terminal.error_color(),
                    global.json});
    return terminal.finish(run_command(arguments, terminal));
}

/// Before there is a terminal, or when it is too late for one.
int end_with(ExitCode code, const std::string& why, bool as_json) {
    std::cerr << (as_json ? error_line(why, code) : "reaper: " + why + "\n");
    return static_cast<int>(code);
}

}  // namespace

int run(int argc, char** argv) {
    const bool as_json = asks_for_json(argc, argv);
    try {
        const auto parsed = parse_arguments(argc, argv);
        if (const auto* arguments = std::get_if<Arguments>(&parsed))
            return static_cast<int>(dispatch(*arguments));
        const Leave& leave = std::get<Leave>(parsed);
        std::cout << leave.out << std::flush;
        if (!leave.err.empty()) end_with(leave.code, leave.err, as_json);
        return static_cast<int>(leave.code);
    } catch (const std::bad_alloc&) {
        return end_with(ExitCode::failed, "there is not enough memory for this", as_json);
    } catch (const std::exception& error) {
        return end_with(ExitCode::failed,
                        std::string{"this should not happen, please report it: "} + error.what(),
                        as_json);
    }
}

}  // namespace reaper::cli
