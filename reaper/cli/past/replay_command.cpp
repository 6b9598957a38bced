// `reaper replay`: a recording, decided again under another strategy, other limits or another file.
#include <utility>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/cloud/plan_input.hpp"
#include "reaper/cli/daemon/local_settings.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/cli/past/replay_policies.hpp"
#include "reaper/recording/replay_report.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/table_formats.hpp"

namespace reaper::cli {
namespace {

/// What is asked for, in the words of the file; the strategy last.
Result<std::vector<config::Override>> overrides_of(const ReplayCommand& command) {
    std::vector<config::Override> all;
    for (const std::string& text : command.set) {
        auto wanted = override_of(text);
        if (!wanted) return wanted.error();
        all.push_back(std::move(*wanted));
    }
    if (command.strategy.empty()) return all;
    auto strategy = strategy_as_yaml(command.strategy);
    if (!strategy) return strategy.error();
    all.emplace_back("strategy", std::move(*strategy));
    return all;
}

ExitCode code_of(const Error& error) {
    return error.code == Errc::bad_input ? ExitCode::usage : ExitCode::failed;
}

}  // namespace

ExitCode show_replay(const GlobalOptions& global, const ReplayCommand& command,
                     const Terminal& terminal) {
    auto overrides = overrides_of(command);
    if (!overrides) return terminal.fail(ExitCode::usage, overrides.error());
    std::string config_text;
    if (global.config_given) {
        auto text = read_input(global.config_file);
        if (!text) return terminal.fail(ExitCode::usage, text.error());
        config_text = std::move(*text);
    }
    take_modules(global, terminal);
    ReplayPolicies policies(global.config_file, std::move(config_text), std::move(*overrides));
    const auto replayed = recording::replay(
        command.directory,
        [&](const recording::PolicyLine& line) { return policies.recorded(line); },
        [&](const recording::PolicyLine& line) { return policies.asked(line); },
        {command.since, command.until});
    if (!replayed) return terminal.fail(code_of(replayed.error()), replayed.error());
    const recording::ReplayTitles titles{command.directory, policies.recorded_title(),
                                         policies.asked_title()};
    if (terminal.list().format == ListFormat::csv) {
        terminal.answer(report::table_csv(recording::replay_table(*replayed)));
        return ExitCode::ok;
    }
    return show_document(
        terminal, [&] { return recording::to_json(*replayed, titles); },
        [&] {
            return recording::render_replay(*replayed, titles,
                                            terminal.render_options(TimePoint{}));
        });
}

}  // namespace reaper::cli
