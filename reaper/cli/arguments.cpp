#include "reaper/cli/arguments.hpp"

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <sstream>

#include "config/values.hpp"
#include "reaper/cli/apply_arguments.hpp"
#include "reaper/cli/command_table.hpp"
#include "reaper/cli/completions.hpp"
#include "reaper/cli/estimate_arguments.hpp"
#include "reaper/cli/help_text.hpp"
#include "reaper/cli/history_arguments.hpp"
#include "reaper/cli/list_arguments.hpp"
#include "reaper/cli/man_pages.hpp"
#include "reaper/cli/own_commands.hpp"
#include "reaper/cli/quiet_check.hpp"
#include "reaper/cli/room_arguments.hpp"
#include "reaper/cli/room_help.hpp"
#include "reaper/cli/value_parsers.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/request_spec/res_type_constraint.hpp"

namespace reaper::cli {
namespace {

/// Where CLI11 leaves what it read, before it is put together.
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
    RoomTexts room;
    HostsCommand hosts;
    CandidatesCommand candidates;
    std::string wanted;
    SetupCommand setup;
    ReservationSetupCommand reservation_setup;
    RoomSetupCommand room_setup;
    ReserveCommand reserve, unreserve;
    ReservationsCommand reservations;
    std::vector<std::string> labels, refines_labels;
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
    std::string from, to;
    UsageCommand usage;
    EstimateTexts estimate;
    ReplayCommand replay;
    ReportCommand report;
    PeriodTexts period;
    PauseCommand pause;
    ConfigCommand config;
    std::string shell, man_page;
    std::vector<std::string> help_words;
};

void add_global_options(CLI::App& app, Parsed& parsed) {
    app.set_help_flag("-h,--help", "Show this help, or that of the command");
    app.set_version_flag("--version", std::string("reaper ") + REAPER_VERSION, "Show the version");
    app.add_option("--config", parsed.global.config_file,
                   "Configuration (default /etc/reaper/reaper.yaml, or REAPER_CONFIG)")
        ->envname("REAPER_CONFIG")
        ->type_name("FILE");
    app.add_flag("--json", parsed.global.json, "Print the answer as JSON");
    app.add_flag("-v,--verbose", parsed.verbose, "Log more; twice: everything");
    app.add_option("--log-level", parsed.log_level,
                   "trace, debug, info, warning or error, instead of the configured one")
        ->type_name("LEVEL")
        ->check(quiet(CLI::IsMember({"trace", "debug", "info", "warning", "error"})));
    app.add_option("--color", parsed.color, "auto (when stdout is a terminal), always or never")
        ->type_name("WHEN")
        ->check(quiet(CLI::IsMember({"auto", "always", "never"})));
}

/// The list of commands takes a line for each; the description is for the command's own help.
class HelpFormatter : public CLI::Formatter {
public:
    HelpFormatter() {
        column_width(28);
        label("REQUIRED", "");
        label("Positionals", "Arguments");
        label("SUBCOMMAND", "COMMAND");
    }
    std::string make_description(const CLI::App* app) const override {
        return CLI::Formatter::make_description(app) + "\n";
    }
    std::string make_footer(const CLI::App* app) const override { return app->get_footer(); }
    std::string make_subcommand(const CLI::App* command) const override {
        std::ostringstream line;
        CLI::detail::format_help(line, command->get_name(), brief_of(*command), get_column_width());
        return line.str();
    }
    std::string make_option_opts(const CLI::Option* option) const override {
        return option->get_type_size() == 0 ? "" : " " + option->get_type_name();
    }
    void brief(const CLI::App& command, const char* text) { brief_[&command] = text; }
    std::string brief_of(const CLI::App& command) const { return brief_.at(&command); }

private:
    std::map<const CLI::App*, std::string> brief_;
};

CLI::App* add_command(CLI::App& parent, const char* name, const help::Text& text) {
    CLI::App* const command = parent.add_subcommand(name, text.description);
    command->footer(text.footer);
    command->group("Commands");
    std::static_pointer_cast<HelpFormatter>(parent.get_formatter())->brief(*command, text.brief);
    return command;
}

void add_snapshot_option(CLI::App& command, std::string& file) {
    command
        .add_option("--snapshot", file, "Read this file of 'reaper snapshot' instead of the cloud")
        ->type_name("FILE");
}

/// A request in words: what `plan` and `request` have in common.
void add_description(CLI::App& command, Parsed& parsed, DescribedRequest& described) {
    command
        .add_option("--resources", parsed.resources, "What one server needs: VCPU=4,MEMORY_MB=2048")
        ->type_name("LIST");
    command.add_option("--slots", described.slots, "How many such servers (default 1)")
        ->type_name("N")
        ->check(quiet(CLI::Range(1, 100000)));
    command.add_option("--project", described.project, "Whose they are: project id or name")
        ->type_name("PROJECT");
    command.add_option("--az", parsed.zone, "Availability zone that they must be in")
        ->type_name("AZ");
    command
        .add_option("--trait", parsed.traits, "NAME=required or NAME=forbidden; may be repeated")
        ->type_name("TRAIT")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command
        .add_option("--group", parsed.groups,
                    "From one provider: VGPU=1,NAME=required; may be repeated")
        ->type_name("LIST")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command
        .add_option("--group-policy", parsed.group_policy,
                    "May groups share a provider: none (they may) or isolate")
        ->type_name("POLICY");
    command
        .add_option("--res-type", parsed.res_types,
                    "Room: regular (default), revocable, ~regular, ~revocable or *")
        ->type_name("CONSTRAINT")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_request(CLI::App& app, Parsed& parsed) {
    CLI::App& request = *add_command(app, "request", help::request);
    add_description(request, parsed, parsed.request);
    request.get_option("--resources")->required();
    request.get_option("--project")->required();
    request
        .add_option("--id", parsed.request.id,
                    "Name it, so that asking again is the same request, not another one")
        ->type_name("ID");
}

void add_plan(CLI::App& app, Parsed& parsed) {
    CLI::App& plan = *add_command(app, "plan", help::plan);
    plan.add_option("--notification", parsed.plan.notifications,
                    "Captured message of Nova, enveloped or bare; - is stdin; may be repeated")
        ->type_name("FILE")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    plan.add_option("--requests", parsed.plan.requests_file,
                    "YAML or JSON list of requests, planned one after the other; - is stdin")
        ->type_name("FILE");
    add_description(plan, parsed, parsed.plan);
    plan.add_option("--strategy", parsed.strategy, "Instead of the configured one")
        ->type_name("NAME");
    plan.add_option("--alternatives", parsed.alternatives, "Instead of the configured number")
        ->type_name("N")
        ->check(quiet(CLI::Range(1, 1000)));
    add_snapshot_option(plan, parsed.plan.snapshot_file);
    add_save_option(plan, parsed.plan.save_file);
}

void add_candidates(CLI::App& app, Parsed& parsed) {
    CLI::App& candidates = *add_command(app, "candidates", help::candidates);
    candidates
        .add_option("--resources", parsed.wanted, "What one server needs: VCPU:1,MEMORY_MB:2048")
        ->required()
        ->type_name("LIST");
    add_snapshot_option(candidates, parsed.candidates.snapshot_file);
}

void add_setup(CLI::App& app, Parsed& parsed) {
    CLI::App& setup = *add_command(app, "setup", help::setup);
    setup.require_subcommand(1);
    CLI::App& slots = *add_command(setup, "resource-tagging", help::setup_slots);
    slots
        .add_option("--class", parsed.setup.slot_class,
                    "The resource class (default CUSTOM_PREEMPTIBLE)")
        ->type_name("CLASS");
    slots.add_option("--slots", parsed.setup.count.fixed, "Slots on each host")
        ->type_name("N")
        ->check(quiet(CLI::Range(1, 1000000)));
    slots
        .add_option("--slots-per", parsed.per,
                    "One slot for so much of each host's capacity: VCPU:2")
        ->type_name("CLASS:N");
    slots
        .add_option("--hosts", parsed.setup.hosts,
                    "Only hosts of such a name, with * and ? (default *)")
        ->type_name("PATTERN");
    slots.add_flag("--apply", parsed.setup.apply, "Do it; without, it is only told");
    slots.add_flag("--undo", parsed.setup.undo, "Take it away again");
    CLI::App& kept = *add_command(setup, "reservations", help::setup_reservations);
    kept.add_flag("--apply", parsed.reservation_setup.apply, "Do it; without, it is only told");
    kept.add_flag("--undo", parsed.reservation_setup.undo, "Take it away again");
    CLI::App& room = *add_command(setup, "oversubscription", help::setup_oversubscription);
    room.add_option("--hosts", parsed.room_setup.hosts,
                    "Only hosts of such a name, with * and ? (default: as configured)")
        ->type_name("PATTERN");
    room.add_flag("--apply", parsed.room_setup.apply, "Do it; without, it is only told");
    room.add_flag("--undo", parsed.room_setup.undo, "Take it away again");
}

/// What `reserve` and `unreserve` have in common.
void add_reservation(CLI::App& command, Parsed& parsed, ReserveCommand& order) {
    const auto each = CLI::MultiOptionPolicy::TakeAll;
    command.add_option("--host", order.hosts, "Host, by name or UUID; may be repeated")
        ->required()
        ->type_name("HOST")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(each);
    command.add_option("--role", order.role, "For whom: a path such as engineering/backend")
        ->required()
        ->type_name("ROLE");
    command.add_option("--resources", parsed.resources, "How much on each host: VCPU=8,DISK_GB=80")
        ->required()
        ->type_name("LIST");
    command
        .add_option("--label", parsed.labels,
                    "NAME=VALUE; reservations of different labels stay apart; may be repeated")
        ->type_name("LABEL")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(each);
    command.add_option("--principal", order.principal, "Who asks (default: the user)")
        ->type_name("NAME");
    command
        .add_option("--key", order.key,
                    "Name the order, so that asking again is the same order, not another one")
        ->type_name("KEY");
    command.add_flag("--dry-run", order.dry_run, "Only say whether it could be done");
}

void add_reservations(CLI::App& app, Parsed& parsed) {
    CLI::App& reserve = *add_command(app, "reserve", help::reserve);
    add_reservation(reserve, parsed, parsed.reserve);
    reserve
        .add_option("--refines", parsed.reserve.refines,
                    "Take it from this role above instead of unreserved room")
        ->type_name("ROLE");
    reserve
        .add_option("--refines-label", parsed.refines_labels,
                    "A label of the reservation that is refined; may be repeated")
        ->type_name("LABEL")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    reserve.add_flag("--lend", parsed.lend, "Revocable servers may use what is idle");
    reserve.add_flag("--no-lend", parsed.no_lend, "They may not");
    reserve.add_option("--floor", parsed.floor, "Never lend that much: VCPU=2")->type_name("LIST");
    reserve
        .add_option("--longest-loan", parsed.longest_loan,
                    "They may stay so long: 24h (default: as long as it is idle)")
        ->type_name("SPAN");
    CLI::App& unreserve = *add_command(app, "unreserve", help::unreserve);
    add_reservation(unreserve, parsed, parsed.unreserve);
    unreserve.add_flag("--lent-too", parsed.unreserve.lent_too,
                       "Also what is lent: its tenants go first");
    CLI::App& list = *add_command(app, "reservations", help::reservations);
    list.add_option("--role", parsed.reservations.role, "Only of this role")->type_name("ROLE");
    list.add_option("--host", parsed.reservations.host, "Only on this host")->type_name("HOST");
}

void add_snapshot(CLI::App& app, Parsed& parsed) {
    CLI::App& snapshot = *add_command(app, "snapshot", help::snapshot);
    snapshot.add_option("--out", parsed.snapshot.out, "Where to (default -, which is stdout)")
        ->type_name("FILE");
    snapshot.add_flag("--anonymous", parsed.snapshot.anonymous, "Replace names and ids");
}

void add_history(CLI::App& app, Parsed& parsed) {
    CLI::App& history = *add_command(app, "history", help::history);
    history.require_subcommand(0, 1);
    history.add_option("--limit", parsed.history.limit, "How many lines at most (default 20)")
        ->type_name("N")
        ->check(quiet(CLI::Range(1, 1000000)));
    const std::string since = "How far back, or from when on: 24h, 7d, 2026-11-01";
    add_history_filters(history, parsed.history, since);
    CLI::App* const show = add_command(history, "show", help::history_show);
    show->add_option("ID", parsed.shown, "The request's id, or a server's id or name")
        ->required()
        ->type_name("ID");
    add_command(history, "messages", help::history_messages);
    add_history_filters(*add_command(history, "victims", help::history_victims), parsed.history,
                        "How far back: 24h, 7d, 2026-11-01 (default 24h; with a filter: all)");
    add_command(history, "totals", help::history_totals)
        ->add_option("--since", parsed.history.since, since + " (default 24h)")
        ->type_name("WHEN");
    add_command(history, "events", help::history_events);
}

void add_explain(CLI::App& app, Parsed& parsed) {
    add_command(app, "explain", help::explain)
        ->add_option("SERVER", parsed.explain.asked, "Its id or name, or a request's id")
        ->required()
        ->type_name("");
}

void add_usage(CLI::App& app, Parsed& parsed) {
    CLI::App& usage = *add_command(app, "usage", help::usage);
    usage.add_option("--from", parsed.from, "From then on, UTC (default the first of this month)")
        ->type_name("DATE");
    usage.add_option("--to", parsed.to, "Until then, UTC (default now)")->type_name("DATE");
    usage.add_flag("--csv", parsed.list.csv, "The same as -o csv");
}

void add_estimate(CLI::App& app, Parsed& parsed) {
    CLI::App& estimate = *add_command(app, "estimate", help::estimate);
    estimate
        .add_option("--since", parsed.estimate.since,
                    "How far back, or from when on: 24h, 7d, 2026-11-01 (default 7d)")
        ->type_name("WHEN");
    estimate.add_option("--until", parsed.estimate.until, "Until then, UTC (default now)")
        ->type_name("DATE");
    estimate.add_option("--step", parsed.estimate.step, "A reading every so often (default 1min)")
        ->type_name("SPAN");
    estimate
        .add_option("--estimator", parsed.estimate.estimators,
                    "NAME or NAME:param=value,...; may be repeated (default: all)")
        ->type_name("ESTIMATOR")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_period(CLI::App& command, PeriodTexts& period, const char* since) {
    command.add_option("--since", period.since, since)->type_name("WHEN");
    command.add_option("--until", period.until, "Until then, UTC (default now)")->type_name("DATE");
}

void add_replay(CLI::App& app, Parsed& parsed) {
    CLI::App& replay = *add_command(app, "replay", help::replay);
    replay.add_option("DIR", parsed.replay.directory, "The recording")->required()->type_name("");
    replay
        .add_option("--strategy", parsed.replay.strategy,
                    "NAME or NAME:key=value,...; see 'reaper strategies'")
        ->type_name("STRATEGY");
    replay
        .add_option("--set", parsed.replay.set,
                    "KEY=VALUE as the configuration has it; may be repeated")
        ->type_name("KEY=VALUE")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    replay
        .add_option("--plot", parsed.replay.plot, "Draw victims and lost hours over time, as SVG")
        ->type_name("FILE");
    add_period(replay, parsed.period, "From then on: 2026-11-01 (default: all of it)");

    CLI::App& report = *add_command(app, "report", help::report);
    report
        .add_option("DIR", parsed.report.directory,
                    "The recording (default: as configured, else the journal)")
        ->type_name("");
    add_period(report, parsed.period,
               "How far back, or from when on: 24h, 7d, 2026-11-01 (default 7d)");
}

void add_switch(CLI::App& app, Parsed& parsed) {
    add_command(app, "pause", help::pause)
        ->add_option("--reason", parsed.pause.reason, "Why; shown by status and in the history")
        ->type_name("TEXT");
    add_command(app, "resume", help::resume);
    add_command(app, "status", help::status);
}

/// What packages install beside the program.
void add_own_texts(CLI::App& app, Parsed& parsed) {
    add_command(app, "completion", help::completion)
        ->add_option("SHELL", parsed.shell, "bash or zsh")
        ->required()
        ->type_name("SHELL")
        ->check(quiet(CLI::IsMember({"bash", "zsh"})));
    add_command(app, "help", help::help)
        ->add_option("COMMAND", parsed.help_words, "The command; without, all of them")
        ->type_name("");
    add_command(app, "version", help::version);
    CLI::App* const man = add_command(app, "man", help::man);
    man->group("");  // hidden
    man->add_option("PAGE", parsed.man_page, "Its name; without, the names of all")
        ->type_name("PAGE");
}

void describe(CLI::App& app, Parsed& parsed) {
    app.name("reaper");
    app.formatter(std::make_shared<HelpFormatter>());
    app.description(help::program.description);
    app.footer(help::program.footer);
    app.fallthrough();  // inherited: the global options may stand after the command
    app.require_subcommand(1);
    add_global_options(app, parsed);
    CLI::App* const run = add_command(app, "run", help::run);
    CLI::Option* const dry =
        run->add_flag("--dry-run", parsed.run.dry_run, "Delete nothing; print each plan");
    run->add_option("--admin", parsed.run.admin,
                    "In a dry run: where the API and its page listen, IP:PORT or unix:/PATH")
        ->needs(dry)
        ->type_name("ADDRESS");
    add_command(app, "gateway", help::gateway);
    add_plan(app, parsed);
    add_request(app, parsed);
    add_apply_options(*add_command(app, "apply", help::apply), parsed.apply);
    add_room_options(*add_command(app, "room", help::room), parsed.room);
    CLI::App& hosts = *add_command(app, "hosts", help::hosts);
    add_snapshot_option(hosts, parsed.hosts.snapshot_file);
    hosts.add_flag("--servers", parsed.hosts.servers, "List the servers of all hosts instead");
    add_candidates(app, parsed);
    add_setup(app, parsed);
    add_reservations(app, parsed);
    add_snapshot(app, parsed);
    add_command(app, "check", help::check);
    add_history(app, parsed);
    add_explain(app, parsed);
    add_usage(app, parsed);
    add_estimate(app, parsed);
    add_replay(app, parsed);
    add_switch(app, parsed);
    add_command(app, "strategies", help::strategies);
    add_command(app, "taggers", help::taggers);
    add_command(app, "estimators", help::estimators);
    add_command(app, "qos", help::qos);
    add_command(app, "config", help::config)
        ->add_flag("--check", parsed.config.check, "Only say whether it is valid");
    add_own_texts(app, parsed);
    add_list_options(app, parsed.list);
}

/// The innermost command that was recognised.
const CLI::App& innermost(const CLI::App& app) {
    const auto chosen = app.get_subcommands();
    return chosen.empty() ? app : innermost(*chosen.back());
}

std::string path_of(const CLI::App& app) {
    const CLI::App* const parent = app.get_parent();
    return parent == nullptr ? app.get_name() : path_of(*parent) + " " + app.get_name();
}

std::vector<std::string> option_names(const CLI::App* app) {
    std::vector<std::string> names;
    for (; app != nullptr; app = app->get_parent())
        for (const CLI::Option* option : app->get_options())
            for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(command->get_name());
    return names;
}

std::string see_help(const CLI::App& app) {
    return "see '" + path_of(app) + " --help'";
}

/// A word that no command and no option takes.
std::string unexpected_word(const CLI::App& app, const std::string& word) {
    const CLI::App& where = innermost(app);
    const bool option = word.starts_with("-");
    const bool command = !option && &where == &app;
    const std::string near = nearest(word.substr(0, word.find('=')),
                                     option ? option_names(&where) : command_names(where));
    std::string line = option ? "unknown option" : command ? "unknown command" : "unknown argument";
    line += " '" + word + "'";
    if (!option && !command) line += " of '" + path_of(where) + "'";
    if (!near.empty()) return line + "; did you mean '" + near + "'?";
    return line + "; " + see_help(where);
}

std::string explain(const CLI::App& app, const CLI::ParseError& error) {
    const auto left = app.remaining(true);
    if (!left.empty() && error.get_name() != "ValidationError")
        return unexpected_word(app, left.front());
    if (app.get_subcommands().empty() && error.get_name() == "RequiredError")
        return "no command given; " + see_help(app);
    return std::string(error.what()) + "; " + see_help(innermost(app));
}

/// Values with a syntax of their own.
Result<void> read_description(const CLI::App& app, const Parsed& parsed,
                              DescribedRequest& described) {
    const auto wrong = [](std::string what) { return Error{Errc::bad_input, std::move(what)}; };
    if (app.count("--resources") > 0) {
        Result<Resources> resources = parse_resources(parsed.resources);
        if (!resources) return wrong("--resources: " + resources.error().what);
        described.resources = *resources;
    }
    for (const std::string& text : parsed.traits)
        if (const auto added = add_trait(described, text); !added)
            return wrong("--trait: " + added.error().what);
    for (const std::string& text : parsed.groups)
        if (const auto added = add_group(described, text); !added)
            return wrong("--group: " + added.error().what);
    if (const auto set = set_group_policy(described, parsed.group_policy); !set)
        return wrong("--group-policy: " + set.error().what);
    const auto phases = phases_of(parsed.res_types);
    if (!phases) return wrong("--res-type: " + phases.error().what);
    described.phases = *phases;
    if (!parsed.res_types.empty()) described.res_type = parsed.res_types.front();
    if (app.count("--az") > 0) described.availability_zone = parsed.zone;
    return {};
}

Result<RequestCommand> finish_request(const CLI::App& app, const Parsed& parsed) {
    RequestCommand request = parsed.request;
    if (auto read = read_description(app, parsed, request); !read) return read.error();
    return request;
}

/// What CLI11 can't know: what goes with what.
Result<PlanCommand> finish_plan(const CLI::App& app, const Parsed& parsed) {
    PlanCommand plan = parsed.plan;
    const auto wrong = [](std::string what) { return Error{Errc::bad_input, std::move(what)}; };
    const bool described = app.count("--resources") > 0;
    const bool listed = app.count("--requests") > 0;
    if (described + listed + !plan.notifications.empty() != 1)
        return wrong(
            "'reaper plan' needs one of --notification FILE, --resources LIST and --requests FILE");
    for (const char* option : {"--slots", "--project", "--az", "--trait", "--res-type"})
        if (!described && app.count(option) > 0)
            return wrong(
                std::string(option) + " goes with --resources: " +
                (listed ? "the file says it for each request" : "a notification says it itself"));
    for (const char* option : {"--requests", "--snapshot", "--save"})
        if (app.count(option) > 0 && app[option]->as<std::string>().empty())
            return wrong(std::string(option) + " needs a file");
    if (described && plan.project.empty())
        return wrong("--resources needs --project, to know if the requester is revocable itself");
    if (auto read = read_description(app, parsed, plan); !read) return read.error();
    if (app.count("--strategy") > 0) plan.strategy = parsed.strategy;
    if (app.count("--alternatives") > 0) plan.alternatives = parsed.alternatives;
    if (const auto saved = check_save(plan, described); !saved) return saved.error();
    return plan;
}

Result<CandidatesCommand> finish_candidates(const Parsed& parsed) {
    CandidatesCommand candidates = parsed.candidates;
    Result<Resources> resources = parse_resources(parsed.wanted);
    if (!resources) return Error{Errc::bad_input, "--resources: " + resources.error().what};
    candidates.resources = std::move(*resources);
    return candidates;
}

Result<SetupCommand> finish_setup(const CLI::App& app, const Parsed& parsed) {
    const CLI::App& slots = *app.get_subcommands().front();
    const auto wrong = [](std::string what) { return Error{Errc::bad_input, std::move(what)}; };
    SetupCommand setup = parsed.setup;
    const bool custom = setup.slot_class.starts_with("CUSTOM_") && setup.slot_class.size() > 7 &&
                        setup.slot_class.size() <= 255 && is_upper_name(setup.slot_class);
    if (!custom)
        return wrong("--class: is '" + printable(setup.slot_class, 60) +
                     "'; expected CUSTOM_ and capital letters, digits and _");
    const std::size_t said = slots.count("--slots") + slots.count("--slots-per");
    if (setup.undo && said > 0) return wrong("--undo takes away all slots: leave their number out");
    if (!setup.undo && said != 1)
        return wrong(
            "'reaper setup resource-tagging' needs one of --slots N and --slots-per CLASS:N");
    if (setup.hosts.empty()) return wrong("--hosts needs a pattern");
    if (slots.count("--slots-per") == 0) return setup;
    const auto per = parse_resources(parsed.per);
    if (!per) return wrong("--slots-per: " + per.error().what);
    if (per->size() != 1) return wrong("--slots-per takes one class: VCPU:2");
    setup.count.per = per->begin()->first;
    setup.count.amount = per->begin()->second;
    return setup;
}

Result<std::map<std::string, std::string>> labels_of(const std::vector<std::string>& texts,
                                                     const std::string& option) {
    std::map<std::string, std::string> labels;
    for (const std::string& text : texts) {
        const auto mark = text.find('=');
        const bool good = mark != std::string::npos && mark > 0;
        if (!good || !labels.emplace(text.substr(0, mark), text.substr(mark + 1)).second)
            return Error{Errc::bad_input, option + ": is '" + printable(text, 60) +
                                              "'; expected NAME=VALUE, each name once"};
    }
    return labels;
}

Result<ReserveCommand> finish_reserve(const CLI::App& app, const Parsed& parsed) {
    const auto wrong = [](std::string what) { return Error{Errc::bad_input, std::move(what)}; };
    const bool unreserve = app.get_name() == "unreserve";
    ReserveCommand order = unreserve ? parsed.unreserve : parsed.reserve;
    order.unreserve = unreserve;
    auto resources = parse_resources(parsed.resources);
    if (!resources) return wrong("--resources: " + resources.error().what);
    order.resources = std::move(*resources);
    auto labels = labels_of(parsed.labels, "--label");
    if (!labels) return labels.error();
    order.labels = std::move(*labels);
    if (unreserve) return order;
    auto refined = labels_of(parsed.refines_labels, "--refines-label");
    if (!refined) return refined.error();
    order.refines_labels = std::move(*refined);
    if (!order.refines_labels.empty() && order.refines.empty())
        return wrong("--refines-label goes with --refines");
    if (parsed.lend && parsed.no_lend) return wrong("--lend and --no-lend: one of the two");
    if (parsed.lend || parsed.no_lend) order.lend = parsed.lend;
    if (!parsed.lend && (!parsed.floor.empty() || !parsed.longest_loan.empty()))
        return wrong("--floor and --longest-loan go with --lend");
    if (!parsed.floor.empty()) {
        auto floor = parse_resources(parsed.floor);
        if (!floor) return wrong("--floor: " + floor.error().what);
        order.floor = std::move(*floor);
    }
    if (parsed.longest_loan.empty()) return order;
    const auto span = config::duration_of(parsed.longest_loan);
    if (!span || *span < Duration::zero())
        return wrong("--longest-loan: is '" + printable(parsed.longest_loan, 60) +
                     "'; expected a span such as 30min or 24h");
    order.longest_loan = *span;
    return order;
}

Result<UsageCommand> finish_usage(const Parsed& parsed) {
    UsageCommand usage = parsed.usage;
    for (const auto& [option, text, into] :
         {std::tuple{"--from", &parsed.from, &usage.from}, {"--to", &parsed.to, &usage.to}}) {
        if (text->empty()) continue;
        *into = parse_time_or_date(*text);
        if (!*into)
            return Error{Errc::bad_input, std::string{option} + ": is '" + printable(*text, 60) +
                                              "'; expected a date such as 2026-11-01 or "
                                              "2026-11-01T12:30:00Z (UTC)"};
    }
    if (usage.from && usage.to && *usage.from >= *usage.to)
        return Error{Errc::bad_input, "--to: must be later than --from"};
    return usage;
}

Result<ReplayCommand> finish_replay(const Parsed& parsed) {
    ReplayCommand replay = parsed.replay;
    Duration none{};
    const auto period = read_period(parsed.period, replay.since, none, replay.until);
    if (!period) return period.error();
    if (none != Duration{})
        return Error{Errc::bad_input,
                     "--since: a recording has a past of its own; expected a date "
                     "such as 2026-11-01 (UTC)"};
    return replay;
}

Result<ReportCommand> finish_report(const Parsed& parsed) {
    ReportCommand report = parsed.report;
    const auto period = read_period(parsed.period, report.since, report.span, report.until);
    if (!period) return period.error();
    return report;
}

/// The commands that take a history, a plan, or nothing at all.
Result<Command> finish_command(const CLI::App& chosen, const Parsed& parsed) {
    const std::string& name = chosen.get_name();
    if (name == "plan") {
        Result<PlanCommand> plan = finish_plan(chosen, parsed);
        return plan ? Result<Command>{std::move(*plan)} : plan.error();
    }
    if (name == "request") {
        Result<RequestCommand> request = finish_request(chosen, parsed);
        return request ? Result<Command>{std::move(*request)} : request.error();
    }
    if (name == "apply") return Command{parsed.apply};
    if (name == "room") {
        Result<RoomCommand> room = room_command(parsed.room);
        return room ? Result<Command>{std::move(*room)} : room.error();
    }
    if (name == "history") {
        Result<HistoryCommand> history = history_command(chosen, parsed.shown, parsed.history);
        return history ? Result<Command>{std::move(*history)} : history.error();
    }
    if (name == "explain") return Command{parsed.explain};
    if (name == "candidates") {
        Result<CandidatesCommand> candidates = finish_candidates(parsed);
        return candidates ? Result<Command>{std::move(*candidates)} : candidates.error();
    }
    if (name == "setup" && chosen.get_subcommands().front()->get_name() == "reservations")
        return Command{parsed.reservation_setup};
    if (name == "setup" && chosen.get_subcommands().front()->get_name() == "oversubscription") {
        if (chosen.get_subcommands().front()->count("--hosts") > 0 &&
            parsed.room_setup.hosts.empty())
            return Error{Errc::bad_input, "--hosts needs a pattern"};
        return Command{parsed.room_setup};
    }
    if (name == "setup") {
        Result<SetupCommand> setup = finish_setup(chosen, parsed);
        return setup ? Result<Command>{std::move(*setup)} : setup.error();
    }
    if (name == "reserve" || name == "unreserve") {
        Result<ReserveCommand> order = finish_reserve(chosen, parsed);
        return order ? Result<Command>{std::move(*order)} : order.error();
    }
    if (name == "reservations") return Command{parsed.reservations};
    if (name == "usage") {
        Result<UsageCommand> usage = finish_usage(parsed);
        return usage ? Result<Command>{*usage} : usage.error();
    }
    if (name == "estimate") {
        Result<EstimateCommand> estimate = estimate_command(parsed.estimate);
        return estimate ? Result<Command>{std::move(*estimate)} : estimate.error();
    }
    if (name == "replay") {
        Result<ReplayCommand> replay = finish_replay(parsed);
        return replay ? Result<Command>{std::move(*replay)} : replay.error();
    }
    if (name == "report") {
        Result<ReportCommand> report = finish_report(parsed);
        return report ? Result<Command>{std::move(*report)} : report.error();
    }
    if (name == "run") return Command{parsed.run};
    if (name == "gateway") return Command{GatewayCommand{}};
    if (name == "hosts") return Command{parsed.hosts};
    if (name == "snapshot") return Command{parsed.snapshot};
    if (name == "pause") return Command{parsed.pause};
    if (name == "check") return Command{CheckCommand{}};
    if (name == "resume") return Command{ResumeCommand{}};
    if (name == "status") return Command{StatusCommand{}};
    if (name == "strategies") return Command{StrategiesCommand{}};
    if (name == "taggers") return Command{TaggersCommand{}};
    if (name == "estimators") return Command{EstimatorsCommand{}};
    if (name == "qos") return Command{QosCommand{}};
    return Command{parsed.config};
}

GlobalOptions finish_global(const CLI::App& app, const Parsed& parsed) {
    GlobalOptions global = parsed.global;
    global.config_given = app.count("--config") > 0;
    if (parsed.verbose > 0) global.log_level = parsed.verbose == 1 ? "debug" : "trace";
    if (!parsed.log_level.empty()) global.log_level = parsed.log_level;
    if (parsed.color == "always") global.color = ColorMode::always;
    if (parsed.color == "never") global.color = ColorMode::never;
    return global;
}

Leave man_page(const CommandEntry& program, const std::string& wanted) {
    const auto pages = man_pages(program, REAPER_VERSION);
    std::string names;
    for (const auto& [name, text] : pages) {
        if (name == wanted) return {ExitCode::ok, text, ""};
        names += name + "\n";
    }
    if (wanted.empty()) return {ExitCode::ok, names, ""};
    return {ExitCode::usage, "",
            "no man page '" + printable(wanted, 60) + "'; 'reaper man' lists them"};
}

/// Texts that are made of the commands and options themselves; nothing if another one is wanted.
std::optional<Leave> own_text(CLI::App& app, const Parsed& parsed) {
    const std::string name = app.get_subcommands().front()->get_name();
    if (name == "help") return help_for(app, parsed.help_words);
    if (name == "version") return version_text(parsed.global.json);
    if (name != "completion" && name != "man") return std::nullopt;
    const auto formatter = std::static_pointer_cast<HelpFormatter>(app.get_formatter());
    const CommandEntry program =
        command_table(app, [&](const CLI::App& command) { return formatter->brief_of(command); });
    if (name == "man") return man_page(program, parsed.man_page);
    const bool bash = parsed.shell == "bash";
    return Leave{ExitCode::ok, bash ? bash_completion(program) : zsh_completion(program), ""};
}

std::variant<Arguments, Leave> finish(const CLI::App& app, const Parsed& parsed) {
    Arguments arguments{finish_global(app, parsed), {}};
    Result<Command> command = finish_command(*app.get_subcommands().front(), parsed);
    if (!command) return Leave{ExitCode::usage, "", command.error().what};
    Result<ListOptions> list = list_options(parsed.list, parsed.global.json);
    if (!list) return Leave{ExitCode::usage, "", list.error().what};
    if (auto why = why_not_followed(parsed.history, *list))
        return Leave{ExitCode::usage, "", std::move(*why)};
    arguments.global.json = list->format == ListFormat::json;
    arguments.global.list = std::move(*list);
    arguments.command = std::move(*command);
    return arguments;
}

}  // namespace

std::variant<Arguments, Leave> parse_arguments(int argc, const char* const* argv) {
    CLI::App app;
    Parsed parsed;
    describe(app, parsed);
    try {
        app.parse(argc, argv);
        if (auto text = own_text(app, parsed)) return std::move(*text);
        return finish(app, parsed);
    } catch (const CLI::CallForHelp&) {
        return Leave{ExitCode::ok, app.help(), ""};
    } catch (const CLI::CallForVersion& version) {
        return Leave{ExitCode::ok, std::string(version.what()) + "\n", ""};
    } catch (const CLI::ParseError& error) {
        return Leave{ExitCode::usage, "", explain(app, error)};
    }
}

}  // namespace reaper::cli
