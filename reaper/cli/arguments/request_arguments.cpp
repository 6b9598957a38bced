#include "reaper/cli/arguments/request_arguments.hpp"

#include <CLI/CLI.hpp>
#include <utility>

#include "reaper/cli/arguments/apply_arguments.hpp"
#include "reaper/cli/arguments/help_formatter.hpp"
#include "reaper/cli/arguments/quiet_check.hpp"
#include "reaper/cli/past/replay_policies.hpp"
#include "reaper/model/resources_text.hpp"
#include "reaper/request_spec/res_type_constraint.hpp"

namespace reaper::cli {
namespace {

/// A request in words: what `plan` and `request` have in common.
void add_description(CLI::App& command, Parsed& parsed, DescribedRequest& described) {
    command.add_option("--flavor", described.flavor, "What one server is: a flavor's name or id")
        ->type_name("FLAVOR");
    command
        .add_option("--resources", parsed.resources, "What one server needs: VCPU=4,MEMORY_MB=2048")
        ->type_name("LIST");
    command.add_option("--slots,--count", described.slots, "How many such servers (default 1)")
        ->type_name("N")
        ->check(quiet(CLI::Range(1, 100000)));
    command.add_option("--project", described.project, "Whose they are: project id or name")
        ->type_name("PROJECT");
    command.add_option("--zone,--az", parsed.zone, "Availability zone that they must be in")
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

/// Values with a syntax of their own.
Result<void> read_description(const CLI::App& app, const Parsed& parsed,
                              DescribedRequest& described) {
    const auto wrong = [](std::string what) { return Error{Errc::bad_input, std::move(what)}; };
    for (const char* option : {"--resources", "--group", "--group-policy"})
        if (!described.flavor.empty() && app.count(option) > 0)
            return wrong(std::string(option) +
                         " does not go with --flavor, which says that itself");
    if (app.count("--flavor") > 0 && described.flavor.empty())
        return wrong("--flavor: is empty; expected a flavor's name or id");
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
    if (app.count("--zone") > 0) described.availability_zone = parsed.zone;
    return {};
}

}  // namespace

void add_snapshot_option(CLI::App& command, std::string& file) {
    command
        .add_option("--snapshot", file, "Read this file of 'reaper snapshot' instead of the cloud")
        ->type_name("FILE");
}

void add_request(CLI::App& app, Parsed& parsed) {
    CLI::App& request = *add_command(app, "request", help::request);
    add_description(request, parsed, parsed.request);
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
    plan.add_option("--strategy", parsed.strategy,
                    "Instead of the configured one: NAME or NAME:key=value,...")
        ->type_name("STRATEGY");
    plan.add_option("--alternatives", parsed.alternatives, "Instead of the configured number")
        ->type_name("N")
        ->check(quiet(CLI::Range(1, 1000)));
    add_snapshot_option(plan, parsed.plan.snapshot_file);
    add_save_option(plan, parsed.plan.save_file);
}

void add_candidates(CLI::App& app, Parsed& parsed) {
    CLI::App& candidates = *add_command(app, "candidates", help::candidates);
    candidates
        .add_option("--flavor", parsed.candidates.flavor,
                    "What one server is: a flavor's name or id")
        ->type_name("FLAVOR");
    candidates
        .add_option("--resources", parsed.wanted, "What one server needs: VCPU:1,MEMORY_MB:2048")
        ->type_name("LIST");
    candidates
        .add_option("--zone,--az", parsed.candidates.zone, "Only hosts of this availability zone")
        ->type_name("AZ");
    add_snapshot_option(candidates, parsed.candidates.snapshot_file);
}

Result<RequestCommand> finish_request(const CLI::App& app, const Parsed& parsed) {
    RequestCommand request = parsed.request;
    if (app.count("--resources") + app.count("--flavor") == 0)
        return Error{Errc::bad_input,
                     "'reaper request' needs one of --flavor FLAVOR and --resources LIST"};
    if (auto read = read_description(app, parsed, request); !read) return read.error();
    return request;
}

/// What CLI11 can't know: what goes with what.
Result<PlanCommand> finish_plan(const CLI::App& app, const Parsed& parsed) {
    PlanCommand plan = parsed.plan;
    const auto wrong = [](std::string what) { return Error{Errc::bad_input, std::move(what)}; };
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

Result<CandidatesCommand> finish_candidates(const Parsed& parsed) {
    CandidatesCommand candidates = parsed.candidates;
    if (candidates.flavor.empty() == parsed.wanted.empty())
        return Error{Errc::bad_input,
                     "'reaper candidates' needs one of --flavor FLAVOR and --resources LIST"};
    if (!candidates.flavor.empty() && !candidates.snapshot_file.empty())
        return Error{Errc::bad_input, flavor_of_snapshot};
    if (!candidates.flavor.empty()) return candidates;
    Result<Resources> resources = parse_resources(parsed.wanted);
    if (!resources) return Error{Errc::bad_input, "--resources: " + resources.error().what};
    candidates.resources = std::move(*resources);
    return candidates;
}

}  // namespace reaper::cli
