#include "reaper/cli/wrong_line.hpp"

#include <CLI/CLI.hpp>
#include <vector>

#include "reaper/cli/value_parsers.hpp"

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

std::string see_help(const CLI::App& app) {
    return "see '" + path_of(app) + " --help'";
}

/// A word that no command and no option takes.
std::string unexpected_word(const CLI::App& app, const std::string& word) {
    const CLI::App& where = innermost(app);
    const bool option = word.starts_with("-");
    const bool command = !option && &where == &app;
    const std::string near = nearest(word.substr(0, word.find('=')),
                                     option ? option_names(&where) : command_names(where));
    std::string line = option ? "unknown option" : command ? "unknown command" : "unknown argument";
    line += " '" + word + "'";
    if (!option && !command) line += " of '" + path_of(where) + "'";
    if (!near.empty()) return line + "; did you mean '" + near + "'?";
    return line + "; " + see_help(where);
}

}  // namespace

std::string why_wrong(const CLI::App& app, const CLI::ParseError& error) {
    const auto left = app.remaining(true);
    if (!left.empty() && error.get_name() != "ValidationError")
        return unexpected_word(app, left.front());
    if (app.get_subcommands().empty() && error.get_name() == "RequiredError")
        return "no command given; " + see_help(app);
    return std::string(error.what()) + "; " + see_help(innermost(app));
}

}  // namespace reaper::cli
