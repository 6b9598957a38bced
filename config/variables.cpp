#include "config/variables.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>

#include "config/document.hpp"
#include "config/loader.hpp"
#include "config/visit.hpp"

namespace reaper::config {
namespace {

/// The mapping of a section, none if it is not there, or is nothing that a key can stand in.
std::optional<YAML::Node> mapping_of(const YAML::Node& root, std::string_view path) {
    YAML::Node node;
    node.reset(root);
    while (true) {
        if (!node.IsMap()) return std::nullopt;
        if (path.empty()) return node;
        const auto dot = path.find('.');
        const YAML::Node& around = node;
        const YAML::Node inner = around[std::string{path.substr(0, dot)}];
        if (!inner.IsDefined()) return std::nullopt;
        node.reset(inner);
        path = dot == path.npos ? "" : path.substr(dot + 1);
    }
}

/// The same, made where it is missing; none if something else stands there.
std::optional<YAML::Node> made_section(YAML::Node& root, std::string_view path) {
    YAML::Node node;
    node.reset(root);
    while (true) {
        if (node.IsNull()) node = YAML::Node{YAML::NodeType::Map};
        if (!node.IsMap()) return std::nullopt;
        if (path.empty()) return node;
        const auto dot = path.find('.');
        node.reset(node[std::string{path.substr(0, dot)}]);
        if (!node.IsDefined()) node = YAML::Node{YAML::NodeType::Map};
        path = dot == path.npos ? "" : path.substr(dot + 1);
    }
}

/// The line on which the file has the key, under any of its names; none: it has it not.
std::optional<int> line_in_file(const YAML::Node& root, const Section& section, const Key& key) {
    const auto found = mapping_of(root, section.path);
    if (!found) return std::nullopt;
    const auto names = spellings(key);
    for (const auto& entry : *found)
        if (entry.first.IsScalar() &&
            std::find(names.begin(), names.end(), entry.first.Scalar()) != names.end())
            return line_of(entry.first);
    return std::nullopt;
}

bool is_secret(const Key& key) {
    return spellings(key).size() > 1;
}

/// Texts are taken as they are; lists and mappings are YAML.
bool is_scalar(const Key& key) {
    return std::visit(
        [](const auto& type) {
            using Given = std::decay_t<decltype(type)>;
            return std::is_same_v<Given, WholeNumber> || std::is_same_v<Given, Span> ||
                   std::is_same_v<Given, Fraction> || std::is_same_v<Given, Flag> ||
                   std::is_same_v<Given, Text> || std::is_same_v<Given, Choice> ||
                   std::is_same_v<Given, Url> || std::is_same_v<Given, ReadableFile>;
        },
        key.type);
}

}  // namespace

std::string variable_of(const Section& section, const Key& key) {
    std::string name = "REAPER_" + join_path(section.path, key.name);
    for (char& c : name) {
        if (c == '.') c = '_';
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return name;
}

void add_variables(YAML::Node& root, const Environment& environment, Findings& findings) {
    for_each_key([&](const Section& section, const Key& key) {
        const std::string variable = variable_of(section, key);
        const auto value = environment.variable(variable);
        if (!value || value->empty() || line_in_file(root, section, key)) return;
        const std::string path = join_path(section.path, key.name);
        const std::string name = std::string{key.name} + (is_secret(key) ? "_env" : "");
        findings.of_variable(path, variable);
        findings.of_variable(join_path(section.path, name), variable);
        auto into = made_section(root, section.path);
        if (!into) return;  // the file's mistake is reported anyway
        try {
            if (is_secret(key))
                (*into)[name] = variable;
            else
                (*into)[name] = is_scalar(key) ? YAML::Node{*value} : YAML::Load(*value);
        } catch (const YAML::Exception& exception) {
            findings.error(path, "not understood: " + exception.msg, expectation(key.type));
        }
    });
}

std::vector<KeyOrigin> origins(const std::string& path, const Environment& environment) {
    const auto file = environment.read_file(path);
    if (!file) return {};
    const auto parsed = parse_document(path, file->text);
    const auto* const root = std::get_if<YAML::Node>(&parsed);
    if (root == nullptr) return {};
    std::vector<KeyOrigin> all;
    for_each_key([&](const Section& section, const Key& key) {
        KeyOrigin origin{join_path(section.path, key.name), variable_of(section, key), "",
                         expectation(key.type)};
        const auto value = environment.variable(origin.variable);
        if (const auto line = line_in_file(*root, section, key))
            origin.from = path + ":" + std::to_string(*line);
        else if (value && !value->empty())
            origin.from = "environment";
        all.push_back(std::move(origin));
    });
    return all;
}

}  // namespace reaper::config
