#include "reaper/cli/arguments/man_pages.hpp"

#include <algorithm>
#include <sstream>

namespace reaper::cli {
namespace {

/// What roff would take for its own; ASCII of an example stays ASCII, to be copied.
std::string escaped(const std::string& text) {
    std::string done;
    for (const char c : text) switch (c) {
            case '\\': done += "\\e"; break;
            case '-': done += "\\-"; break;
            case '\'': done += "\\(aq"; break;
            case '`': done += "\\(ga"; break;
            case '^': done += "\\(ha"; break;
            case '~': done += "\\(ti"; break;
            default: done += c;
        }
    return done.starts_with(".") ? "\\&" + done : done;
}

std::string bold(const std::string& text) {
    return "\\fB" + escaped(text) + "\\fR";
}

std::string italic(const std::string& text) {
    return "\\fI" + escaped(text) + "\\fR";
}

/// A line that names what follows: `Exit codes:`. Empty if it is none.
std::string section_of(const std::string& line) {
    if (line == "Example:" || line == "Examples:") return "EXAMPLES";
    if (line == "Exit codes:") return "EXIT STATUS";
    if (line == "Environment:") return "ENVIRONMENT";
    return "";
}

/// Paragraphs are filled, indented lines stay as they are.
class TextWriter {
public:
    TextWriter(std::ostream& out, bool sections) : out_(out), sections_(sections) {}

    void write(const std::string& text) {
        std::istringstream lines{text};
        for (std::string line; std::getline(lines, line);) write_line(line);
        leave();
    }

private:
    void write_line(const std::string& line) {
        if (line.empty()) {
            blank_ = true;
            return;
        }
        if (line.starts_with("  ")) {
            if (!verbatim_) {
                out_ << ".PP\n.RS 4\n.nf\n";
                verbatim_ = true;
            } else if (blank_) {
                out_ << "\n";
            }
            out_ << escaped(line.substr(2)) << "\n";
        } else {
            const bool was_verbatim = verbatim_;
            leave();
            const std::string section = sections_ ? section_of(line) : "";
            if (!section.empty())
                out_ << ".SH " << section << "\n";
            else
                out_ << (blank_ || was_verbatim || first_ ? ".PP\n" : "") << escaped(line) << "\n";
        }
        blank_ = first_ = false;
    }

    void leave() {
        if (verbatim_) out_ << ".fi\n.RE\n";
        verbatim_ = false;
    }

    std::ostream& out_;
    bool sections_;
    bool verbatim_ = false;
    bool blank_ = false;
    bool first_ = true;
};

std::string usage_of(const OptionEntry& option) {
    if (option.argument)
        return option.required ? italic(option.names.front())
                               : "[" + italic(option.names.front()) + "]";
    std::string text = bold(option.names.back());
    if (!option.value.empty()) text += " " + italic(option.value);
    return option.required ? text : "[" + text + "]";
}

bool is_help(const OptionEntry& option) {
    return std::find(option.names.begin(), option.names.end(), "--help") != option.names.end();
}

void write_usage(std::ostream& out, const std::string& words, const CommandEntry& command) {
    out << bold(words) << "\n";
    for (const bool argument : {false, true})
        for (const OptionEntry& option : command.options)
            if (option.argument == argument && !is_help(option)) out << usage_of(option) << "\n";
}

void write_options(std::ostream& out, const CommandEntry& command) {
    for (const OptionEntry& option : command.options) {
        if (is_help(option)) continue;  // reaper(1) has it
        out << ".TP\n";
        for (std::size_t i = 0; i < option.names.size(); ++i)
            out << (i > 0 ? ", " : "")
                << (option.argument ? italic(option.names[i]) : bold(option.names[i]));
        if (!option.value.empty() && !option.argument) out << " " << italic(option.value);
        out << "\n"
            << escaped(option.description) << (option.required ? " (required)" : "") << "\n";
    }
}

void write_head(std::ostream& out, const std::string& name, const std::string& brief,
                const std::string& version) {
    std::string capitals = name;
    for (char& c : capitals)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    out << ".\\\" Written by the program itself: reaper man\n"
        << ".TH " << escaped(capitals) << " 1 \"\" \"reaper " << version
        << "\" \"Reaper for OpenStack\"\n.SH NAME\n"
        << escaped(name) << " \\- " << escaped(brief) << "\n";
}

std::string page_name(const CommandEntry& program, const CommandEntry& command) {
    return program.name + "-" + command.name;
}

std::string program_page(const CommandEntry& program, const std::string& version) {
    // Its description begins with the line for a list of programs, as a command's brief is.
    const auto end = program.description.find('\n');
    const std::string first = program.description.substr(0, end);
    const auto colon = first.find(": ");
    std::string brief = colon == std::string::npos ? first : first.substr(colon + 2);
    if (brief.ends_with(".")) brief.pop_back();

    std::ostringstream out;
    write_head(out, program.name, brief, version);
    out << ".SH SYNOPSIS\n"
        << bold(program.name) << " [" << italic("OPTIONS") << "] " << italic("COMMAND") << " ["
        << italic("COMMAND OPTIONS") << "]\n.SH DESCRIPTION\n";
    TextWriter{out, false}.write(end == std::string::npos ? "" : program.description.substr(end));
    out << ".SH OPTIONS\nThey are accepted before and after the command.\n";
    write_options(out, program);
    out << ".SH COMMANDS\n";
    for (const CommandEntry& command : program.commands)
        out << ".TP\n"
            << bold(page_name(program, command)) << "(1)\n"
            << escaped(command.brief) << "\n";
    TextWriter{out, true}.write(program.footer);
    out << ".SH FILES\n.TP\n.I /etc/reaper/reaper.yaml\nThe configuration; see\n"
           ".BR reaper.yaml (5).\n"
           ".SH SEE ALSO\n.BR reaper.yaml (5),\n.BR systemctl (1),\n.BR journalctl (1)\n";
    return out.str();
}

std::string command_page(const CommandEntry& program, const CommandEntry& command,
                         const std::string& version) {
    const std::string words = program.name + " " + command.name;
    std::ostringstream out;
    write_head(out, page_name(program, command), command.brief, version);
    out << ".SH SYNOPSIS\n";
    write_usage(out, words, command);
    for (const CommandEntry& below : command.commands) {
        out << ".br\n";
        write_usage(out, words + " " + below.name, below);
    }
    out << ".SH DESCRIPTION\n";
    TextWriter{out, false}.write(command.description);
    out << ".SH OPTIONS\nThose of\n.BR " << escaped(program.name) << " (1)\nare accepted too.\n";
    write_options(out, command);
    if (!command.commands.empty()) out << ".SH COMMANDS\n";
    for (const CommandEntry& below : command.commands) {
        out << ".SS \"" << escaped(words + " " + below.name) << "\"\n";
        TextWriter{out, false}.write(below.description);
        write_options(out, below);
        out << ".PP\n";
        TextWriter{out, false}.write(below.footer);
    }
    TextWriter{out, true}.write(command.footer);
    out << ".SH SEE ALSO\n.BR " << escaped(program.name) << " (1),\n.BR reaper.yaml (5)\n";
    return out.str();
}

}  // namespace

std::map<std::string, std::string> man_pages(const CommandEntry& program,
                                             const std::string& version) {
    std::map<std::string, std::string> pages;
    pages[program.name + ".1"] = program_page(program, version);
    for (const CommandEntry& command : program.commands)
        pages[page_name(program, command) + ".1"] = command_page(program, command, version);
    return pages;
}

}  // namespace reaper::cli
