#include "reaper/cli/arguments/arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <pwd.h>
#include <regex>
#include <unistd.h>
#include <utility>

#include "reaper/cli/arguments/command_table.hpp"
#include "reaper/cli/arguments/help_text.hpp"
#include "reaper/cli/arguments/parsed.hpp"
#include "reaper/cli/arguments/past_arguments.hpp"
#include "reaper/cli/arguments/request_arguments.hpp"
#include "reaper/model/resources_text.hpp"
#include "reaper/model/role.hpp"
#include "reaper/model/text.hpp"
#include "reaper/report/json.hpp"

namespace reaper::cli {
namespace {

void add_apply(CLI::App& app, ApplyCommand& apply) {
    CLI::App& command = *add_command(app, "apply");
    option(command, "FILE", "", apply.file, "Of 'reaper plan --save'; - is stdin")->required();
    command.add_flag("--dry-run", apply.dry_run, "Only say whether the plan holds");
}

void add_setup(CLI::App& app, Parsed& parsed) {
    CLI::App& setup = *add_command(app, "setup");
    setup.require_subcommand(1);
    CLI::App& slots = *add_command(setup, "resource-tagging");
    option(slots, "--class", "CLASS", parsed.setup.slot_class,
           "The resource class (default CUSTOM_PREEMPTIBLE)");
    option(slots, "--slots", "N", parsed.setup.count.fixed, "Slots on each host")
        ->check(quiet(CLI::Range(1, 1000000)));
    option(slots, "--slots-per", "CLASS:N", parsed.per,
           "One slot for so much of each host's capacity: VCPU:2");
    option(slots, "--hosts", "PATTERN", parsed.setup.hosts,
           "Only hosts of such a name, with * and ? (default *)");
    slots.add_flag("--apply", parsed.setup.apply, "Do it; without, it is only told");
    slots.add_flag("--undo", parsed.setup.undo, "Take it away again");
    CLI::App& kept = *add_command(setup, "reservations");
    kept.add_flag("--apply", parsed.reservation_setup.apply, "Do it; without, it is only told");
    kept.add_flag("--undo", parsed.reservation_setup.undo, "Take it away again");
    CLI::App& room = *add_command(setup, "oversubscription");
    option(room, "--hosts", "PATTERN", parsed.room_setup.hosts,
           "Only hosts of such a name, with * and ? (default: as configured)");
    room.add_flag("--apply", parsed.room_setup.apply, "Do it; without, it is only told");
    room.add_flag("--undo", parsed.room_setup.undo, "Take it away again");
}

/// `app`: `setup`, with what is to be set up; `resource-tagging`. `bad_input` names the option.
Result<SetupCommand> finish_setup(const CLI::App& app, const Parsed& parsed) {
    const CLI::App& slots = *app.get_subcommands().front();
    SetupCommand setup = parsed.setup;
    const bool custom = setup.slot_class.starts_with("CUSTOM_") && setup.slot_class.size() > 7 &&
                        setup.slot_class.size() <= 255 && is_upper_name(setup.slot_class);
    if (!custom)
        return wrong("--class", setup.slot_class, "CUSTOM_ and upper case letters, digits and _");
    const std::size_t said = slots.count("--slots") + slots.count("--slots-per");
    if (setup.undo && said > 0) return wrong("--undo takes away all slots: leave their number out");
    if (!setup.undo && said != 1)
        return wrong(
            "'reaper setup resource-tagging' needs one of --slots N and --slots-per CLASS:N");
    if (setup.hosts.empty())
        return wrong("--hosts: is empty; expected a pattern such as 'compute-*'");
    if (slots.count("--slots-per") == 0) return setup;
    const auto per = parse_resources(parsed.per);
    if (!per) return wrong("--slots-per: " + per.error().what);
    if (per->size() != 1)
        return wrong("--slots-per: is " + in_quotes(parsed.per) +
                     "; expected one class, such as VCPU:2");
    setup.count.per = per->begin()->first;
    setup.count.amount = per->begin()->second;
    return setup;
}

/// The innermost command that was recognised.
const CLI::App& innermost(const CLI::App& app) {
    const auto chosen = app.get_subcommands();
    return chosen.empty() ? app : innermost(*chosen.back());
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

/// CLI11's own sentences about a value, in ours; none: it is another one.
std::optional<std::string> about_value(const std::string& said) {
    static const std::regex twice{"^(.+): At Most 1 required but received [0-9]+$"};
    static const std::regex missing{"^(.+): [0-9]+ required .* ?missing$"};
    static const std::regex range{"^(.+): Value (.*) not in range (\\S+) (?:to|-) (\\S+)$"};
    static const std::regex choice{"^(.+): (.*) not in \\{(.*)\\}$"};
    static const std::regex convert{"^Could not convert: (\\S+) = (.*)$"};
    std::smatch part;
    if (std::regex_match(said, part, twice)) return part.str(1) + " is given more than once";
    if (std::regex_match(said, part, missing)) return part.str(1) + " needs a value";
    if (std::regex_match(said, part, range))
        return part.str(1) + ": is " + in_quotes(part.str(2)) + "; expected " + part.str(3) +
               " to " + part.str(4);
    if (std::regex_match(said, part, choice)) {
        const auto words = std::regex_replace(part.str(3), std::regex{", *"}, ", ");
        return part.str(1) + ": is " + in_quotes(part.str(2)) + "; expected one of " + words;
    }
    if (std::regex_match(said, part, convert))
        return part.str(1) + ": is " + in_quotes(part.str(2)) + "; expected a whole number";
    return std::nullopt;
}

/// An option that some command has, written before the command.
bool is_before_the_command(const CLI::App& app, const CLI::App& innermost_command,
                           const std::string& word) {
    const std::string name = word.substr(0, word.find('='));
    const bool own = innermost_command.get_option_no_throw(name) != nullptr;
    if (!own && &innermost_command != &app) return false;
    const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
    return std::ranges::any_of(commands, [&](const CLI::App* command) {
        return command->get_option_no_throw(name) != nullptr;
    });
}

std::string see_help(const CLI::App& app) {
    return "see '" + path_of(app) + " --help'";
}

/// A word that no command and no option takes.
std::string unexpected_word(const CLI::App& app, const std::string& word) {
    const CLI::App& where = innermost(app);
    const bool option = word.starts_with("-");
    const bool command = !option && &where == &app;
    if (option && is_before_the_command(app, where, word))
        return in_quotes(word) + " stands after the command; " + see_help(where);
    const auto near = nearest(word.substr(0, word.find('=')),
                              option ? option_names(&where) : command_names(where));
    std::string line = option ? "unknown option" : command ? "unknown command" : "unknown argument";
    line += " '" + word + "'";
    if (!option && !command) line += " of '" + path_of(where) + "'";
    if (near) return line + "; did you mean '" + *near + "'?";
    return line + "; " + see_help(where);
}

/// One line: the unknown word and what was meant, or what is missing.
std::string why_wrong(const CLI::App& app, const CLI::ParseError& error) {
    const auto left = app.remaining(true);
    if (app.get_subcommands().empty() && !left.empty() && is_list_option(left.front()))
        return "no command given; " + see_help(app);
    if (!left.empty() && error.get_name() != "ValidationError")
        return unexpected_word(app, left.front());
    if (app.get_subcommands().empty() && error.get_name() == "RequiredError")
        return "no command given; " + see_help(app);
    const std::string said = about_value(error.what()).value_or(error.what());
    return said + "; " + see_help(innermost(app));
}

Leave no_command(const CLI::App& parent, const std::string& path, const std::string& word) {
    std::vector<std::string> names;
    for (const CLI::App* each : parent.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(each->get_name());
    const auto near = nearest(word, names);
    return {ExitCode::usage, "",
            "'" + path + "' has no command " + in_quotes(word) +
                (near ? "; did you mean '" + *near + "'?" : "; see '" + path + " --help'")};
}

const CLI::App* command_of(const CLI::App& parent, const std::string& name) {
    for (const CLI::App* each : parent.get_subcommands([](const CLI::App*) { return true; }))
        if (each->get_name() == name) return each;
    return nullptr;
}

/// The help of the command that the words name; of the program without any.
Leave help_for(const CLI::App& program, const std::vector<std::string>& words) {
    const CLI::App* found = &program;
    std::string path;
    for (const std::string& word : words) {
        path += (path.empty() ? "" : " ") + found->get_name();
        const CLI::App* const next = command_of(*found, word);
        if (next == nullptr) return no_command(*found, path, word);
        found = next;
    }
    const std::string name = (path.empty() ? "" : path + " ") + found->get_name();
    return {ExitCode::ok,
            found->get_formatter()->make_help(found, name, CLI::AppFormatMode::Normal), ""};
}

Leave version_text(bool as_json) {
    if (!as_json) return {ExitCode::ok, std::string{"reaper "} + REAPER_VERSION + "\n", ""};
    const nlohmann::json document{{"version", report::json_version},
                                  {"program_version", REAPER_VERSION}};
    return {ExitCode::ok, report::dump(document, 2) + "\n", ""};
}

void add_global_options(CLI::App& app, Parsed& parsed) {
    app.set_help_flag("-h,--help", "Show this help, or that of the command");
    app.set_version_flag("--version", std::string("reaper ") + REAPER_VERSION, "Show the version");
    option(app, "--config", "FILE", parsed.global.config_file,
           "Configuration (default /etc/reaper/reaper.yaml, or REAPER_CONFIG)")
        ->envname("REAPER_CONFIG");
    option(app, "--api", "URL", parsed.global.api.url,
           "Ask the daemon at https://HOST:PORT of its admin API (or REAPER_API)")
        ->envname("REAPER_API");
    option(app, "--ca-file", "FILE", parsed.global.api.ca_file,
           "With --api: certificates to trust, PEM (default the system's)");
    option(app, "--cert-file", "FILE", parsed.global.api.cert_file,
           "With --api: certificate of the client, PEM");
    option(app, "--key-file", "FILE", parsed.global.api.key_file, "With --api: its key, PEM");
    option(app, "--token-file", "FILE", parsed.global.api.token_file,
           "With --api: holds a token of Keystone (default OS_TOKEN, or a new one)");
    app.add_flag("--json", parsed.global.json, "Print the answer as JSON");
    app.add_flag("-v,--verbose", parsed.verbose, "Log more; twice: everything");
    option(app, "--log-level", "LEVEL", parsed.log_level,
           "trace, debug, info, warning or error, instead of the configured one")
        ->check(quiet(CLI::IsMember({"trace", "debug", "info", "warning", "error"})));
    option(app, "--color", "WHEN", parsed.color,
           "auto (when stdout is a terminal), always or never")
        ->check(quiet(CLI::IsMember({"auto", "always", "never"})));
}

void add_snapshot(CLI::App& app, Parsed& parsed) {
    CLI::App& snapshot = *add_command(app, "snapshot");
    option(snapshot, "--out", "FILE", parsed.snapshot.out, "Where to (default -, which is stdout)");
    snapshot.add_flag("--anonymous", parsed.snapshot.anonymous, "Replace names and ids");
}

void add_host_filters(CLI::App& hosts, HostFilters& filters) {
    CLI::Option* const only = option(hosts, "HOST", "", filters.host,
                                     "Only this host: its name, whole or short, or its id");
    option(hosts, "--host", "HOST", filters.host, "The same")->excludes(only);
    option(hosts, "--zone,--az", "AZ", filters.zone, "Only hosts of this availability zone");
    option(hosts, "--project", "PROJECT", filters.project,
           "Only servers of this project, and hosts that have some: id, or name");
    option(hosts, "--flavor", "FLAVOR", filters.flavor,
           "Only servers of this flavor, by name, and hosts with some");
    option(hosts, "--type", "TYPE", filters.type,
           "Only regular or revocable servers, and hosts with some")
        ->check(quiet(CLI::IsMember({"regular", "revocable"})));
}

void add_explain(CLI::App& app, Parsed& parsed) {
    CLI::App& explain = *add_command(app, "explain");
    option(explain, "SERVER", "", parsed.explain.asked, "Its id or name, or a request's id")
        ->required();
    add_journal_option(explain, parsed.explain.journal);
}

void add_dead_letters(CLI::App& app, Parsed& parsed) {
    CLI::App& letters = *add_command(app, "dead-letters");
    letters.require_subcommand(1);
    add_command(letters, "list");
    option(*add_command(letters, "show"), "ID", "", parsed.letters.ids,
           "Its id, as the list has it")
        ->required()
        ->expected(1);
    CLI::App& retry = *add_command(letters, "retry");
    option(retry, "ID", "", parsed.letters.ids, "Their ids, as the list has them");
    retry.add_flag("--all", parsed.letters.all, "All of them");
}

Result<Command> finish_dead_letters(const CLI::App& chosen, const Parsed& parsed) {
    DeadLettersCommand letters = parsed.letters;
    const std::string what = chosen.get_subcommands().front()->get_name();
    if (what == "show") letters.what = DeadLettersCommand::What::show;
    if (what == "retry") {
        letters.what = DeadLettersCommand::What::retry;
        if (letters.all == !letters.ids.empty())
            return wrong("which letters are to be retried? Name their ids, or say --all");
    }
    return Command{std::move(letters)};
}

void add_journal(CLI::App& app, Parsed& parsed) {
    CLI::App& journal = *add_command(app, "journal");
    journal.require_subcommand(1);
    CLI::App& migrate = *add_command(journal, "migrate");
    migrate.add_flag("--dry-run", parsed.journal.dry_run, "Only prints the SQL");
    option(migrate, "--url", "URL", parsed.journal.database_url,
           "The same database with another user, who may create tables");
    option(migrate, "--password-file", "FILE", parsed.journal.password_file, "Of that user");
    CLI::App& copy = *add_command(journal, "copy");
    option(copy, "--from", "FILE", parsed.journal.from, "A journal's file, into the database");
    option(copy, "--to", "FILE", parsed.journal.to,
           "A journal's file, new or empty, from the database");
}

Result<Command> finish_journal(const CLI::App& chosen, const Parsed& parsed) {
    JournalCommand journal = parsed.journal;
    if (chosen.get_subcommands().front()->get_name() != "copy") {
        if (!journal.password_file.empty() && journal.database_url.empty())
            return wrong("--password-file goes with --url");
        return Command{std::move(journal)};
    }
    journal.what = JournalCommand::What::copy;
    if (journal.from.empty() == journal.to.empty())
        return wrong("copy: --from FILE into the database, or --to FILE out of it");
    return Command{std::move(journal)};
}

void add_protect(CLI::App& app, Parsed& parsed) {
    CLI::App& protect = *add_command(app, "protect");
    option(protect, "SERVER", "", parsed.protect.server,
           "Its id, or its name; without, all of them");
    option(protect, "--until", "TIME", parsed.protect_until,
           "Until then: 2026-11-27T08:00:00, UTC");
    option(protect, "--for", "SPAN", parsed.protect_span, "For this time: 30min, 24h");
    option(protect, "--reason", "TEXT", parsed.protect.reason, "Why; shown wherever it shows");
    protect.add_flag("--remove", parsed.protect.remove, "Ends its protection");
    protect.add_flag("--list", parsed.protect_list, "Lists the servers that are protected");
}

void add_simulate(CLI::App& app, Parsed& parsed) {
    CLI::App& simulate = *add_command(app, "simulate");
    option(simulate, "SERVER", "", parsed.simulate.server, "Its id")->required();
    option(simulate, "--for", "SPAN", parsed.simulate_span,
           "Before the end: 2min; default: as configured for it");
    simulate.add_flag("--remove", parsed.simulate.remove, "Takes the notice back");
}

Result<Command> finish_simulate(const Parsed& parsed) {
    SimulateCommand command = parsed.simulate;
    if (parsed.simulate_span.empty()) return Command{std::move(command)};
    command.span = parse_duration(parsed.simulate_span);
    if (command.remove) return wrong("--remove takes a server and nothing else");
    if (!command.span) return wrong("--for", parsed.simulate_span, "a span such as 30s or 2min");
    return Command{std::move(command)};
}

Result<ProtectCommand> finish_protect(const Parsed& parsed) {
    ProtectCommand command = parsed.protect;
    const bool bounded = !parsed.protect_until.empty() || !parsed.protect_span.empty();
    if (parsed.protect_list && (!command.server.empty() || command.remove))
        return wrong("--list takes no server");
    if (command.server.empty() && (command.remove || bounded || !command.reason.empty()))
        return wrong("which server? Give its id or name");
    if (command.remove && (bounded || !command.reason.empty()))
        return wrong("--remove takes a server and nothing else");
    if (!parsed.protect_until.empty() && !parsed.protect_span.empty())
        return wrong("--until and --for: one of the two");
    if (!parsed.protect_until.empty()) {
        command.until = parse_time_or_date(parsed.protect_until);
        if (!command.until)
            return wrong("--until", parsed.protect_until,
                         "a time such as 2026-11-27T08:00:00, UTC");
    }
    if (!parsed.protect_span.empty()) {
        command.span = parse_duration(parsed.protect_span);
        if (!command.span || *command.span <= Duration::zero())
            return wrong("--for", parsed.protect_span, "a span such as 30min or 24h");
    }
    return command;
}

void add_switch(CLI::App& app, Parsed& parsed) {
    option(*add_command(app, "pause"), "--reason", "TEXT", parsed.pause.reason,
           "Why; shown by status and in the history");
    add_command(app, "resume");
    add_protect(app, parsed);
    add_simulate(app, parsed);
    add_command(app, "status");
    add_command(app, "health")
        ->add_flag("--live", parsed.health.live, "Only whether it works: not whether it is ready");
    add_command(app, "reapers");
    add_command(app, "oversubscription");
}

/// What packages install beside the program.
void add_own_texts(CLI::App& app, Parsed& parsed) {
    option(*add_command(app, "completion"), "SHELL", "", parsed.shell, "bash or zsh")
        ->required()
        ->check(quiet(CLI::IsMember({"bash", "zsh"})));
    option(*add_command(app, "help"), "COMMAND", "", parsed.help_words,
           "The command; without, all of them");
    add_command(app, "version");
}

void describe(CLI::App& app, Parsed& parsed) {
    app.name("reaper");
    app.formatter(std::make_shared<HelpFormatter>());
    const help::Text& text = help::text_of(app.get_name());
    app.description(text.description);
    app.footer(text.footer);
    app.fallthrough();  // inherited: the global options may stand after the command
    app.require_subcommand(1);
    add_global_options(app, parsed);
    CLI::App* const run = add_command(app, "run");
    CLI::Option* const dry =
        run->add_flag("--dry-run", parsed.run.dry_run, "Delete nothing; print each plan");
    option(*run, "--admin", "ADDRESS", parsed.run.admin,
           "In a dry run: where the API and its page listen, IP:PORT or unix:/PATH")
        ->needs(dry);
    add_command(app, "gateway");
    add_plan(app, parsed);
    add_request(app, parsed);
    add_apply(app, parsed.apply);
    add_room(app, parsed);
    CLI::App& hosts = *add_command(app, "hosts");
    add_snapshot_option(hosts, parsed.hosts.snapshot_file);
    hosts.add_flag("--servers", parsed.hosts.servers, "List the servers of all hosts instead");
    add_host_filters(hosts, parsed.hosts.filters);
    add_candidates(app, parsed);
    add_setup(app, parsed);
    add_reservations(app, parsed);
    add_snapshot(app, parsed);
    add_command(app, "check");
    add_history(app, parsed);
    add_explain(app, parsed);
    add_dead_letters(app, parsed);
    add_journal(app, parsed);
    add_usage(app, parsed);
    add_risk(app, parsed);
    add_estimate(app, parsed);
    add_replay(app, parsed);
    add_switch(app, parsed);
    for (const char* const name : {"strategies", "taggers", "estimators", "qos"})
        add_command(app, name);
    CLI::App* const config = add_command(app, "config");
    CLI::Option* const check =
        config->add_flag("--check", parsed.config.check, "Only say whether it is valid");
    config
        ->add_flag("--env", parsed.config.env,
                   "Each key with its environment variable, and where its value comes from")
        ->excludes(check);
    add_own_texts(app, parsed);
    add_list_options(app, parsed.list);
}

template <class Chosen>
Result<Command> as_command(Result<Chosen> chosen) {
    if (!chosen) return chosen.error();
    return Command{std::move(*chosen)};
}

/// `app`: `setup`, with what is to be set up.
Result<Command> finish_any_setup(const CLI::App& app, const Parsed& parsed) {
    const CLI::App& chosen = *app.get_subcommands().front();
    if (chosen.get_name() == "reservations") return Command{parsed.reservation_setup};
    if (chosen.get_name() != "oversubscription") return as_command(finish_setup(app, parsed));
    if (chosen.count("--hosts") > 0 && parsed.room_setup.hosts.empty())
        return wrong("--hosts: is empty; expected a pattern such as 'compute-*'");
    return Command{parsed.room_setup};
}

Result<Command> finish_reservations(const Parsed& parsed) {
    const auto role = Role::parse(parsed.reservations.role);
    if (!parsed.reservations.role.empty() && !role) return wrong("--role: " + role.error().what);
    return Command{parsed.reservations};
}

/// The commands that take a history, a plan, or nothing at all.
Result<Command> finish_command(const CLI::App& chosen, const Parsed& parsed) {
    const std::string& name = chosen.get_name();
    if (name == "plan") return as_command(finish_plan(chosen, parsed));
    if (name == "request") return as_command(finish_request(chosen, parsed));
    if (name == "room") return as_command(finish_room(parsed));
    if (name == "history") return as_command(history_command(chosen, parsed.shown, parsed.history));
    if (name == "dead-letters") return finish_dead_letters(chosen, parsed);
    if (name == "journal") return finish_journal(chosen, parsed);
    if (name == "candidates") return as_command(finish_candidates(parsed));
    if (name == "setup") return finish_any_setup(chosen, parsed);
    if (name == "reserve" || name == "unreserve") return as_command(finish_reserve(chosen, parsed));
    if (name == "protect") return as_command(finish_protect(parsed));
    if (name == "simulate") return finish_simulate(parsed);
    if (name == "reservations") return finish_reservations(parsed);
    if (name == "usage") return as_command(finish_usage(parsed));
    if (name == "risk") return as_command(finish_risk(parsed));
    if (name == "estimate") return as_command(finish_estimate(parsed));
    if (name == "replay") return as_command(finish_replay(parsed));
    if (name == "report") return as_command(finish_report(parsed));
    const std::map<std::string, Command> plain{{"apply", parsed.apply},
                                               {"explain", parsed.explain},
                                               {"run", parsed.run},
                                               {"gateway", GatewayCommand{}},
                                               {"hosts", parsed.hosts},
                                               {"snapshot", parsed.snapshot},
                                               {"pause", parsed.pause},
                                               {"check", CheckCommand{}},
                                               {"resume", ResumeCommand{}},
                                               {"status", StatusCommand{}},
                                               {"health", parsed.health},
                                               {"reapers", ReapersCommand{}},
                                               {"oversubscription", OversubscriptionCommand{}},
                                               {"strategies", StrategiesCommand{}},
                                               {"taggers", TaggersCommand{}},
                                               {"estimators", EstimatorsCommand{}},
                                               {"qos", QosCommand{}},
                                               {"config", parsed.config}};
    return plain.at(name);
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

CommandEntry table_of(CLI::App& app) {
    const auto formatter = std::static_pointer_cast<HelpFormatter>(app.get_formatter());
    return command_table(app,
                         [&](const CLI::App& command) { return formatter->brief_of(command); });
}

/// Texts that are made of the commands and options themselves; nothing if another one is wanted.
std::optional<Leave> own_text(CLI::App& app, const Parsed& parsed) {
    const std::string name = app.get_subcommands().front()->get_name();
    if (name == "help") return help_for(app, parsed.help_words);
    if (name == "version") return version_text(parsed.global.json);
    if (name != "completion") return std::nullopt;
    const CommandEntry program = table_of(app);
    const bool bash = parsed.shell == "bash";
    return Leave{ExitCode::ok, bash ? bash_completion(program) : zsh_completion(program), ""};
}

std::variant<Arguments, Leave> finish(const CLI::App& app, const Parsed& parsed) {
    Arguments arguments{finish_global(app, parsed), {}};
    Result<Command> command = finish_command(*app.get_subcommands().front(), parsed);
    if (!command) return Leave{ExitCode::usage, "", command.error().what};
    Result<ListOptions> list = list_options(parsed.list, parsed.global.json);
    if (!list) return Leave{ExitCode::usage, "", list.error().what};
    const ApiOptions& api = parsed.global.api;
    const bool given = !api.ca_file.empty() || !api.cert_file.empty() || !api.key_file.empty() ||
                       !api.token_file.empty();
    if (given && (api.url.empty() || api.url.starts_with("unix:")))
        return Leave{ExitCode::usage, "",
                     "--ca-file, --cert-file, --key-file and --token-file go with --api and an "
                     "address of the network"};
    if (api.cert_file.empty() != api.key_file.empty())
        return Leave{ExitCode::usage, "", "--cert-file and --key-file: both or neither"};
    if (!api.url.empty() && !(parsed.history.journal + parsed.explain.journal).empty())
        return Leave{ExitCode::usage, "",
                     "--journal is a file of this machine; --api asks another"};
    if (auto why = why_not_followed(parsed.history, *list))
        return Leave{ExitCode::usage, "", std::move(*why)};
    arguments.global.json = list->format == ListFormat::json;
    arguments.global.list = std::move(*list);
    arguments.command = std::move(*command);
    return arguments;
}

}  // namespace

CommandEntry own_command_table() {
    CLI::App app;
    Parsed parsed;
    describe(app, parsed);
    return table_of(app);
}

std::variant<Arguments, Leave> parse_arguments(int argc, const char* const* argv) {
    CLI::App app;
    Parsed parsed;
    describe(app, parsed);
    try {
        std::vector<std::string> words =
            with_list_options_last(app, std::vector<std::string>(argv, argv + argc));
        std::reverse(words.begin() + 1, words.end());  // CLI11 reads the last one first
        words.erase(words.begin());
        app.parse(std::move(words));
        if (auto text = own_text(app, parsed)) return std::move(*text);
        return finish(app, parsed);
    } catch (const CLI::CallForHelp&) {
        return Leave{ExitCode::ok, app.help(), ""};
    } catch (const CLI::CallForVersion& version) {
        return Leave{ExitCode::ok, std::string(version.what()) + "\n", ""};
    } catch (const CLI::ParseError& error) {
        return Leave{ExitCode::usage, "", why_wrong(app, error)};
    }
}

std::string operator_name() {
    const passwd* const entry = getpwuid(geteuid());
    const std::string user = entry != nullptr ? entry->pw_name : std::to_string(geteuid());
    const char* const person = std::getenv("SUDO_USER");
    return person != nullptr && *person != '\0' && person != user
               ? std::string{person} + " (as " + user + ")"
               : user;
}

TimePoint now() {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

}  // namespace reaper::cli
