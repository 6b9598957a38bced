#include <sstream>

#include "reaper/cli/arguments/command_table.hpp"
#include "reaper/model/text.hpp"

namespace reaper::cli {
namespace {

/// Walks the words before the cursor: which command they are of, and whether an option waits for
/// its value. Bash makes words of their own of `=` and `:`.
constexpr const char* walk = R"sh(_reaper() {
    local cur=${COMP_WORDS[COMP_CWORD]} command= option= word words i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $option ]]; then
            [[ $word == "=" ]] && continue
            # A value with a colon goes on.
            [[ ${COMP_WORDS[i + 1]} == ":" || $word == ":" ]] && continue
            option=
            continue
        fi
        if [[ $word == -* ]]; then
            [[ $(_reaper_value "$command" "$word") ]] && option=$word
        elif [[ " $(_reaper_commands "$command") " == *" $word "* ]]; then
            command="${command:+$command }$word"
        fi
    done
    if [[ $option ]]; then
        [[ $cur == "=" ]] && cur=
        words=$(_reaper_value "$command" "$option")
        case $words in
            FILE) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;;
            TEXT) ;;
            *) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
        esac
    elif [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$(_reaper_options "$command") $(_reaper_options '')" -- "$cur"))
    else
        COMPREPLY=($(compgen -W "$(_reaper_commands "$command")" -- "$cur"))
    fi
}
complete -F _reaper reaper
)sh";

struct Cases {
    std::ostringstream commands, options, values;
};

std::string kind_of(const OptionEntry& option) {
    if (option.choices.empty()) return option.value == "FILE" ? "FILE" : "TEXT";
    return joined(option.choices, " ");
}

/// `path`: the words of the command; of the program none.
void collect(Cases& cases, const CommandEntry& command, const std::string& path) {
    std::string names;
    for (const CommandEntry& below : command.commands) names += " " + below.name;
    for (const OptionEntry& option : command.options)
        if (option.argument && !option.choices.empty()) names += " " + kind_of(option);
    if (!names.empty()) cases.commands << "        '" << path << "') echo" << names << " ;;\n";
    names.clear();
    for (const OptionEntry& option : command.options) {
        if (option.argument) continue;
        std::string pattern;
        for (const std::string& name : option.names) {
            names += " " + name;
            // The program's own are taken after a command too.
            pattern += (pattern.empty() ? "" : " | ") +
                       (path.empty() ? "*' " + name + "'" : "'" + path + " " + name + "'");
        }
        if (!option.value.empty())
            cases.values << "        " << pattern << ") echo '" << kind_of(option) << "' ;;\n";
    }
    if (!names.empty()) cases.options << "        '" << path << "') echo '" << names << "' ;;\n";
    for (const CommandEntry& below : command.commands)
        collect(cases, below, path.empty() ? below.name : path + " " + below.name);
}

}  // namespace

std::string bash_completion(const CommandEntry& program) {
    Cases cases;
    collect(cases, program, "");
    const auto function = [](const char* name, const char* what, const std::ostringstream& body) {
        return std::string{name} + "() {\n    case " + what + " in\n" + body.str() +
               "    esac\n}\n";
    };
    return "# bash completion for reaper, written by: reaper completion bash\n" +
           function("_reaper_commands", "\"$1\"", cases.commands) +
           function("_reaper_options", "\"$1\"", cases.options) +
           "# FILE, TEXT (anything), or the values; nothing for what takes none.\n" +
           function("_reaper_value", "\"$1 $2\"", cases.values) + walk;
}

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
