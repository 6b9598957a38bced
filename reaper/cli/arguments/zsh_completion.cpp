#include <sstream>

#include "reaper/cli/arguments/completions.hpp"

namespace reaper::cli {
namespace {

/// Inside single quotes, and inside the brackets of _arguments or the pairs of _describe.
std::string quoted(const std::string& text) {
    std::string done;
    for (const char c : text) {
        if (c == '\'')
            done += "'\\'";
        else if (c == '[' || c == ']' || c == ':' || c == '\\')
            done += '\\';
        done += c;
    }
    return done;
}

std::string function_of(const std::string& path) {
    std::string name = "_reaper";
    for (const char c : path.empty() ? path : " " + path) name += c == ' ' || c == '-' ? '_' : c;
    return name;
}

std::string action_of(const OptionEntry& option) {
    if (option.choices.empty()) return option.value == "FILE" ? "_files" : " ";
    std::string words = "(";
    for (const std::string& choice : option.choices)
        words += (words.size() == 1 ? "" : " ") + choice;
    return words + ")";
}

/// One line of _arguments for each name; `*`: it may be repeated, which zsh need not refuse.
void write_option(std::ostream& out, const OptionEntry& option) {
    if (option.argument) {
        out << " \\\n        '1:" << quoted(option.description) << ":" << action_of(option) << "'";
        return;
    }
    for (const std::string& name : option.names) {
        out << " \\\n        '*" << name;
        if (!option.value.empty()) out << (name.starts_with("--") ? "=" : "+");
        out << "[" << quoted(option.description) << "]";
        if (!option.value.empty()) out << ":" << quoted(option.value) << ":" << action_of(option);
        out << "'";
    }
}

void write_function(std::ostream& out, const CommandEntry& program, const CommandEntry& command,
                    const std::string& path) {
    const bool below = !command.commands.empty();
    out << function_of(path) << "() {\n";
    if (below) out << "    local curcontext=$curcontext state line\n    typeset -A opt_args\n";
    out << "    _arguments " << (below ? "-C " : "") << "-s";
    for (const OptionEntry& option : command.options) write_option(out, option);
    if (!path.empty())
        for (const OptionEntry& option : program.options)
            if (option.names.back() != "--help" && option.names.back() != "--version")
                write_option(out, option);
    if (!below) {
        out << "\n}\n";
    } else {
        out << " \\\n        '1: :->command' '*:: :->arguments'\n    case $state in\n"
            << "        command)\n            local -a commands=(";
        for (const CommandEntry& one : command.commands)
            out << "\n                '" << one.name << ":" << quoted(one.brief) << "'";
        out << ")\n            _describe command commands ;;\n        arguments)\n"
            << "            case $words[1] in\n";
        for (const CommandEntry& one : command.commands)
            out << "                " << one.name << ") "
                << function_of(path.empty() ? one.name : path + " " + one.name) << " ;;\n";
        out << "            esac ;;\n    esac\n}\n";
    }
    for (const CommandEntry& one : command.commands)
        write_function(out, program, one, path.empty() ? one.name : path + " " + one.name);
}

}  // namespace

std::string zsh_completion(const CommandEntry& program) {
    std::ostringstream out;
    out << "#compdef reaper\n# Written by: reaper completion zsh\n";
    write_function(out, program, program, "");
    out << "if [[ $funcstack[1] == _reaper ]]; then\n    _reaper \"$@\"\nelse\n"
           "    compdef _reaper reaper\nfi\n";
    return out.str();
}

}  // namespace reaper::cli
