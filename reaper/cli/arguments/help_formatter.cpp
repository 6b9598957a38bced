#include "reaper/cli/arguments/help_formatter.hpp"

#include <memory>

namespace reaper::cli {

CLI::App* add_command(CLI::App& parent, const char* name, const help::Text& text) {
    CLI::App* const command = parent.add_subcommand(name, text.description);
    command->footer(text.footer);
    command->group("Commands");
    std::static_pointer_cast<HelpFormatter>(parent.get_formatter())->brief(*command, text.brief);
    return command;
}

}  // namespace reaper::cli
