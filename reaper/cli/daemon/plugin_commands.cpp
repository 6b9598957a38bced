// `reaper strategies`, `taggers`, `estimators` and `qos`: the tables, for people and programs.
#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>
#include <utility>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/daemon/local_settings.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/model/text.hpp"
#include "reaper/oversubscription/plugin_tables.hpp"
#include "reaper/report/json.hpp"
#include "strategies/strategy_table.hpp"
#include "tagging/taggers.hpp"

namespace reaper::cli {
namespace {

const char* kind_name(ParameterKind kind) {
    switch (kind) {
        case ParameterKind::integer: return "number";
        case ParameterKind::text: return "text";
        case ParameterKind::text_list: return "list";
    }
    return "";
}

nlohmann::json value_json(const ParameterValue& value) {
    return std::visit([](const auto& held) { return nlohmann::json(held); }, value);
}

/// As the configuration file writes it.
std::string value_text(const ParameterValue& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
    if (const auto* text = std::get_if<std::string>(&value)) return text->empty() ? "\"\"" : *text;
    return "[" + joined(std::get<std::vector<std::string>>(value)) + "]";
}

template <class Info>
nlohmann::json table_json(const char* name, const std::deque<Info>& table) {
    nlohmann::json list = nlohmann::json::array();
    for (const Info& info : table) {
        nlohmann::json parameters = nlohmann::json::array();
        for (const ParameterSpec& spec : info.parameters)
            parameters.push_back({{"name", spec.name},
                                  {"kind", kind_name(spec.kind)},
                                  {"default", value_json(spec.standard)},
                                  {"help", spec.help}});
        list.push_back({{"name", info.name},
                        {"module", info.module},
                        {"help", info.help},
                        {"parameters", parameters}});
    }
    return {{"version", report::json_version}, {name, list}};
}

/// `tag (text, default preemptible): tag of the project`
std::string parameter_line(const ParameterSpec& spec) {
    return std::string{spec.name} + " (" + kind_name(spec.kind) + ", default " +
           value_text(spec.standard) + "): " + std::string{spec.help};
}

template <class Info>
report::Table plugins_table(const std::deque<Info>& plugins) {
    report::Table table;
    const bool modules =
        std::ranges::any_of(plugins, [](const Info& info) { return !info.module.empty(); });
    table.columns = {report::column("name"), report::under("what"), report::under("parameters")};
    if (modules) table.columns.insert(table.columns.begin() + 1, report::column("module"));
    for (const Info& info : plugins) {
        report::Lines parameters;
        for (const ParameterSpec& spec : info.parameters)
            parameters.push_back(parameter_line(spec));
        std::vector<report::Cell> row{report::text_cell(std::string{info.name})};
        if (modules) row.push_back(report::text_cell(info.module));
        row.push_back(report::text_cell(std::string{info.help}));
        row.push_back(parameters.empty() ? report::Cell{} : report::Cell{parameters});
        table.rows.push_back(std::move(row));
    }
    return table;
}

template <class Info>
ExitCode show_table(const char* name, const std::deque<Info>& table, const GlobalOptions& global,
                    const Terminal& terminal) {
    take_modules(global, terminal);
    return show_list(terminal,
                     {plugins_table(table), [&] { return table_json(name, table); }, name});
}

}  // namespace

ExitCode carry_out(const GlobalOptions& global, const StrategiesCommand&,
                   const Terminal& terminal) {
    return show_table("strategies", strategy_table(), global, terminal);
}

ExitCode carry_out(const GlobalOptions& global, const TaggersCommand&, const Terminal& terminal) {
    return show_table("taggers", tagger_table(), global, terminal);
}

ExitCode carry_out(const GlobalOptions& global, const EstimatorsCommand&,
                   const Terminal& terminal) {
    return show_table("estimators", estimator_table(), global, terminal);
}

ExitCode carry_out(const GlobalOptions& global, const QosCommand&, const Terminal& terminal) {
    return show_table("qos", qos_table(), global, terminal);
}

}  // namespace reaper::cli
