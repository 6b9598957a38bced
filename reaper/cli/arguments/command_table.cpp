#include "reaper/cli/arguments/command_table.hpp"

#include <memory>

#include "reaper/cli/arguments/help_text.hpp"

namespace reaper::cli {

std::string path_of(const CLI::App& command) {
    const CLI::App* const parent = command.get_parent();
    return parent == nullptr ? command.get_name() : path_of(*parent) + " " + command.get_name();
}

CLI::App* add_command(CLI::App& parent, const std::string& name) {
    const help::Text& text = help::text_of(path_of(parent) + " " + name);
    CLI::App* const command = parent.add_subcommand(name, text.description);
    command->footer(text.footer);
    command->group("Commands");
    std::static_pointer_cast<HelpFormatter>(parent.get_formatter())->brief(*command, text.brief);
    return command;
}

namespace {

/// `{auto,always,never}`, as a check of its values names itself.
std::vector<std::string> choices_of(CLI::Option& option) {
    for (int i = 0;; ++i) {
        std::string name;
        try {
            name = option.get_validator(i)->get_name();
        } catch (const CLI::OptionNotFound&) {
            return {};
        }
        if (name.size() < 2 || name.front() != '{' || name.back() != '}') continue;
        return CLI::detail::split(name.substr(1, name.size() - 2), ',');
    }
}

OptionEntry entry_of(CLI::Option& option) {
    OptionEntry entry;
    for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
    entry.argument = entry.names.empty();
    if (entry.argument) entry.names.push_back(option.get_name(true));
    if (option.get_type_size() != 0) entry.value = option.get_type_name();
    entry.choices = choices_of(option);
    entry.description = option.get_description();
    entry.required = option.get_required();
    return entry;
}

}  // namespace

CommandEntry command_table(CLI::App& app,
                           const std::function<std::string(const CLI::App&)>& brief) {
    CommandEntry entry;
    entry.name = app.get_name();
    if (app.get_parent() != nullptr) entry.brief = brief(app);
    for (CLI::Option* option : app.get_options())
        if (!option->get_group().empty()) entry.options.push_back(entry_of(*option));
    for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
        if (!command->get_group().empty()) entry.commands.push_back(command_table(*command, brief));
    return entry;
}

}  // namespace reaper::cli
