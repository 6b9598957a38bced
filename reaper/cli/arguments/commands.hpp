// The commands, one function each; main.cpp chooses. They answer through the terminal.
#pragma once

#include "reaper/cli/arguments/arguments.hpp"
#include "reaper/cli/output/terminal.hpp"

namespace reaper::cli {

ExitCode carry_out(const GlobalOptions&, const RunCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const GatewayCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const PlanCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const RequestCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const ApplyCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const RoomCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const HostsCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const CandidatesCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const SetupCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const ReservationSetupCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const RoomSetupCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const ReserveCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const ReservationsCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const SnapshotCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const CheckCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const HistoryCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const ExplainCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const DeadLettersCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const JournalCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const RiskCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const UsageCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const EstimateCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const ReplayCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const ReportCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const PauseCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const SimulateCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const ProtectCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const ResumeCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const StatusCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const HealthCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const ReapersCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const OversubscriptionCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const StrategiesCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const TaggersCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const EstimatorsCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const QosCommand&, const Terminal&);
ExitCode carry_out(const GlobalOptions&, const ConfigCommand&, const Terminal&);

}  // namespace reaper::cli
