// `reaper strategies`, `taggers`, `estimators` and `qos`: the tables, for people and programs.
#include <nlohmann/json.hpp>
#include <sstream>

#include "reaper/cli/commands.hpp"
#include "reaper/oversubscription/estimator_table.hpp"
#include "reaper/oversubscription/qos_table.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/text.hpp"
#include "strategies/strategy_table.hpp"
#include "tagging/tagger_table.hpp"

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
    std::string list;
    for (const std::string& item : std::get<std::vector<std::string>>(value))
        list += (list.empty() ? "" : ", ") + item;
    return "[" + list + "]";
}

template <class Info>
nlohmann::json table_json(const char* name, const std::vector<Info>& table) {
    nlohmann::json list = nlohmann::json::array();
    for (const Info& info : table) {
        nlohmann::json parameters = nlohmann::json::array();
        for (const ParameterSpec& spec : info.parameters)
            parameters.push_back({{"name", spec.name},
                                  {"kind", kind_name(spec.kind)},
                                  {"default", value_json(spec.standard)},
                                  {"help", spec.help}});
        list.push_back({{"name", info.name}, {"help", info.help}, {"parameters", parameters}});
    }
    return {{"version", report::json_version}, {name, list}};
}

template <class Info>
std::string table_text(const std::vector<Info>& table, std::size_t width) {
    std::ostringstream out;
    for (const Info& info : table) {
        out << info.name << "\n" << report::wrapped(info.help, 4, width);
        for (const ParameterSpec& spec : info.parameters)
            out << "    " << spec.name << " (" << kind_name(spec.kind) << ", default "
                << value_text(spec.standard) << ")\n"
                << report::wrapped(spec.help, 8, width);
    }
    return out.str();
}

template <class Info>
ExitCode show_table(const char* name, const std::vector<Info>& table, const Terminal& terminal) {
    terminal.answer(terminal.json() ? report::dump(table_json(name, table), 2) + "\n"
                                    : table_text(table, terminal.width()));
    return ExitCode::ok;
}

}  // namespace

ExitCode show_strategies(const Terminal& terminal) {
    return show_table("strategies", strategy_table(), terminal);
}

ExitCode show_taggers(const Terminal& terminal) {
    return show_table("taggers", tagger_table(), terminal);
}

ExitCode show_estimators(const Terminal& terminal) {
    return show_table("estimators", estimator_table(), terminal);
}

ExitCode show_qos(const Terminal& terminal) {
    return show_table("qos", qos_table(), terminal);
}

}  // namespace reaper::cli
