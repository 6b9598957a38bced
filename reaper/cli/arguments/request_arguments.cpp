#include "reaper/cli/arguments/request_arguments.hpp"

#include <CLI/CLI.hpp>
#include <map>
#include <utility>

#include "reaper/cli/arguments/arguments.hpp"
#include "reaper/cli/arguments/command_table.hpp"
#include "reaper/cli/past/replay_policies.hpp"
#include "reaper/model/resources_text.hpp"
#include "reaper/model/role.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/request_spec/res_type_query.hpp"

namespace reaper::cli {
namespace {

/// What `reserve` and `unreserve` have in common.
void add_reservation(CLI::App& command, Parsed& parsed, ReserveCommand& order) {
    repeated(command, "--host", "HOST", order.hosts, "Host, by name or UUID; may be repeated")
        ->required();
    option(command, "--role", "ROLE", order.role, "For whom: a path such as engineering/backend")
        ->required();
    option(command, "--resources", "LIST", parsed.resources,
           "How much on each host: VCPU=8,DISK_GB=80")
        ->required();
    repeated(command, "--label", "LABEL", parsed.labels,
             "NAME=VALUE or NAME; different labels stay apart; may be repeated");
    option(command, "--principal", "NAME", order.principal, "The requester (default: the user)");
    option(command, "--key", "KEY", order.key,
           "Name the order, so that asking again is the same order, not another one");
    command.add_flag("--dry-run", order.dry_run, "Only say whether it could be done");
}

Result<std::map<std::string, std::string>> labels_of(const std::vector<std::string>& texts,
                                                     const std::string& option) {
    std::map<std::string, std::string> labels;
    for (const std::string& text : texts) {
        const auto mark = text.find('=');
        const std::string value = mark == std::string::npos ? "" : text.substr(mark + 1);
        if (text.empty() || mark == 0 || !labels.emplace(text.substr(0, mark), value).second)
            return wrong(option, text, "NAME=VALUE or NAME, each name once");
    }
    return labels;
}

}  // namespace

void add_reservations(CLI::App& app, Parsed& parsed) {
    CLI::App& reserve = *add_command(app, "reserve");
    add_reservation(reserve, parsed, parsed.reserve);
    option(reserve, "--refines", "ROLE", parsed.reserve.refines,
           "Take it from this role above instead of unreserved room");
    repeated(reserve, "--refines-label", "LABEL", parsed.refines_labels,
             "A label of the reservation that is refined; may be repeated");
    reserve.add_flag("--lend", parsed.lend, "Revocable servers may use what is idle");
    reserve.add_flag("--no-lend", parsed.no_lend, "They may not");
    option(reserve, "--floor", "LIST", parsed.floor, "Never lend that much: VCPU=2");
    option(reserve, "--longest-loan", "SPAN", parsed.longest_loan,
           "For this time: 24h; 0s: no limit (else: reservations.longest_loan)");
    CLI::App& unreserve = *add_command(app, "unreserve");
    add_reservation(unreserve, parsed, parsed.unreserve);
    option(unreserve, "--refines", "ROLE", parsed.unreserve_refines,
           "Only of what was taken from this role above ('': from unreserved room)");
    repeated(unreserve, "--refines-label", "LABEL", parsed.refines_labels,
             "A label of the reservation that was refined; may be repeated");
    option(unreserve, "--reserver", "NAME", parsed.unreserve.reserver,
           "Only of what this principal reserved (default: one's own first)");
    unreserve.add_flag("--lent-too", parsed.unreserve.lent_too,
                       "Also what is lent: its tenants go first");
    CLI::App& list = *add_command(app, "reservations");
    option(list, "--role", "ROLE", parsed.reservations.role, "Only of this role");
    option(list, "--host", "HOST", parsed.reservations.host, "Only on this host");
}

Result<ReserveCommand> finish_reserve(const CLI::App& app, const Parsed& parsed) {
    const bool unreserve = app.get_name() == "unreserve";
    ReserveCommand order = unreserve ? parsed.unreserve : parsed.reserve;
    order.unreserve = unreserve;
    if (const auto role = Role::parse(order.role); !role)
        return wrong("--role: " + role.error().what);
    auto resources = parse_resources(parsed.resources);
    if (!resources) return wrong("--resources: " + resources.error().what);
    order.resources = std::move(*resources);
    auto labels = labels_of(parsed.labels, "--label");
    if (!labels) return labels.error();
    order.labels = std::move(*labels);
    auto refined = labels_of(parsed.refines_labels, "--refines-label");
    if (!refined) return refined.error();
    order.refines_labels = std::move(*refined);
    if (unreserve) order.returns_to = parsed.unreserve_refines;
    const std::string refines = unreserve ? order.returns_to.value_or("") : order.refines;
    if (!order.refines_labels.empty() && refines.empty())
        return wrong("--refines-label goes with --refines");
    if (const auto role = Role::parse(refines); !refines.empty() && !role)
        return wrong("--refines: " + role.error().what);
    if (unreserve) return order;
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
    const auto span = parse_duration(parsed.longest_loan);
    if (!span || *span < Duration::zero())
        return wrong("--longest-loan", parsed.longest_loan, "a span such as 30min or 24h");
    order.longest_loan = *span;
    return order;
}

namespace {

/// Why the two do not go together.
constexpr const char* flavor_of_snapshot =
    "--flavor goes with the cloud: a snapshot has no flavors; use --resources";

/// What one server is, of `candidates` too.
void add_server(CLI::App& command, std::string& flavor, std::string& resources,
                const char* example) {
    option(command, "--flavor", "FLAVOR", flavor, "What one server is: a flavor's name or id");
    option(command, "--resources", "LIST", resources,
           std::string{"What one server needs: "} + example);
}

/// Which servers, of `room` too.
void add_servers(CLI::App& command, Parsed& parsed, DescribedRequest& described,
                 const char* project) {
    add_server(command, described.flavor, parsed.resources, "VCPU=4,MEMORY_MB=2048");
    option(command, "--slots,--count", "N", described.slots, "How many such servers (default 1)")
        ->check(quiet(CLI::Range(1, 100000)));
    option(command, "--project", "PROJECT", described.project, project);
    option(command, "--zone,--az", "AZ", parsed.zone, "Availability zone that they must be in");
    repeated(command, "--trait", "TRAIT", parsed.traits,
             "NAME=required or NAME=forbidden; may be repeated");
}

/// A request in words: what `plan` and `request` have in common.
void add_description(CLI::App& command, Parsed& parsed, DescribedRequest& described) {
    add_servers(command, parsed, described, "Whose they are: project id or name");
    repeated(command, "--group", "LIST", parsed.groups,
             "From one provider: VGPU=1,NAME=required; may be repeated");
    option(command, "--group-policy", "POLICY", parsed.group_policy,
           "May groups share a provider: none (they may) or isolate");
    repeated(command, "--res-type", "CONSTRAINT", parsed.res_types,
             "Room: regular (default), revocable, ~regular, ~revocable or *");
}

Result<void> read_resources(const Parsed& parsed, DescribedRequest& described) {
    auto resources = parse_resources(parsed.resources);
    if (!resources) return wrong("--resources: " + resources.error().what);
    described.resources = std::move(*resources);
    return {};
}

Result<void> read_traits(const Parsed& parsed, DescribedRequest& described) {
    for (const std::string& text : parsed.traits)
        if (const auto added = add_trait(described, text); !added)
            return wrong("--trait: " + added.error().what);
    return {};
}

/// `bad_input` for a plan that can't be approved: one that the daemon would not make by itself.
Result<void> check_save(const PlanCommand& plan, bool described) {
    if (plan.save_file.empty()) return {};
    if (!described)
        return wrong("--save goes with --resources or --flavor: one request that is described");
    if (!plan.snapshot_file.empty())
        return wrong("--save goes with the live cloud: a snapshot is not what will be deleted");
    if (plan.strategy || plan.alternatives)
        return wrong(
            "--save goes without --strategy and --alternatives: the daemon decides by its own "
            "configuration");
    return {};
}

/// Values with a syntax of their own.
Result<void> read_description(const CLI::App& app, const Parsed& parsed,
                              DescribedRequest& described) {
    for (const char* option : {"--resources", "--group", "--group-policy"})
        if (!described.flavor.empty() && app.count(option) > 0)
            return wrong(std::string(option) +
                         " does not go with --flavor, which says that itself");
    if (app.count("--flavor") > 0 && described.flavor.empty())
        return wrong("--flavor: is empty; expected a flavor's name or id");
    if (app.count("--resources") > 0)
        if (auto read = read_resources(parsed, described); !read) return read;
    if (auto read = read_traits(parsed, described); !read) return read;
    for (const std::string& text : parsed.groups)
        if (const auto added = add_group(described, text); !added)
            return wrong("--group: " + added.error().what);
    if (const auto set = set_group_policy(described, parsed.group_policy); !set)
        return wrong("--group-policy: " + set.error().what);
    const auto phases = phases_of(parsed.res_types);
    if (!phases) return wrong("--res-type: " + phases.error().what);
    described.phases = *phases;
    if (!parsed.res_types.empty()) described.res_type = parsed.res_types.front();
    if (app.count("--zone") > 0) described.availability_zone = parsed.zone;
    return {};
}

}  // namespace

void add_snapshot_option(CLI::App& command, std::string& file) {
    option(command, "--snapshot", "FILE", file,
           "Read this file of 'reaper snapshot' instead of the cloud");
}

void add_request(CLI::App& app, Parsed& parsed) {
    CLI::App& request = *add_command(app, "request");
    add_description(request, parsed, parsed.request);
    request.get_option("--project")->required();
    option(request, "--id", "ID", parsed.request.id,
           "Name it, so that asking again is the same request, not another one");
}

void add_plan(CLI::App& app, Parsed& parsed) {
    CLI::App& plan = *add_command(app, "plan");
    repeated(plan, "--notification", "FILE", parsed.plan.notifications,
             "Captured message of Nova, enveloped or bare; - is stdin; may be repeated");
    option(plan, "--requests", "FILE", parsed.plan.requests_file,
           "YAML or JSON list of requests, planned one after the other; - is stdin");
    add_description(plan, parsed, parsed.plan);
    option(plan, "--strategy", "STRATEGY", parsed.strategy,
           "Instead of the configured one: NAME or NAME:key=value,...");
    option(plan, "--alternatives", "N", parsed.alternatives, "Instead of the configured number")
        ->check(quiet(CLI::Range(1, 1000)));
    add_snapshot_option(plan, parsed.plan.snapshot_file);
    option(plan, "--save", "FILE", parsed.plan.save_file,
           "Also write the plan to this file, for 'reaper apply'");
}

void add_room(CLI::App& app, Parsed& parsed) {
    CLI::App& room = *add_command(app, "room");
    add_servers(room, parsed, parsed.room,
                "Whose they are: project id or name (default: of a regular one)");
    add_snapshot_option(room, parsed.room.snapshot_file);
}

void add_candidates(CLI::App& app, Parsed& parsed) {
    CLI::App& candidates = *add_command(app, "candidates");
    add_server(candidates, parsed.candidates.flavor, parsed.wanted, "VCPU:1,MEMORY_MB:2048");
    option(candidates, "--zone,--az", "AZ", parsed.candidates.zone,
           "Only hosts of this availability zone");
    add_snapshot_option(candidates, parsed.candidates.snapshot_file);
}

Result<RequestCommand> finish_request(const CLI::App& app, const Parsed& parsed) {
    RequestCommand request = parsed.request;
    if (app.count("--resources") + app.count("--flavor") == 0)
        return wrong("'reaper request' needs one of --flavor FLAVOR and --resources LIST");
    if (auto read = read_description(app, parsed, request); !read) return read.error();
    return request;
}

/// What CLI11 can't know: what goes with what.
Result<PlanCommand> finish_plan(const CLI::App& app, const Parsed& parsed) {
    PlanCommand plan = parsed.plan;
    const bool described = app.count("--resources") > 0 || app.count("--flavor") > 0;
    const bool listed = app.count("--requests") > 0;
    if (described + listed + !plan.notifications.empty() != 1)
        return wrong(
            "'reaper plan' needs one of --notification FILE, --flavor FLAVOR, --resources LIST and "
            "--requests FILE");
    for (const char* option : {"--slots", "--project", "--zone", "--trait", "--res-type"})
        if (!described && app.count(option) > 0)
            return wrong(
                std::string(option) + " goes with --resources or --flavor: " +
                (listed ? "the file says it for each request" : "a notification says it itself"));
    for (const char* option : {"--requests", "--snapshot", "--save"})
        if (app.count(option) > 0 && app[option]->as<std::string>().empty())
            return wrong(std::string(option) + ": is empty; expected a file");
    if (described && plan.project.empty())
        return wrong(std::string(plan.flavor.empty() ? "--resources" : "--flavor") +
                     " needs --project, to know if the requester is revocable itself");
    if (!plan.flavor.empty() && !plan.snapshot_file.empty()) return wrong(flavor_of_snapshot);
    if (auto read = read_description(app, parsed, plan); !read) return read.error();
    if (app.count("--strategy") > 0) {
        if (const auto yaml = strategy_as_yaml(parsed.strategy); !yaml) return yaml.error();
        plan.strategy = parsed.strategy;
    }
    if (app.count("--alternatives") > 0) plan.alternatives = parsed.alternatives;
    if (const auto saved = check_save(plan, described); !saved) return saved.error();
    return plan;
}

Result<RoomCommand> finish_room(const Parsed& parsed) {
    RoomCommand room = parsed.room;
    if (room.flavor.empty() == parsed.resources.empty())
        return wrong("'reaper room' needs one of --flavor FLAVOR and --resources LIST");
    if (!room.flavor.empty() && !room.snapshot_file.empty()) return wrong(flavor_of_snapshot);
    if (!parsed.resources.empty())
        if (auto read = read_resources(parsed, room); !read) return read.error();
    if (auto read = read_traits(parsed, room); !read) return read.error();
    if (!parsed.zone.empty()) room.availability_zone = parsed.zone;
    return room;
}

Result<CandidatesCommand> finish_candidates(const Parsed& parsed) {
    CandidatesCommand candidates = parsed.candidates;
    if (candidates.flavor.empty() == parsed.wanted.empty())
        return wrong("'reaper candidates' needs one of --flavor FLAVOR and --resources LIST");
    if (!candidates.flavor.empty() && !candidates.snapshot_file.empty())
        return wrong(flavor_of_snapshot);
    if (!candidates.flavor.empty()) return candidates;
    Result<Resources> resources = parse_resources(parsed.wanted);
    if (!resources) return wrong("--resources: " + resources.error().what);
    candidates.resources = std::move(*resources);
    return candidates;
}

}  // namespace reaper::cli
