#include "reaper/cli/arguments/apply_arguments.hpp"

#include <CLI/CLI.hpp>

namespace reaper::cli {

const help::Text help::apply{
    "Carry out a plan that 'reaper plan --save' wrote, or nothing",
    R"(Asks the running daemon, over its Unix socket (admin.socket) or over --api, to carry out a plan that
somebody looked at. The daemon decides again, and deletes servers only if these are exactly those of
the file; else the plan is stale: one line tells what differs, and nobody is deleted. So is a plan
that is older than cull.approved_max_age (1h). It is served like 'reaper request': under the
same protection, limits and pause, each victim read again right before its deletion, once (a
file that is applied again is answered with its outcome), and in the journal with who approved
it.

With --dry-run it is only checked, by what the daemon knows of the cloud.)",
    R"(Examples:
  reaper plan --resources VCPU=4,MEMORY_MB=8192 --project web --save plan.json
  reaper apply plan.json --dry-run
  reaper apply plan.json

Exit codes: 0 the room is there (with --dry-run: it would be), 7 the plan is stale (no servers
deleted), 3 the daemon refuses for another reason, is paused or in a dry run (no servers deleted), 2
the file or the configuration is wrong, 1 anything else.
)"};

void add_apply_options(CLI::App& command, ApplyCommand& apply) {
    command.add_option("FILE", apply.file, "Of 'reaper plan --save'; - is stdin")
        ->required()
        ->type_name("");
    command.add_flag("--dry-run", apply.dry_run, "Only say whether the plan holds");
}

void add_save_option(CLI::App& plan, std::string& file) {
    plan.add_option("--save", file, "Also write the plan to this file, for 'reaper apply'")
        ->type_name("FILE");
}

Result<void> check_save(const PlanCommand& plan, bool described) {
    if (plan.save_file.empty()) return {};
    const auto wrong = [](const char* what) { return Error{Errc::bad_input, what}; };
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

}  // namespace reaper::cli
