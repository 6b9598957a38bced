// Where CLI11 leaves what it read, before it is put together: the options of all commands.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reaper/cli/arguments/arguments.hpp"
#include "reaper/cli/arguments/history_arguments.hpp"
#include "reaper/cli/arguments/list_arguments.hpp"

namespace reaper::cli {

/// `--since` and `--until`; empty: not given.
struct PeriodTexts {
    std::string since, until;
};

struct Parsed {
    GlobalOptions global;
    ListTexts list;
    int verbose = 0;
    std::string log_level;
    std::string color = "auto";
    RunCommand run;
    PlanCommand plan;
    RequestCommand request;
    ApplyCommand apply;
    RoomCommand room;
    HostsCommand hosts;
    CandidatesCommand candidates;
    std::string wanted;
    SetupCommand setup;
    ReservationSetupCommand reservation_setup;
    RoomSetupCommand room_setup;
    ReserveCommand reserve, unreserve;
    ReservationsCommand reservations;
    std::vector<std::string> labels, refines_labels;
    std::optional<std::string> unreserve_refines;
    std::string floor, longest_loan;
    bool lend = false, no_lend = false;
    std::string per;
    SnapshotCommand snapshot;
    std::string resources;
    std::vector<std::string> traits, groups, res_types;
    std::string group_policy, zone, strategy;
    int alternatives = 0;
    HistoryTexts history;
    std::string shown;
    ExplainCommand explain;
    DeadLettersCommand letters;
    JournalCommand journal;
    UsageCommand usage;
    RiskCommand risk;
    ReplayCommand replay;
    ReportCommand report;
    PeriodTexts period;
    std::string step;
    std::vector<std::string> estimators;
    PauseCommand pause;
    ProtectCommand protect;
    std::string protect_until, protect_span;
    bool protect_list = false;
    SimulateCommand simulate;
    std::string simulate_span;
    HealthCommand health;
    ConfigCommand config;
    std::string shell;
    std::vector<std::string> help_words;
};

}  // namespace reaper::cli
