#include "reaper/cli/arguments/wrong_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <regex>
#include <vector>

#include "reaper/cli/arguments/list_arguments.hpp"
#include "reaper/model/nearest.hpp"
#include "reaper/model/text.hpp"

namespace reaper::cli {
namespace {

/// The innermost command that was recognised.
const CLI::App& innermost(const CLI::App& app) {
    const auto chosen = app.get_subcommands();
    return chosen.empty() ? app : innermost(*chosen.back());
}

std::string path_of(const CLI::App& app) {
    const CLI::App* const parent = app.get_parent();
    return parent == nullptr ? app.get_name() : path_of(*parent) + " " + app.get_name();
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
    return std::any_of(commands.begin(), commands.end(), [&](const CLI::App* command) {
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

}  // namespace

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

}  // namespace reaper::cli
