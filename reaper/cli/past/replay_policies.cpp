#include "reaper/cli/past/replay_policies.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>
#include <variant>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/cloud/planning.hpp"
#include "reaper/cli/daemon/local_settings.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/model/text.hpp"
#include "reaper/recording/replay_report.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/table.hpp"
#include "strategies/strategy_table.hpp"

namespace reaper::cli {
namespace {

using Loaded = std::variant<config::Policy, std::vector<config::ConfigError>>;

/// A name of ours: nothing that means anything in YAML.
bool is_plain(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '-';
    });
}

Error mistakes(const std::vector<config::ConfigError>& errors) {
    const auto said = [](const config::ConfigError& error) { return config::to_string(error); };
    return Error{Errc::bad_input, joined(errors, "; ", said)};
}

std::string title_of(const config::Policy& policy) {
    std::string title = "strategy " + policy.strategy.name;
    if (policy.alternatives != 1) title += ", alternatives " + std::to_string(policy.alternatives);
    return title;
}

/// Who is protected by an operator, or by a name, as far as the recording knows it; an id is one
/// anyway.
void find_protected(config::Policy& policy, const recording::PolicyLine& line) {
    for (const std::string& server : line.protected_servers)
        policy.safeguards.protect.servers.emplace(server, "");
    auto& ids = policy.safeguards.protect.project_ids;
    for (const std::string& written : policy.safeguards.protect.projects) {
        const auto known = line.project_ids.find(written);
        ids.emplace(written, known == line.project_ids.end() ? written : known->second);
    }
}

Result<recording::ReplayPolicy> compiled(config::Policy policy, const recording::PolicyLine& line,
                                         bool retags) {
    if (policy.taggers.empty()) policy.taggers = config::standard_policy().taggers;
    find_protected(policy, line);
    auto made = compile_policy(policy);
    if (!made) return made.error();
    return recording::ReplayPolicy{std::move(*made), retags};
}

Loaded loaded(const std::string& name, const std::string& text,
              const std::vector<config::Override>& overrides) {
    return config::load_policy_text(name, text, overrides, config::system_environment());
}

}  // namespace

Result<std::string> strategy_as_yaml(const std::string& text) {
    const auto wrong = [&](const std::string& part) {
        return Error{Errc::bad_input, "--strategy: has " + in_quotes(part) +
                                          "; expected NAME or NAME:key=value,..."};
    };
    const auto colon = text.find(':');
    const std::string name = text.substr(0, colon);
    if (!is_plain(name)) return wrong(text);
    std::string yaml = "{name: " + name;
    if (colon == std::string::npos) return yaml + "}";
    // A key that is given several times is a list.
    std::vector<std::pair<std::string, std::vector<std::string>>> keys;
    std::istringstream parts{text.substr(colon + 1)};
    for (std::string part; std::getline(parts, part, ',');) {
        const auto mark = part.find('=');
        if (mark == std::string::npos || !is_plain(part.substr(0, mark))) return wrong(part);
        const std::string key = part.substr(0, mark), value = part.substr(mark + 1);
        if (value.empty() || value.find_first_of("\"\\\n") != std::string::npos) return wrong(part);
        const auto known =
            std::ranges::find_if(keys, [&](const auto& each) { return each.first == key; });
        if (known == keys.end())
            keys.push_back({key, {value}});
        else
            known->second.push_back(value);
    }
    // Else several make a list; of a strategy that is here it is known.
    const StrategyInfo* const info = find_strategy(name);
    const auto is_list = [&](const std::string& key) {
        return info != nullptr &&
               std::ranges::any_of(info->parameters, [&](const ParameterSpec& spec) {
                   return spec.name == key && spec.kind == ParameterKind::text_list;
               });
    };
    const auto scalar = [](const std::string& value) {
        return is_plain(value) ? value : "\"" + value + "\"";
    };
    for (const auto& [key, values] : keys) {
        yaml += ", " + key + ": ";
        if (values.size() == 1 && !is_list(key)) {
            yaml += scalar(values.front());
            continue;
        }
        yaml += "[" + joined(values, ", ", scalar) + "]";
    }
    return yaml + "}";
}

Result<config::Plugin> strategy_of(const std::string& text) {
    const auto yaml = strategy_as_yaml(text);
    if (!yaml) return yaml.error();
    auto read = loaded("--strategy", "strategy: " + *yaml + "\n", {});
    if (auto* const errors = std::get_if<std::vector<config::ConfigError>>(&read)) {
        for (config::ConfigError& each : *errors) each.line = 0;  // there is but one
        return mistakes(*errors);
    }
    return std::move(std::get<config::Policy>(read).strategy);
}

Result<config::Override> override_of(const std::string& text) {
    const auto mark = text.find('=');
    if (mark == std::string::npos || mark == 0 || mark + 1 == text.size())
        return Error{Errc::bad_input, "--set: is " + in_quotes(text) +
                                          "; expected key=value, such as "
                                          "limits.victims_per_window=10"};
    return config::Override{text.substr(0, mark), text.substr(mark + 1)};
}

Result<recording::ReplayPolicy> ReplayPolicies::recorded(const recording::PolicyLine& line) {
    auto policy = loaded("the recorded configuration", line.configuration, {});
    if (const auto* errors = std::get_if<std::vector<config::ConfigError>>(&policy))
        return mistakes(*errors);
    recorded_policy_ = std::get<config::Policy>(policy);
    recorded_title_ = title_of(recorded_policy_);
    return compiled(recorded_policy_, line, false);
}

Result<recording::ReplayPolicy> ReplayPolicies::asked(const recording::PolicyLine& line) {
    const bool other = !config_text_.empty();
    auto policy = loaded(other ? config_name_ : "the recorded configuration",
                         other ? config_text_ : line.configuration, overrides_);
    if (const auto* errors = std::get_if<std::vector<config::ConfigError>>(&policy))
        return mistakes(*errors);
    auto& wanted = std::get<config::Policy>(policy);
    const bool retags = (other && !wanted.taggers.empty()) ||
                        std::ranges::any_of(overrides_, [](const config::Override& each) {
                            return each.first.starts_with("tagger");
                        });
    if (other && wanted.taggers.empty()) {
        auto before = loaded("the recorded configuration", line.configuration, {});
        if (const auto* known = std::get_if<config::Policy>(&before))
            wanted.taggers = known->taggers;
    }
    asked_strategy_ = title_of(wanted);
    return compiled(std::move(wanted), line, retags);
}

std::string ReplayPolicies::asked_title() const {
    std::string title = asked_strategy_.empty() ? recorded_title_ : asked_strategy_;
    if (!config_text_.empty()) title += ", " + config_name_;
    for (const auto& [key, value] : overrides_) {
        const bool named = key == "strategy" && value.find(',') == std::string::npos;
        if (!named) title += ", " + key + "=" + value;
    }
    return title;
}

// `reaper replay`: a recording, decided again under another strategy, other limits or another file.

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

}  // namespace

ExitCode carry_out(const GlobalOptions& global, const ReplayCommand& command,
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
    if (!replayed) return terminal.fail(replayed.error());
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
