// What `--help` says: one paragraph and examples for each command. The texts are in help_program,
// help_daemon, help_cloud, help_setup and help_past.
#pragma once

namespace reaper::cli::help {

struct Text {
    const char* brief;  ///< for the list of commands
    const char* description;
    const char* footer;  ///< examples and what else there is to know
};

extern const Text program;
extern const Text run;
extern const Text gateway;
extern const Text plan;
extern const Text room;
extern const Text request;
extern const Text hosts;
extern const Text candidates;
extern const Text setup;
extern const Text setup_slots;
extern const Text setup_reservations;
extern const Text setup_oversubscription;
extern const Text reserve;
extern const Text unreserve;
extern const Text reservations;
extern const Text snapshot;
extern const Text check;
extern const Text history;
extern const Text history_show;
extern const Text history_messages;
extern const Text history_victims;
extern const Text history_totals;
extern const Text history_events;
extern const Text journal;
extern const Text journal_migrate;
extern const Text journal_copy;
extern const Text dead_letters;
extern const Text dead_letters_list;
extern const Text dead_letters_show;
extern const Text dead_letters_retry;
extern const Text explain;
extern const Text usage;
extern const Text risk;
extern const Text estimate;
extern const Text replay;
extern const Text report;
extern const Text pause;
extern const Text resume;
extern const Text protect;
extern const Text simulate;
extern const Text status;
extern const Text health;
extern const Text reapers;
extern const Text oversubscription;
extern const Text strategies;
extern const Text taggers;
extern const Text estimators;
extern const Text qos;
extern const Text config;
extern const Text completion;
extern const Text help;
extern const Text version;

}  // namespace reaper::cli::help
