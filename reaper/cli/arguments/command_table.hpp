// The commands and options as data, from which completions are written: what they tell is what
// `--help` tells.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reaper/model/error.hpp"
#include "reaper/model/text.hpp"

namespace reaper::cli {

// Checks of option values that leave the option's help line as it is.

/// The values that the check knows become its name, for completions.
template <class Check>
CLI::Validator quiet(Check check) {
    const std::string values = check.get_description();
    return check.name(values).description("");
}

// How `--help` looks, and commands with their texts.

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
    std::string make_footer(const CLI::App*) const override { return ""; }
    /// Versions of CLI11 differ in whether the empty line before the footer is the footer's.
    std::string make_help(const CLI::App* app, std::string name,
                          CLI::AppFormatMode mode) const override {
        std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
        while (text.ends_with('\n')) text.pop_back();
        return text + "\n\n" + app->get_footer();
    }
    std::string make_subcommand(const CLI::App* command) const override {
        std::string line = "  " + command->get_name();
        line.resize(std::max(line.size(), get_column_width()), ' ');
        return line + brief_of(*command) + "\n";
    }
    std::string make_option_opts(const CLI::Option* option) const override {
        return option->get_type_size() == 0 ? "" : " " + option->get_type_name();
    }
    void brief(const CLI::App& command, const char* text) { brief_[&command] = text; }
    std::string brief_of(const CLI::App& command) const { return brief_.at(&command); }

private:
    std::map<const CLI::App*, std::string> brief_;
};

/// `reaper history show`.
std::string path_of(const CLI::App& command);

/// `parent` has a HelpFormatter.
CLI::App* add_command(CLI::App& parent, const std::string& name);

/// What is wrong with the command line.
inline Error wrong(std::string what) {
    return {Errc::bad_input, std::move(what)};
}
inline Error wrong(const std::string& option, const std::string& text, const char* expected) {
    return wrong(option + ": is '" + printable(text, 60) + "'; expected " + expected);
}

/// `type` is what its value is called in the help.
template <class Target>
CLI::Option* option(CLI::App& command, const char* names, const char* type, Target& target,
                    const std::string& help) {
    return command.add_option(names, target, help)->type_name(type);
}

/// One that may be given several times, with a value each time.
inline CLI::Option* repeated(CLI::App& command, const char* names, const char* type,
                             std::vector<std::string>& target, const std::string& help) {
    CLI::Option* const each = option(command, names, type, target, help);
    return each->expected(1)->allow_extra_args(false)->multi_option_policy(
        CLI::MultiOptionPolicy::TakeAll);
}

struct OptionEntry {
    std::vector<std::string> names;    ///< `-v`, `--verbose`; of an argument its one name: `ID`
    std::string value;                 ///< what it takes: `FILE`; empty: a flag
    std::vector<std::string> choices;  ///< the only values; empty: any
    std::string description;
    bool required = false;
    bool argument = false;  ///< stands without a name
};

struct CommandEntry {
    std::string name;
    std::string brief;  ///< one line; of the program empty
    std::vector<OptionEntry> options;
    std::vector<CommandEntry> commands;  ///< but hidden ones
};

/// Those of `reaper` itself.
CommandEntry own_command_table();

/// `brief` tells the line of a command.
CommandEntry command_table(CLI::App& app, const std::function<std::string(const CLI::App&)>& brief);

// What a shell completes: commands, options, and values where these are known.

/// To be sourced by bash (4 or newer), or put where bash-completion looks.
std::string bash_completion(const CommandEntry& program);

/// A file `_reaper` of zsh's fpath.
std::string zsh_completion(const CommandEntry& program);

}  // namespace reaper::cli
