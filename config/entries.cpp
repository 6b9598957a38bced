#include "config/entries.hpp"

#include <optional>

#include "config/document.hpp"
#include "config/reader.hpp"
#include "config/values.hpp"
#include "reaper/model/nearest.hpp"

namespace reaper::config {
namespace {

constexpr std::size_t longest_entry_text = 255;

int line_in(const YAML::Node& node, const std::string& around, const Findings& findings) {
    const int line = line_of(node);
    return line > 0 ? line : findings.line(around);
}

}  // namespace

void for_each_entry(const YAML::Node& node, const std::string& key, const std::string& expected,
                    Findings& findings,
                    const std::function<void(const YAML::Node&, const std::string& path)>& read) {
    if (!node.IsSequence()) return findings.error(key, "is not a list", expected);
    for (std::size_t i = 0; i < node.size(); ++i) {
        const std::string item = key + "[" + std::to_string(i) + "]";
        findings.place(item, line_in(node[i], key, findings));
        read(node[i], item);
    }
}

bool read_mapping(const YAML::Node& node, const std::string& key, const std::string& expected,
                  Findings& findings,
                  const std::function<bool(const std::string& name, const std::string& path,
                                           const YAML::Node&)>& read) {
    if (!node.IsMap()) {
        findings.error(key, "is not a mapping", expected);
        return false;
    }
    bool good = true;
    for (const auto& entry : node) {
        const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "?";
        const std::string full = key + "." + name;
        if (!findings.place(full, line_of(entry.first))) {
            findings.error(full, "given twice", "one");
            good = false;
            continue;
        }
        good = read(name, full, entry.second) && good;
    }
    return good;
}

bool read_entry(const YAML::Node& node, const std::string& key, const std::string& expected,
                const EntryMembers& members, Findings& findings) {
    return read_mapping(
        node, key, expected, findings,
        [&](const std::string& name, const std::string& full, const YAML::Node& value) {
            const auto member = members.find(name);
            if (member != members.end()) return member->second(value, full);
            std::vector<std::string> known;
            for (const auto& [each, reader] : members) known.push_back(each);
            const auto near = nearest(name, known);
            findings.error(full, "unknown key", near ? *near : "one of " + joined(known));
            return false;
        });
}

bool read_entry_text(const YAML::Node& node, const std::string& key, std::string& into,
                     Findings& findings) {
    auto text = read_text(node, key, longest_entry_text, "a text of 1 to 255 bytes", findings);
    into = text.value_or("");
    return text.has_value();
}

bool read_entry_texts(const YAML::Node& node, const std::string& key,
                      std::vector<std::string>& into, Findings& findings) {
    bool good = node.IsSequence();
    for_each_entry(node, key, "a list of texts", findings,
                   [&](const YAML::Node& item, const std::string& full) {
                       std::string text;
                       good = read_entry_text(item, full, text, findings) && good;
                       if (!text.empty()) into.push_back(std::move(text));
                   });
    return good;
}

bool read_entry_flag(const YAML::Node& node, const std::string& key, bool& into,
                     Findings& findings) {
    const bool flag = node.IsScalar() && (node.Scalar() == "true" || node.Scalar() == "false");
    if (!flag) findings.error(key, "is no flag", "true or false");
    into = flag && node.Scalar() == "true";
    return flag;
}

}  // namespace reaper::config
