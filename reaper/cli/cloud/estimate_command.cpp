// `reaper estimate`: what estimators would have done, by Prometheus' history.
#include <algorithm>
#include <memory>
#include <utility>

#include "config/values.hpp"
#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/cloud/cloud_view.hpp"
#include "reaper/cli/cloud/estimate_report.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/daemon/metrics_source.hpp"
#include "reaper/model/text.hpp"
#include "reaper/oversubscription/host_facts.hpp"
#include "reaper/oversubscription/plugin_tables.hpp"
#include "reaper/report/json.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
namespace {

constexpr Duration oracle_ahead = std::chrono::hours{1};

/// An estimator with what it is called.
struct Candidate {
    Parameters parameters;
    std::unique_ptr<Estimator> estimator;
};

Error no_such(const std::string& what, const std::string& expected) {
    return Error{Errc::bad_input, "--estimator: " + what + "; expected " + expected};
}

Result<Candidate> made(const EstimatorInfo& info, Parameters parameters) {
    Candidate candidate{with_standards(info.parameters, std::move(parameters)), nullptr};
    auto either = info.make(candidate.parameters);
    if (const auto* wrong = std::get_if<ParameterError>(&either))
        return no_such("impossible " + std::string{info.name} + ":" + wrong->parameter,
                       wrong->expected);
    candidate.estimator = std::move(std::get<std::unique_ptr<Estimator>>(either));
    return candidate;
}

Result<ParameterValue> value_of(const ParameterSpec& spec, const std::vector<std::string>& texts) {
    if (spec.kind == ParameterKind::text_list) return ParameterValue{texts};
    if (texts.size() > 1)
        return no_such("parameter " + std::string{spec.name} + " is given twice", "one");
    if (spec.kind == ParameterKind::text) return ParameterValue{texts.front()};
    const auto number = config::integer_of(texts.front());
    if (!number)
        return no_such(std::string{spec.name} + " is " + in_quotes(texts.front()),
                       "a whole number (" + std::string{spec.help} + ")");
    return ParameterValue{*number};
}

Result<Candidate> chosen(const EstimateCommand::Chosen& wanted) {
    const EstimatorInfo* const info = find_estimator(wanted.name);
    if (info == nullptr)
        return no_such("unknown name " + in_quotes(wanted.name),
                       "one that 'reaper estimators' has");
    Parameters parameters;
    for (const auto& given : wanted.parameters) {
        const std::string& name = given.first;
        const auto& specs = info->parameters;
        const auto spec = std::ranges::find(specs, name, &ParameterSpec::name);
        if (spec == specs.end())
            return no_such(wanted.name + " has no parameter " + in_quotes(name),
                           "one that 'reaper estimators' has");
        auto value = value_of(*spec, given.second);
        if (!value) return value.error();
        parameters.emplace(name, std::move(*value));
    }
    return made(*info, std::move(parameters));
}

/// Those that were asked for; else all that there are, the configured one as it is configured.
Result<std::vector<Candidate>> candidates_of(const EstimateCommand& command,
                                             const config::Plugin& configured) {
    std::vector<Candidate> all;
    for (const auto& wanted : command.estimators) {
        auto candidate = chosen(wanted);
        if (!candidate) return candidate.error();
        all.push_back(std::move(*candidate));
    }
    if (!all.empty()) return all;
    for (const auto& info : estimator_table()) {
        auto candidate =
            made(info, info.name == configured.name ? configured.parameters : Parameters{});
        if (!candidate) return candidate.error();
        all.push_back(std::move(*candidate));
    }
    return all;
}

/// Who holds oversubscribed room now.
std::set<ServerId> holders_in(const Snapshot& snapshot, const ResourceClass& room_class) {
    std::set<ServerId> holders;
    for (const auto& host : snapshot.hosts)
        for (const auto& server : host.servers)
            if (server.resources().get(room_class) > 0) holders.insert(server.id);
    return holders;
}

std::vector<HostFacts> hosts_in(const Snapshot& snapshot, const config::Oversubscription& room) {
    std::vector<HostFacts> all;
    for (const auto& host : snapshot.hosts) {
        HostFacts facts = facts_of(host);
        if (sells_room(facts, room.hosts, room.aggregates)) all.push_back(std::move(facts));
    }
    return all;
}

/// Reads the cloud and Prometheus.
Result<MeasuredHistory> measured(boost::asio::io_context& io, const config::Settings& settings,
                                 const Terminal& terminal, HistorySpan span) {
    const config::Oversubscription& room = settings.oversubscription;
    const auto policy = compile_policy(settings.policy);
    if (!policy) return policy.error();
    auto cloud = connect_cloud(io, settings);
    if (!cloud) return cloud.error();
    auto metrics = connect_metrics(io.get_executor(), room.prometheus, *cloud->clock);
    if (!metrics) return metrics.error();
    const auto view = cloud_view(io, *cloud, **policy, terminal);
    if (!view) return view.error();
    std::vector<HostFacts> hosts = hosts_in(view->snapshot, room);
    if (hosts.empty())
        return Error{Errc::bad_input,
                     "none of the hosts is one that oversubscription.hosts and "
                     "oversubscription.aggregates name"};
    terminal.progress("asking Prometheus ...");
    const auto progress = [&terminal](std::size_t piece, std::size_t pieces) {
        terminal.progress("asking Prometheus: " + std::to_string(piece) + " of " +
                          std::to_string(pieces) + " ...");
    };
    auto history =
        run_task(io, read_usage_history(**metrics, room.prometheus, std::move(hosts),
                                        holders_in(view->snapshot, ResourceClass{room.room_class}),
                                        span, progress));
    terminal.end_progress();
    return history;
}

/// Host by host: all histories at once would be large.
std::vector<EstimateLine> lines_of(const MeasuredHistory& history,
                                   const std::vector<Candidate>& candidates,
                                   const BacktestRules& rules, const Terminal& terminal) {
    constexpr std::size_t told_each = 100;
    std::vector<EstimateLine> lines;
    for (const auto& candidate : candidates)
        lines.push_back({candidate.parameters, backtest({}, *candidate.estimator, rules)});
    lines.push_back({{}, backtest_oracle({}, oracle_ahead, rules)});
    const std::size_t count = history.hosts.size();
    for (std::size_t number = 0; number < count; ++number) {
        if (number % told_each == 0)
            terminal.progress("trying estimators: host " + std::to_string(number + 1) + " of " +
                              std::to_string(count) + " ...");
        const std::vector<HostHistory> one{history_of(history.hosts[number], history.span)};
        for (std::size_t i = 0; i < candidates.size(); ++i)
            lines[i].result += backtest(one, *candidates[i].estimator, rules);
        lines.back().result += backtest_oracle(one, oracle_ahead, rules);
    }
    terminal.end_progress();
    return lines;
}

}  // namespace

