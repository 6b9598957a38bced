// The command line as plain data: what the user asked for, before anything is read or called.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "reaper/cli/arguments/list_arguments.hpp"
#include "reaper/daemon/api_channel.hpp"
#include "reaper/daemon/exit_code.hpp"
#include "reaper/model/error.hpp"
#include "reaper/model/request_record.hpp"
#include "reaper/model/res_type.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/model/time.hpp"
#include "reaper/request_spec/described_request.hpp"
#include "reaper/setup/slots.hpp"

namespace reaper::cli {

enum class ColorMode { automatic, always, never };

/// Accepted before and after the command.
struct GlobalOptions {
    std::string config_file = "/etc/reaper/reaper.yaml";
    bool config_given = false;  ///< by --config or REAPER_CONFIG
    ApiOptions api;
    bool json = false;                     ///< --json, or -o json
    ListOptions list;                      ///< of commands that answer with a list
    std::optional<std::string> log_level;  ///< trace, debug, info, warning, error
    ColorMode color = ColorMode::automatic;
};

struct RunCommand {
    bool dry_run = false;
    std::string admin;  ///< where a dry run has the admin API; empty: nowhere
};

/// The gateway alone.
struct GatewayCommand {};

struct PlanCommand : DescribedRequest {      // when neither of these two has requests
    std::vector<std::string> notifications;  ///< files; `-` is stdin
    std::string requests_file;               ///< `-` is stdin
    std::string snapshot_file;               ///< instead of the cloud; empty: the cloud
    std::optional<std::string> strategy;     ///< as of ReplayCommand
    std::optional<int> alternatives;
    std::string save_file;  ///< for `apply`; empty: none
};

/// Has the daemon carry out a plan that was saved.
struct ApplyCommand {
    std::string file;  ///< `-` is stdin
    bool dry_run = false;
};

/// Asks the daemon for room.
struct RequestCommand : DescribedRequest {};

/// What there is room for.
struct RoomCommand : DescribedRequest {
    std::string snapshot_file;  ///< instead of the cloud
};

/// Empty: all.
struct HostFilters {
    std::string host{};  ///< name, whole or shortened, or id
    std::string zone{};
    std::string project{};  ///< of servers: id, or on the cloud itself a name too
    std::string flavor{};   ///< of servers: name
    std::string type{};     ///< of servers: regular or revocable
};

struct HostsCommand {
    std::string snapshot_file;  ///< instead of the cloud
    bool servers = false;       ///< they are the list, not the hosts
    HostFilters filters;
};

struct CandidatesCommand {
    Resources resources;        ///< of one server; empty: of the flavor
    std::string flavor{};       ///< name or id
    std::string zone{};         ///< of the hosts; empty: any
    std::string snapshot_file;  ///< instead of the cloud
};

/// `setup resource-tagging`.
struct SetupCommand {
    std::string slot_class = "CUSTOM_PREEMPTIBLE";
    SlotCount count;
    std::string hosts = "*";  ///< pattern of names
    bool apply = false;       ///< else it is only told
    bool undo = false;
};

/// `setup reservations`.
struct ReservationSetupCommand {
    bool apply = false;  ///< else it is only told
    bool undo = false;
};

/// `setup oversubscription`.
struct RoomSetupCommand {
    std::string hosts;   ///< pattern of names; empty: as the configuration has it
    bool apply = false;  ///< else it is only told
    bool undo = false;
};

/// `reserve` and `unreserve`.
struct ReserveCommand {
    bool unreserve = false;
    std::vector<std::string> hosts;  ///< names or UUIDs; the same on each
    std::string role;
    std::map<std::string, std::string> labels;
    Resources resources;
    std::string principal;  ///< the requester
    std::string key;
    bool dry_run = false;
    // To reserve:
    std::string refines;  ///< a role above; empty: unreserved room is taken
    std::map<std::string, std::string> refines_labels;
    std::optional<bool> lend;  ///< none: as it is, or as the configuration says
    Resources floor;
    std::optional<Duration> longest_loan;  ///< only with `lend`; none: as the configuration says
    // To unreserve:
    bool lent_too = false;
    std::optional<std::string> reserver{};  ///< of `unreserve`: whose alone
    /// Only of what was taken from this role; empty: from unreserved room; none: of any.
    std::optional<std::string> returns_to;
};

struct ReservationsCommand {
    std::string role;  ///< empty: all
    std::string host;  ///< empty: all
};

struct SnapshotCommand {
    std::string out = "-";  ///< file; `-` is stdout
    bool anonymous = false;
};

struct CheckCommand {};
struct ConfigCommand {
    bool check = false;  ///< only whether it is right
    bool env = false;    ///< the variable of each key, and where its value comes from
};
struct StrategiesCommand {};
struct TaggersCommand {};
struct EstimatorsCommand {};
struct QosCommand {};

struct HistoryCommand {
    enum class What { list, show, messages, victims, totals, events };
    What what = What::list;
    int limit = 20;
    std::string request;             ///< of `show`: a request's id, or a server's id or name
    std::optional<TimePoint> since;  ///< none: `span` before now; none of both: from the beginning
    std::optional<Duration> span;
    std::optional<TimePoint> until;             ///< none: now
    std::string project, host, flavor, server;  ///< only of these; empty: all
    std::optional<OutcomeKind> outcome;
    bool under_way = false;  ///< only those without an outcome
    bool follow = false;     ///< go on with what comes
    bool planned = false;    ///< victims: those that were chosen, and never sent
    std::string journal{};   ///< the file to read alone; empty: as configured
};

/// Why a server was deleted, or skipped.
struct ExplainCommand {
    std::string asked;      ///< a server's id or name, or a request's id
    std::string journal{};  ///< as of HistoryCommand
};

struct UsageCommand {
    std::string project;            ///< id or name; empty: all
    std::optional<TimePoint> from;  ///< none: `span` before now; none of both: the month of `to`
    std::optional<Duration> span;
    std::optional<TimePoint> to;  ///< none: now
};

/// How often revocable servers were evicted.
struct RiskCommand {
    UsageCommand when;  ///< none of its beginnings: four weeks
    std::string flavor, zone, aggregate;
};

/// What estimators would have done, by Prometheus' history.
struct EstimateCommand {
    struct Chosen {
        std::string name;
        /// As they were written; a list is given item by item.
        std::map<std::string, std::vector<std::string>> parameters;
    };
    std::optional<TimePoint> since;  ///< none: `span` before `until`
    Duration span = std::chrono::days{7};
    std::optional<TimePoint> until;  ///< none: now
    Duration step{60'000};
    std::vector<Chosen> estimators;  ///< empty: all that there are
};

/// A recording, decided again.
struct ReplayCommand {
    std::string directory;
    std::string strategy;          ///< `NAME` or `NAME:key=value,...`; empty: as configured
    std::vector<std::string> set;  ///< `key=value`
    std::optional<TimePoint> since, until;
};

/// What switching on would have meant.
struct ReportCommand {
    std::string directory;           ///< of a recording; empty: as configured, or the journal
    std::optional<TimePoint> since;  ///< none: `span` before `until`
    Duration span = std::chrono::days{7};
    std::optional<TimePoint> until;  ///< none: now
};

struct PauseCommand {
    std::string reason;
};
struct ResumeCommand {};

/// The journal's database.
struct JournalCommand {
    enum class What { migrate, copy } what = What::migrate;
    bool dry_run = false;       // of migrate, as the rest:
    std::string database_url;   ///< with another user than the daemon's; empty: the configured
    std::string password_file;  ///< of that user
    std::string from, to;       ///< of copy: a file, one of the two
};

/// Messages that were not understood.
struct DeadLettersCommand {
    enum class What { list, show, retry } what = What::list;
    std::vector<std::string> ids;  ///< of show and retry
    bool all = false;              ///< of retry
};

/// Servers that an operator keeps from going, by the daemon.
struct ProtectCommand {
    std::string server;  ///< id or name; empty: the list of them
    bool remove = false;
    std::optional<TimePoint> until{};
    std::optional<Duration> span{};  ///< from now on
    std::string reason;
};
/// A notice without the end, for its owner to test the guest.
struct SimulateCommand {
    std::string server;  ///< id
    std::optional<Duration> span{};
    bool remove = false;
};
/// Which reapers there are, by the daemon.
struct ReapersCommand {};
/// What oversubscribed room is for sale, and why not more, by the daemon.
struct OversubscriptionCommand {};
struct StatusCommand {};
/// Whether the daemon runs and is ready.
struct HealthCommand {
    bool live = false;  ///< only whether it works
};

using Command =
    std::variant<RunCommand, GatewayCommand, PlanCommand, RequestCommand, ApplyCommand, RoomCommand,
                 HostsCommand, CandidatesCommand, SetupCommand, ReservationSetupCommand,
                 RoomSetupCommand, ReserveCommand, ReservationsCommand, SnapshotCommand,
                 CheckCommand, HistoryCommand, ExplainCommand, UsageCommand, RiskCommand,
                 EstimateCommand, ReplayCommand, ReportCommand, PauseCommand, ResumeCommand,
                 ProtectCommand, SimulateCommand, StatusCommand, HealthCommand, ReapersCommand,
                 OversubscriptionCommand, StrategiesCommand, TaggersCommand, EstimatorsCommand,
                 QosCommand, DeadLettersCommand, JournalCommand, ConfigCommand>;

struct Arguments {
    GlobalOptions global;
    Command command;
};

/// Nothing to run: help or version was asked for (`out`), or the line is wrong (`err`).
struct Leave {
    ExitCode code{};
    std::string out;
    std::string err;  ///< one line without the `reaper: ` prefix
};

/// `argv[0]` is the program; the environment gives REAPER_CONFIG.
std::variant<Arguments, Leave> parse_arguments(int argc, const char* const* argv);

// Who runs a command, and when.

/// The user; behind sudo, the person: `alice (as reaper)`.
std::string operator_name();

/// By the wall clock, for commands that run without a daemon or a cloud.
TimePoint now();

}  // namespace reaper::cli
