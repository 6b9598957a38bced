// `reaper check`: everything that the daemon needs, one line each.
#include <memory>
#include <utility>

#include "config/loader.hpp"
#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/check/checks.hpp"
#include "reaper/cli/check/rights.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/daemon/metrics_source.hpp"
#include "reaper/decision/policy.hpp"
#include "reaper/modules/loaded_modules.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
namespace {

Task<bool> check_whole_cloud(Cloud& cloud, config::Policy policy, std::optional<AuthInfo>& who,
                             const Report& report) {
    who = co_await check_cloud(cloud.ports(), *cloud.parts.session, std::move(policy), report);
    co_return true;
}

/// Without a configuration there is nothing to go on with.
std::optional<config::Settings> check_config(const std::string& path, const Report& report) {
    const auto fail = [&](std::string line) { report({Verdict::fail, "config", std::move(line)}); };
    const auto warn = [&](std::string line) { report({Verdict::warn, "config", std::move(line)}); };
    auto settings = load_config(path, fail, warn);
    if (settings) report({Verdict::ok, "config", path});
    return settings;
}

/// What a variable says is seen in no file.
void tell_origins(const std::string& path, const Report& report) {
    std::size_t of_file = 0;
    std::string variables;
    for (const auto& each : config::origins(path, config::system_environment())) {
        if (each.from == "environment")
            variables += (variables.empty() ? "" : ", ") + each.variable;
        else if (!each.from.empty())
            ++of_file;
    }
    report({Verdict::ok, "keys",
            std::to_string(of_file) +
                " by the file; by the environment: " + (variables.empty() ? "none" : variables) +
                "; the others are defaults ('reaper config --env' tells of each)"});
}

/// What runs in the program with its rights.
void tell_modules(const Report& report) {
    for (const LoadedModule& module : loaded_modules())
        report({Verdict::ok, "module " + module.path,
                module.title() + ", for interface " + std::to_string(module_interface_version) +
                    " (" + REAPER_INTERFACE_DIGEST + "), SHA-256 " + module.sha256 +
                    ", of root; it gives " + module.parts +
                    ", and runs with all rights of the reaper"});
}

void check_room(boost::asio::io_context& io, Cloud& cloud, const config::Oversubscription& settings,
                const Report& report, const Terminal& terminal) {
    std::shared_ptr<Metrics> metrics;
    if (!settings.prometheus.url.empty()) {
        auto connected = connect_metrics(io.get_executor(), settings.prometheus, *cloud.clock);
        if (!connected) {
            report({Verdict::fail, "prometheus", connected.error().what});
            return;
        }
        metrics = std::move(*connected);
        terminal.progress("asking Prometheus ...");
    }
    run_task(io, check_oversubscription(cloud.ports(), *cloud.parts.session, metrics.get(),
                                        settings, report));
}

/// `who` is set to who we are in the cloud.
void check_parts(const config::Settings& settings, TriedCalls& calls, std::optional<AuthInfo>& who,
                 const Report& report, const Terminal& terminal) {
    if (const auto policy = compile_policy(settings.policy); !policy) {
        report({Verdict::fail, "policy", policy.error().what});
    } else {
        report({Verdict::ok, "policy",
                "strategy " + (*policy)->strategy_name + ", alternatives " +
                    std::to_string((*policy)->alternatives)});
    }
    check_journal(settings.journal, report);
    check_switch(settings.pause_file, settings.journal, report);
    check_limits(settings.policy.safeguards, report);
    check_duties(settings.policy.duties, report);
    terminal.progress("asking the broker ...");
    const auto probe = broker_console(settings.broker)->look();
    check_broker(settings.broker, probe, report);
    if (probe) report(broker_tried(probe->product));
    // Without a consumer there is no daemon to ask.
    if (probe && probe->queue && probe->queue->consumers > 0)
        check_activity(activity_of(settings.broker, settings.journal.place()), report);

    boost::asio::io_context io{1};
    auto cloud = connect_cloud(io, settings, calls.observer());
    if (!cloud) {
        report({Verdict::fail, "cloud", cloud.error().what});
        return;
    }
    terminal.progress("asking the cloud ...");
    run_task(io, check_gateway(io, *cloud->clock, *cloud->parts.session, settings, report));
    run_task(io, check_whole_cloud(*cloud, settings.policy, who, report));
    run_task(io, check_reservations(cloud->ports(), settings.reservations, report));
    check_room(io, *cloud, settings.oversubscription, report, terminal);
}

/// Told before anything is checked: a column that is not there, or an order that can't be.
Result<void> check_wishes(const ListOptions& list) {
    const std::vector<Finding> none;
    const auto text =
        list_text({findings_table(none), [&none] { return to_json(none); }, "checks"}, list, {});
    if (!text) return text.error();
    return {};
}

/// As lines, which come as they are found; else the list comes at the end.
bool as_lines(const ListOptions& list) {
    return list.format == ListFormat::table && list.sort.empty() && list.columns.empty();
}

}  // namespace

ExitCode carry_out(const GlobalOptions& global, const CheckCommand&, const Terminal& terminal) {
    if (const auto fits = check_wishes(terminal.list()); !fits)
        return terminal.fail(ExitCode::usage, fits.error());
    std::vector<Finding> findings;
    const bool lines = as_lines(terminal.list());
    const Report report = [&](Finding finding) {
        terminal.end_progress();
        if (lines) terminal.answer(to_line(finding, terminal.color()));
        findings.push_back(std::move(finding));
    };
    const auto settings = check_config(global.config_file, report);
    tell_modules(report);
    if (settings) {
        tell_origins(global.config_file, report);
        TriedCalls calls;
        std::optional<AuthInfo> who;
        check_parts(*settings, calls, who, report, terminal);
        const auto policy = compile_policy(settings->policy);
        const bool holds_room = policy && !(*policy)->held_classes().empty();
        const std::vector<Finding> found = findings;
        check_rights(features_of(*settings, holds_room), needed_rights,
                     {calls, found, std::move(who)}, report);
    }
    terminal.end_progress();
    if (!lines) {
        const ExitCode shown = show_list(
            terminal,
            {findings_table(findings), [&findings] { return to_json(findings); }, "checks"});
        if (shown != ExitCode::ok) return shown;
    }
    if (!settings) return ExitCode::usage;
    return any_failed(findings) ? ExitCode::attention : ExitCode::ok;
}

}  // namespace reaper::cli
