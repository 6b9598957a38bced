#include "reaper/cli/arguments/own_commands.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "reaper/model/nearest.hpp"
#include "reaper/model/text.hpp"
#include "reaper/report/json.hpp"

namespace reaper::cli {
namespace {

Leave no_command(const CLI::App& parent, const std::string& path, const std::string& word) {
    std::vector<std::string> names;
    for (const CLI::App* each : parent.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(each->get_name());
    const auto near = nearest(word, names);
    return {ExitCode::usage, "",
            "'" + path + "' has no command " + in_quotes(word) +
                (near ? "; did you mean '" + *near + "'?" : "; see '" + path + " --help'")};
}

const CLI::App* command_of(const CLI::App& parent, const std::string& name) {
    for (const CLI::App* each : parent.get_subcommands([](const CLI::App*) { return true; }))
        if (each->get_name() == name) return each;
    return nullptr;
}

}  // namespace

Leave help_for(const CLI::App& program, const std::vector<std::string>& words) {
    const CLI::App* found = &program;
    std::string path;
    for (const std::string& word : words) {
        path += (path.empty() ? "" : " ") + found->get_name();
        const CLI::App* const next = command_of(*found, word);
        if (next == nullptr) return no_command(*found, path, word);
        found = next;
    }
    const std::string name = (path.empty() ? "" : path + " ") + found->get_name();
    return {ExitCode::ok,
            found->get_formatter()->make_help(found, name, CLI::AppFormatMode::Normal), ""};
}

Leave version_text(bool as_json) {
    if (!as_json) return {ExitCode::ok, std::string{"reaper "} + REAPER_VERSION + "\n", ""};
    const nlohmann::json document{{"version", report::json_version},
                                  {"program_version", REAPER_VERSION}};
    return {ExitCode::ok, report::dump(document, 2) + "\n", ""};
}

}  // namespace reaper::cli
