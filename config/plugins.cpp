#include "config/plugins.hpp"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "config/document.hpp"
#include "config/reader.hpp"
#include "config/values.hpp"
#include "reaper/model/text.hpp"
#include "reaper/modules/loaded_modules.hpp"
#include "reaper/oversubscription/plugin_tables.hpp"
#include "strategies/strategy_table.hpp"
#include "tagging/taggers.hpp"

namespace reaper::config {
namespace {

struct Entry {
    Module module;
    YAML::Node parameters;
};

bool is_digest(const std::string& text) {
    return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::optional<Entry> read_one(const YAML::Node& node, const std::string& key, Findings& findings) {
    Entry entry;
    const EntryMembers members{
        {"path", member(read_entry_text, entry.module.path, findings)},
        {"sha256",
         [&](const auto& value, const auto& full) {
             if (!read_entry_text(value, full, entry.module.sha256, findings)) return false;
             if (is_digest(entry.module.sha256)) return true;
             findings.error(full, "is no SHA-256", "64 digits 0-9a-f, as sha256sum prints them");
             return false;
         }},
        {"parameters",
         [&](const auto& value, const auto& full) {
             entry.parameters.reset(value);
             if (value.IsMap()) return place_keys(value, full, findings);
             findings.error(full, "is not a mapping", "a mapping of the module's parameters");
             return false;
         }},
    };
    if (!read_entry(node, key, modules_expected, members, findings)) return std::nullopt;
    if (!entry.module.path.empty()) return entry;
    findings.error(key, "has no path", modules_expected);
    return std::nullopt;
}

/// Complete; none if they are wrong.
std::optional<Parameters> parameters_of(const Entry& entry, const std::string& key,
                                        const std::vector<ParameterSpec>& specs,
                                        Findings& findings) {
    std::optional<Parameters> given = Parameters{};
    if (entry.parameters.IsMap())
        given = read_parameters(entry.parameters, key + ".parameters", specs, findings);
    if (!given) return std::nullopt;
    return with_standards(specs, std::move(*given));
}

void load(Entry& entry, const std::string& key, const Environment& environment,
          Findings& findings) {
    const std::string& path = entry.module.path;
    auto file = environment.open_module(path, entry.module.sha256);
    if (!file)
        return findings.error(key + ".path", file.error().what,
                              "a module that only root may write; see deploy/docs/modules.md");
    const LoadedModule* const before = find_loaded_module(path);
    if (before != nullptr && before->sha256 != file->sha256)
        return findings.error(key + ".path",
                              "differs from the loaded file (SHA-256 " + file->sha256 +
                                  ", loaded " + before->sha256 + ")",
                              "a restart of the reaper");
    auto parameters = parameters_of(entry, key, file->info.parameters, findings);
    if (!parameters) return;
    entry.module.parameters = *parameters;
    if (before != nullptr) return;
    if (const auto refused = add_module(path, *file, *parameters))
        findings.error(
            refused->parameter.empty() ? key + ".path" : key + ".parameters." + refused->parameter,
            "module " + std::string{file->info.name} + " refuses it", refused->expected);
}

}  // namespace

std::vector<Module> read_modules(const YAML::Node& node, const std::string& key,
                                 const Environment& environment, Findings& findings) {
    std::vector<Module> modules;
    std::set<std::string> paths;
    for_each_entry(node, key, modules_expected, findings,
                   [&](const YAML::Node& item, const std::string& full) {
                       auto entry = read_one(item, full, findings);
                       if (!entry) return;
                       if (!paths.insert(entry->module.path).second)
                           return findings.error(full + ".path", "is there twice", "one entry");
                       if (environment.open_module) load(*entry, full, environment, findings);
                       modules.push_back(std::move(entry->module));
                   });
    return modules;
}

namespace {

std::string expectation_of(ParameterKind kind) {
    switch (kind) {
        case ParameterKind::integer: return "a whole number";
        case ParameterKind::text: return "a text";
        case ParameterKind::text_list: return "a list of texts";
    }
    return "a value";
}

std::optional<ParameterValue> read_list(const YAML::Node& node, const std::string& key,
                                        const std::string& expected, Findings& findings) {
    if (!node.IsSequence()) {
        findings.error(key, "is not a list", expected);
        return std::nullopt;
    }
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < node.size(); ++i) {
        const std::string item = key + "[" + std::to_string(i) + "]";
        findings.place(item, line_of(node[i]) > 0 ? line_of(node[i]) : findings.line(key));
        if (auto text = read_text(node[i], item, 1024, "a text", findings))
            texts.push_back(std::move(*text));
    }
    if (texts.size() != node.size()) return std::nullopt;
    return ParameterValue{std::move(texts)};
}

std::optional<ParameterValue> read_parameter(const ParameterSpec& spec, const YAML::Node& node,
                                             const std::string& key, Findings& findings) {
    const std::string expected = expectation_of(spec.kind) + " (" + std::string{spec.help} + ")";
    if (spec.kind == ParameterKind::text_list) return read_list(node, key, expected, findings);
    // As `reaper config` shows one that is not given.
    if (spec.standard == ParameterValue{std::string{}} && node.IsScalar() && node.Scalar().empty())
        return spec.standard;
    auto text = read_text(node, key, 1024, expected, findings);
    if (!text) return std::nullopt;
    if (spec.kind == ParameterKind::text) return ParameterValue{std::move(*text)};
    if (const auto number = integer_of(*text)) return ParameterValue{*number};
    findings.error(key, "is " + shown(*text), expected);
    return std::nullopt;
}

template <class Info>
std::vector<std::string> names_of(const std::deque<Info>& table) {
    std::vector<std::string> names;
    for (const auto& info : table) names.emplace_back(info.name);
    return names;
}

template <class Info>
const Info* find_plugin(const std::deque<Info>& table, const std::string& name) {
    const auto at = std::ranges::find(table, name, &Info::name);
    return at == table.end() ? nullptr : &*at;
}

/// The `name` of the mapping; a bare word is a name without parameters.
template <class Info>
const Info* read_name(const YAML::Node& node, const std::string& key, const std::deque<Info>& table,
                      Findings& findings) {
    const std::string expected = "one of " + joined(names_of(table));
    std::string at = key;
    if (node.IsMap()) {
        at += ".name";
        if (!node["name"].IsDefined()) {
            findings.error(key, "has no name", "name: " + expected);
            return nullptr;
        }
    }
    const YAML::Node name = node.IsMap() ? node["name"] : node;
    const auto text = read_text(name, at, 255, expected, findings);
    if (!text) return nullptr;
    const Info* const info = find_plugin(table, *text);
    if (info == nullptr) findings.error(at, "unknown name " + shown(*text), expected);
    return info;
}

template <class Info>
std::optional<Plugin> read_one_of(const std::deque<Info>& table, const YAML::Node& node,
                                  const std::string& key, Findings& findings) {
    if (node.IsMap() && !place_keys(node, key, findings)) return std::nullopt;
    const Info* const info = read_name(node, key, table, findings);
    if (info == nullptr) return std::nullopt;
    std::optional<Parameters> given = Parameters{};
    if (node.IsMap()) given = read_parameters(node, key, info->parameters, findings);
    if (!given) return std::nullopt;
    Plugin plugin{std::string{info->name}, with_standards(info->parameters, std::move(*given))};
    const auto made = info->make(plugin.parameters);
    if (const auto* const refusal = std::get_if<ParameterError>(&made)) {
        findings.error(key + "." + refusal->parameter, "impossible value", refusal->expected);
        return std::nullopt;
    }
    return plugin;
}

template <class Info>
Plugin standard(const std::deque<Info>& table, const std::string& name) {
    const Info* const info = find_plugin(table, name);
    if (info == nullptr) return Plugin{name, {}};
    return Plugin{name, with_standards(info->parameters, {})};
}

}  // namespace

std::optional<Parameters> read_parameters(const YAML::Node& node, const std::string& key,
                                          const std::vector<ParameterSpec>& specs,
                                          Findings& findings) {
    Parameters parameters;
    std::vector<std::string> known{"name"};
    for (const auto& spec : specs) known.emplace_back(spec.name);
    bool good = true;
    for (const auto& entry : node) {
        const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "?";
        if (name == "name") continue;
        const std::string full = key + "." + name;
        const auto spec = std::ranges::find(specs, name, &ParameterSpec::name);
        if (spec == specs.end()) {
            const auto near = nearest(name, known);
            findings.error(full, "unknown key", near ? *near : "one of " + joined(known));
            good = false;
        } else if (auto value = read_parameter(*spec, entry.second, full, findings)) {
            parameters.emplace(name, std::move(*value));
        } else {
            good = false;
        }
    }
    if (!good) return std::nullopt;
    return parameters;
}

bool place_keys(const YAML::Node& node, const std::string& key, Findings& findings) {
    bool good = true;
    for (const auto& entry : node) {
        const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "?";
        const std::string full = key + "." + name;
        const int line = line_of(entry.first);
        if (findings.place(full, line)) continue;
        findings.add_error(
            {findings.file(), line, full,
             "given twice (first on line " + std::to_string(findings.line(full)) + ")", "one"});
        good = false;
    }
    return good;
}

std::optional<Plugin> read_plugin(OnePlugin::Kind kind, const YAML::Node& node,
                                  const std::string& key, Findings& findings) {
    switch (kind) {
        case OnePlugin::Kind::strategy: return read_one_of(strategy_table(), node, key, findings);
        case OnePlugin::Kind::estimator: return read_one_of(estimator_table(), node, key, findings);
        case OnePlugin::Kind::qos: return read_one_of(qos_table(), node, key, findings);
    }
    return std::nullopt;
}

std::vector<Plugin> read_taggers(const YAML::Node& node, const std::string& key,
                                 Findings& findings) {
    std::vector<Plugin> plugins;
    if (!node.IsSequence() || node.size() == 0) {
        findings.error(key, node.IsSequence() ? "is an empty list" : "is not a list",
                       "a list of mappings with `name`, at least one");
        return plugins;
    }
    for (std::size_t i = 0; i < node.size(); ++i) {
        const std::string item = key + "[" + std::to_string(i) + "]";
        findings.place(item, line_of(node[i]) > 0 ? line_of(node[i]) : findings.line(key));
        if (auto plugin = read_one_of(tagger_table(), node[i], item, findings))
            plugins.push_back(std::move(*plugin));
    }
    return plugins;
}

Plugin standard_strategy() {
    return standard(strategy_table(), "cost");
}

Plugin standard_tagger() {
    return standard(tagger_table(), "project");
}

Plugin standard_estimator() {
    return standard(estimator_table(), "noop");
}

Plugin standard_qos() {
    return standard(qos_table(), "noop");
}

}  // namespace reaper::config