ExitCode carry_out(const GlobalOptions& global, const EstimateCommand& command,
                   const Terminal& terminal) {
    const auto settings = settings_for_looking(global, terminal);
    if (!settings) return ExitCode::usage;
    const config::Oversubscription& room = settings->oversubscription;
    const auto candidates = candidates_of(command, room.estimator);
    if (!candidates) return terminal.fail(ExitCode::usage, candidates.error());
    EstimateReport report;
    report.span.until = command.until.value_or(now());
    report.span.from = command.since.value_or(report.span.until - command.span);
    report.span.step = command.step;
    report.per_server = !room.prometheus.server_label.empty();
    report.excess = room.excess;
    if (report.span.from >= report.span.until)
        return terminal.fail(ExitCode::usage,
                             Error{Errc::bad_input, "--until: must be later than --since"});
    boost::asio::io_context io{1};
    auto history = measured(io, *settings, terminal, report.span);
    if (!history) return terminal.fail(history.error());
    report.history = std::move(*history);
    BacktestRules rules;
    rules.publication = room.publication;
    rules.evict = room.excess == "evict";
    rules.per_server = report.per_server;
    report.lines = lines_of(report.history, *candidates, rules, terminal);
    return show_document(
        terminal, [&] { return to_json(report); },
        [&] { return render_estimate(report, terminal.render_options(now())); });
}

}  // namespace reaper::cli
