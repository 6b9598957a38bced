// The commands, one function each; `run` (cli.hpp) chooses. They answer through the terminal.
#pragma once

#include "reaper/cli/arguments/arguments.hpp"
#include "reaper/cli/output/terminal.hpp"

namespace reaper::cli {

ExitCode run_daemon(const GlobalOptions& global, const RunCommand& command,
                    const Terminal& terminal);
ExitCode run_gateway(const GlobalOptions& global, const GatewayCommand& command,
                     const Terminal& terminal);
ExitCode show_plan(const GlobalOptions& global, const PlanCommand& command,
                   const Terminal& terminal);
ExitCode request_room(const GlobalOptions& global, const RequestCommand& command,
                      const Terminal& terminal);
ExitCode apply_plan(const GlobalOptions& global, const ApplyCommand& command,
                    const Terminal& terminal);
ExitCode show_room(const GlobalOptions& global, const RoomCommand& command,
                   const Terminal& terminal);
ExitCode show_hosts(const GlobalOptions& global, const HostsCommand& command,
                    const Terminal& terminal);
ExitCode show_candidates(const GlobalOptions& global, const CandidatesCommand& command,
                         const Terminal& terminal);
ExitCode set_up(const GlobalOptions& global, const SetupCommand& command, const Terminal& terminal);
ExitCode set_up_reservations(const GlobalOptions& global, const ReservationSetupCommand& command,
                             const Terminal& terminal);
ExitCode set_up_oversubscription(const GlobalOptions& global, const RoomSetupCommand& command,
                                 const Terminal& terminal);
ExitCode change_reservations(const GlobalOptions& global, const ReserveCommand& command,
                             const Terminal& terminal);
ExitCode show_reservations(const GlobalOptions& global, const ReservationsCommand& command,
                           const Terminal& terminal);
ExitCode take_snapshot(const GlobalOptions& global, const SnapshotCommand& command,
                       const Terminal& terminal);
ExitCode check_everything(const GlobalOptions& global, const Terminal& terminal);
ExitCode show_history(const GlobalOptions& global, const HistoryCommand& command,
                      const Terminal& terminal);
ExitCode show_explanation(const GlobalOptions& global, const ExplainCommand& command,
                          const Terminal& terminal);
ExitCode handle_dead_letters(const GlobalOptions& global, const DeadLettersCommand& command,
                             const Terminal& terminal);
ExitCode handle_journal(const GlobalOptions& global, const JournalCommand& command,
                        const Terminal& terminal);
ExitCode show_risk(const GlobalOptions& global, const RiskCommand& command,
                   const Terminal& terminal);
ExitCode show_usage(const GlobalOptions& global, const UsageCommand& command,
                    const Terminal& terminal);
ExitCode show_estimate(const GlobalOptions& global, const EstimateCommand& command,
                       const Terminal& terminal);
ExitCode show_replay(const GlobalOptions& global, const ReplayCommand& command,
                     const Terminal& terminal);
ExitCode show_report(const GlobalOptions& global, const ReportCommand& command,
                     const Terminal& terminal);
ExitCode pause_reaper(const GlobalOptions& global, const PauseCommand& command,
                      const Terminal& terminal);
ExitCode simulate_notice(const GlobalOptions& global, const SimulateCommand& command,
                         const Terminal& terminal);
ExitCode protect_server(const GlobalOptions& global, const ProtectCommand& command,
                        const Terminal& terminal);
ExitCode resume_reaper(const GlobalOptions& global, const Terminal& terminal);
ExitCode show_status(const GlobalOptions& global, const Terminal& terminal);
ExitCode show_health(const GlobalOptions& global, const HealthCommand& command,
                     const Terminal& terminal);
ExitCode show_reapers(const GlobalOptions& global, const Terminal& terminal);
ExitCode show_oversubscription(const GlobalOptions& global, const Terminal& terminal);
ExitCode show_strategies(const GlobalOptions& global, const Terminal& terminal);
ExitCode show_taggers(const GlobalOptions& global, const Terminal& terminal);
ExitCode show_estimators(const GlobalOptions& global, const Terminal& terminal);
ExitCode show_qos(const GlobalOptions& global, const Terminal& terminal);
ExitCode show_config(const GlobalOptions& global, const ConfigCommand& command,
                     const Terminal& terminal);

}  // namespace reaper::cli
