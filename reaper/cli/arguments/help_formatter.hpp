// How `--help` looks, and commands with their texts.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "reaper/cli/arguments/help_text.hpp"

namespace reaper::cli {

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

/// `parent` has a HelpFormatter.
CLI::App* add_command(CLI::App& parent, const char* name, const help::Text& text);

}  // namespace reaper::cli
