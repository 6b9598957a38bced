#include "reaper/cli/arguments/list_arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include "reaper/cli/arguments/command_table.hpp"
#include "reaper/model/text.hpp"

namespace reaper::cli {
namespace {

void add_to(CLI::App& command, ListTexts& texts) {
    option(command, "-o,--output", "FORMAT", texts.format,
           "table (default), wide (all columns), json, yaml, csv or name (for xargs)")
        ->check(quiet(CLI::IsMember({"table", "wide", "json", "yaml", "csv", "name"})));
    option(command, "--sort", "COLUMN", texts.sort,
           "By this column; -COLUMN or COLUMN:desc: greatest first");
    option(command, "--columns", "LIST", texts.columns, "Only these, in this order: A,B,...");
}

/// Of one thing: the same formats, without what is of rows.
void add_to_document(CLI::App& command, ListTexts& texts,
                     const char* formats = "table (default: text), json or yaml") {
    option(command, "-o,--output", "FORMAT", texts.format, formats)
        ->check(quiet(CLI::IsMember({"table", "wide", "json", "yaml", "csv", "name"})));
}

/// Of one thing that is printed once.
void add_formats(CLI::App& command, ListTexts& texts) {
    option(command, "-o,--output", "FORMAT", texts.format, "table (default: text), json or yaml")
        ->check(quiet(CLI::IsMember({"table", "json", "yaml"})));
}

Result<ListFormat> format_of(const ListTexts& texts, bool as_json) {
    static const std::map<std::string, ListFormat> formats{
        {"table", ListFormat::table}, {"wide", ListFormat::wide}, {"json", ListFormat::json},
        {"yaml", ListFormat::yaml},   {"csv", ListFormat::csv},   {"name", ListFormat::name}};
    if (texts.csv && as_json) return wrong("--csv and --json: one of the two");
    const std::string given = as_json ? "json" : texts.csv ? "csv" : "";
    if (!given.empty() && !texts.format.empty() && texts.format != given)
        return wrong("--" + given + " and -o " + texts.format + ": one of the two");
    if (!given.empty()) return formats.at(given);
    return texts.format.empty() ? ListFormat::table : formats.at(texts.format);
}

std::vector<std::string> columns_in(const std::string& text) {
    std::istringstream parts{text};
    std::vector<std::string> names;
    for (std::string name; std::getline(parts, name, ',');) names.push_back(name);
    return names;
}

/// `--output` of `--output=json`, `-o` of `-ojson`.
std::string name_of(std::string_view word) {
    return std::string{word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2)};
}

/// Words of the option at `at`, its value too if that stands by itself.
std::size_t words_of(const CLI::App& program, const std::vector<std::string>& words,
                     std::size_t at) {
    const std::string& word = words[at];
    const std::string name = name_of(word);
    if (word.size() > name.size() || at + 1 == words.size()) return 1;
    const CLI::Option* const known = program.get_option_no_throw(name);
    return known == nullptr || known->get_items_expected_min() > 0 ? 2 : 1;
}

}  // namespace

bool is_list_option(std::string_view word) {
    static constexpr std::array<std::string_view, 4> names{"-o", "--output", "--sort", "--columns"};
    return std::ranges::find(names, name_of(word)) != names.end();
}

std::vector<std::string> with_list_options_last(const CLI::App& program,
                                                std::vector<std::string> words) {
    std::vector<std::string> moved;
    std::size_t at = 1;
    while (at < words.size() && words[at].size() > 1 && words[at].front() == '-') {
        const bool list = is_list_option(words[at]);
        if (!list && program.get_option_no_throw(name_of(words[at])) == nullptr) return words;
        const std::size_t count = words_of(program, words, at);
        const auto begin = words.begin() + static_cast<std::ptrdiff_t>(at);
        const auto end = begin + static_cast<std::ptrdiff_t>(count);
        if (list) {
            moved.insert(moved.end(), begin, end);
            words.erase(begin, end);
        } else {
            at += count;
        }
    }
    const auto rest = std::ranges::find(words, "--");
    words.insert(rest, moved.begin(), moved.end());
    return words;
}

void add_list_options(CLI::App& program, ListTexts& texts) {
    for (const char* const name : {"status", "health", "explain", "report"})
        add_to_document(*program.get_subcommand(name), texts);
    add_to_document(*program.get_subcommand("replay"), texts,
                    "table (default: text), json, yaml or csv");
    for (const char* const name : {"plan", "request", "apply", "room", "config", "estimate",
                                   "reserve", "unreserve", "pause", "resume"})
        add_formats(*program.get_subcommand(name), texts);
    for (const char* const name : {"resource-tagging", "reservations", "oversubscription"})
        add_formats(*program.get_subcommand("setup")->get_subcommand(name), texts);
    for (const char* const name : {"show", "totals"})
        add_to_document(*program.get_subcommand("history")->get_subcommand(name), texts);
    for (const char* const name :
         {"check", "hosts", "candidates", "history", "reservations", "protect", "reapers",
          "oversubscription", "usage", "risk", "strategies", "taggers", "estimators", "qos"})
        add_to(*program.get_subcommand(name), texts);
    CLI::App& letters = *program.get_subcommand("dead-letters");
    add_to(*letters.get_subcommand("list"), texts);
    for (const char* const name : {"show", "retry"})
        add_formats(*letters.get_subcommand(name), texts);
    for (const char* const name : {"messages", "victims", "events"})
        add_to(*program.get_subcommand("history")->get_subcommand(name), texts);
}

Result<ListOptions> list_options(const ListTexts& texts, bool as_json) {
    ListOptions options;
    const auto format = format_of(texts, as_json);
    if (!format) return format.error();
    options.format = *format;
    options.sort = texts.sort;
    options.columns = columns_in(texts.columns);
    const bool has_columns = options.format == ListFormat::table ||
                             options.format == ListFormat::wide ||
                             options.format == ListFormat::csv;
    if (!options.columns.empty() && !has_columns)
        return wrong("--columns goes with -o table, wide and csv");
    return options;
}

}  // namespace reaper::cli
