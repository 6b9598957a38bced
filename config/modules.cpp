#include "config/modules.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "config/entries.hpp"
#include "config/plugins.hpp"
#include "reaper/modules/loaded_modules.hpp"

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
        {"path",
         [&](const auto& value, const auto& full) {
             return read_entry_text(value, full, entry.module.path, findings);
         }},
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

}  // namespace reaper::config
