#include <sstream>

#include "reaper/cli/arguments/completions.hpp"

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
    std::string words;
    for (const std::string& choice : option.choices) words += (words.empty() ? "" : " ") + choice;
    return words;
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

}  // namespace reaper::cli
