#include "config/cloud_entries.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "config/cloud_keys.hpp"
#include "config/document.hpp"
#include "config/values.hpp"

namespace reaper::config {
namespace {

constexpr std::array<std::pair<const char*, const char*>, 29> variables{{
    {"OS_AUTH_TYPE", "auth_type"},
    {"OS_AUTH_URL", "auth.auth_url"},
    {"OS_USERNAME", "auth.username"},
    {"OS_USER_ID", "auth.user_id"},
    {"OS_USER_DOMAIN_NAME", "auth.user_domain_name"},
    {"OS_USER_DOMAIN_ID", "auth.user_domain_id"},
    {"OS_PASSWORD", "auth.password"},
    {"OS_PROJECT_NAME", "auth.project_name"},
    {"OS_TENANT_NAME", "auth.tenant_name"},
    {"OS_PROJECT_ID", "auth.project_id"},
    {"OS_TENANT_ID", "auth.tenant_id"},
    {"OS_PROJECT_DOMAIN_NAME", "auth.project_domain_name"},
    {"OS_PROJECT_DOMAIN_ID", "auth.project_domain_id"},
    {"OS_DEFAULT_DOMAIN_ID", "auth.default_domain_id"},
    {"OS_DEFAULT_DOMAIN_NAME", "auth.default_domain_name"},
    {"OS_DEFAULT_DOMAIN", "auth.default_domain_id"},
    {"OS_APPLICATION_CREDENTIAL_ID", "auth.application_credential_id"},
    {"OS_APPLICATION_CREDENTIAL_NAME", "auth.application_credential_name"},
    {"OS_APPLICATION_CREDENTIAL_SECRET", "auth.application_credential_secret"},
    {"OS_SYSTEM_SCOPE", "auth.system_scope"},
    {"OS_TRUST_ID", "auth.trust_id"},
    {"OS_REGION_NAME", "region_name"},
    {"OS_INTERFACE", "interface"},
    {"OS_ENDPOINT_TYPE", "endpoint_type"},
    {"OS_CACERT", "cacert"},
    {"OS_CERT", "cert"},
    {"OS_KEY", "key"},
    {"OS_INSECURE", "insecure"},
    {"OS_VERIFY", "verify"},
}};

/// clouds.yaml, secure.yaml or clouds-public.yaml of one place.
struct Found {
    std::string path;
    FileText file;
};

std::optional<Found> try_file(const std::string& path, const Environment& environment,
                              Findings& findings) {
    auto file = environment.read_file(path);
    if (file) return Found{path, std::move(*file)};
    if (file.error().code != Errc::not_found)
        findings.add_error({path, 0, "", "can't be read (" + file.error().what + ")", "", true});
    return std::nullopt;
}

/// `beside` (may be empty) is a file whose folder is searched first.
std::optional<Found> search(const std::string& stem, const std::string& override_variable,
                            const std::string& beside, const Environment& environment,
                            Findings& findings) {
    std::vector<std::string> checker;
    if (!override_variable.empty())
        if (const auto named = environment.variable(override_variable); named && !named->empty())
            checker.push_back(*named);
    std::vector<std::string> folders;
    if (const auto slash = beside.rfind('/'); slash != std::string::npos)
        folders.push_back(beside.substr(0, slash));
    folders.emplace_back(".");
    if (const auto home = environment.variable("HOME"); home && !home->empty())
        folders.push_back(*home + "/.config/openstack");
    folders.emplace_back("/etc/openstack");
    for (const auto& folder : folders)
        for (const char* const ending : {".yaml", ".yml", ".json"})
            checker.push_back(folder + "/" + stem + ending);
    for (const auto& place : checker)
        if (auto found = try_file(place, environment, findings)) return found;
    return std::nullopt;
}

/// A mapping's own entries and those that its merge keys (`<<`) bring, which give way to its own
/// and, of several, to those before. Source: yaml.org/type/merge.html, as PyYAML reads it.
std::vector<std::pair<std::string, YAML::Node>> members_of(const YAML::Node& node, int depth = 0) {
    std::vector<std::pair<std::string, YAML::Node>> members;
    if (!node.IsMap() || depth > max_document_depth) return members;
    std::vector<YAML::Node> merged;
    for (const auto& entry : node) {
        if (!entry.first.IsScalar()) continue;
        if (entry.first.Scalar() != "<<")
            members.emplace_back(entry.first.Scalar(), entry.second);
        else if (entry.second.IsSequence())
            for (const auto& each : entry.second) merged.push_back(each);
        else
            merged.push_back(entry.second);
    }
    for (const YAML::Node& each : merged)
        for (auto& brought : members_of(each, depth + 1))
            if (std::none_of(members.begin(), members.end(),
                             [&](const auto& member) { return member.first == brought.first; }))
                members.push_back(std::move(brought));
    return members;
}

/// What files say of one cloud, the later ones laid over those before.
struct Layers {
    CloudEntries entries;
    YAML::Node regions;          ///< the list of them; null: none
    std::string regions_file{};  ///< where that stands
    std::string regions_key{};
};

/// Where the entries of a file go.
struct CloudKey {
    const std::string& file;
    const std::string key;  ///< `clouds.NAME`
    Layers& layers;
    Findings& findings;
};

/// Unused parts are reported, and a shape that can't be read is refused.
void report_key(const std::string& name, const std::string& full, const YAML::Node& value,
                const CloudKey& target) {
    const ConfigError place{target.file, line_of(value), full, "", ""};
    const auto told = [&](const char* problem, std::string expected) {
        ConfigError error = place;
        error.problem = problem;
        error.expected = std::move(expected);
        return error;
    };
    const CloudKeyUse use = use_of_cloud_key(name);
    if (use == CloudKeyUse::unknown)
        target.findings.add_warning(told("unknown key", meant_cloud_key(name)));
    if (use == CloudKeyUse::unused)
        target.findings.add_warning(told(
            "has no effect here", "to leave it out: addresses come from the system's resolver"));
    if (use == CloudKeyUse::read && !value.IsScalar())
        target.findings.add_error(told(value.IsMap() ? "is a mapping" : "is a list",
                                       name == "auth" ? "a mapping" : "a text"));
}

void flatten(const YAML::Node& node, const std::string& prefix, const CloudKey& target) {
    bool has_list = false;
    for (const auto& [spelling, value] : members_of(node)) {
        std::string name = prefix + spelling;
        std::replace(name.begin(), name.end(), '-', '_');
        const std::string full = target.key + "." + prefix + spelling;
        if (value.IsNull()) continue;
        if (name == "auth" && value.IsMap()) {
            flatten(value, "auth.", target);
        } else if ((name == "regions" || name == "region_name") && value.IsSequence()) {
            if (has_list) continue;  // `regions` goes before a list of names
            has_list = name == "regions";
            target.layers.regions.reset(value);  // what it sets is laid over the rest
            target.layers.regions_file = target.file;
            target.layers.regions_key = full;
        } else {
            report_key(name, full, value, target);
            if (value.IsScalar())
                target.layers.entries[name] = {value.Scalar(), target.file, line_of(value), full};
        }
    }
}

/// The first of the regions, as OpenStack's own tools take it, with what it sets.
void take_region(Layers& layers, Findings& findings) {
    const YAML::Node regions = layers.regions;
    if (!regions.IsSequence() || regions.size() == 0) return;
    const YAML::Node first = regions[0];
    const YAML::Node name = first.IsMap() ? first["name"] : first;
    const std::string file = layers.regions_file, key = layers.regions_key;
    if (!name.IsDefined() || !name.IsScalar()) {
        findings.add_error({file, line_of(first), key + "[0]", "has no name",
                            "the name of a region, or name and values"});
        return;
    }
    const CloudEntry region{name.Scalar(), file, line_of(name), key};
    if (first.IsMap() && first["values"].IsDefined())
        flatten(first["values"], "", {file, key + "[0].values", layers, findings});
    layers.entries["region_name"] = region;
}

/// `{region_name}` in the texts that are addresses or files is what that entry says.
void fill_in(CloudEntries& entries, Findings& findings) {
    for (auto& [name, entry] : entries) {
        const bool filled = name == "auth.auth_url" || name == "cacert" || name == "cert" ||
                            name == "key" || name.ends_with("_endpoint_override") ||
                            name.ends_with("_endpoint");
        for (std::size_t open = 0; filled;) {
            open = entry.text.find('{', open);
            const auto close = entry.text.find('}', open);
            if (open == std::string::npos || close == std::string::npos) break;
            const auto value = entries.find(entry.text.substr(open + 1, close - open - 1));
            if (value == entries.end() || value->first == name) {
                findings.add_error({entry.file, entry.line, entry.key,
                                    "names " + shown(entry.text.substr(open, close - open + 1)) +
                                        ", which the cloud does not say",
                                    "an entry of it, such as {region_name}"});
                break;
            }
            const std::string text = value->second.text;
            entry.text.replace(open, close - open + 1, text);
            open += text.size();
        }
    }
}

/// The member `name` of the file's `section` laid over `layers`; false if the file is wrong or
/// lacks it.
bool lay_over(const Found& found, const std::string& section, const std::string& name,
              Layers& layers, std::vector<std::string>& known, Findings& findings) {
    auto parsed = parse_document(found.path, found.file.text);
    if (const auto* const error = std::get_if<ConfigError>(&parsed)) {
        findings.add_error(*error);
        return false;
    }
    const YAML::Node root = std::get<YAML::Node>(parsed);
    if (!root.IsMap() || !root[section].IsDefined()) return false;
    bool there = false;
    for (const auto& [each, cloud] : members_of(root[section])) {
        known.push_back(each);
        if (each != name || !cloud.IsMap()) continue;
        flatten(cloud, "", {found.path, section + "." + name, layers, findings});
        there = true;
    }
    const bool secret = layers.entries.contains("auth.password") ||
                        layers.entries.contains("auth.application_credential_secret");
    if (there && secret && found.file.others_can_read)
        findings.add_warning({found.path, 0, "", "everyone can read this file with a secret",
                              "a file of mode 0640 or less"});
    return there;
}

/// What a provider publishes of its cloud lies below what the file says.
void lay_profile_below(Layers& layers, const std::string& clouds_file,
                       const Environment& environment, Findings& findings) {
    auto named = layers.entries.find("profile");
    if (named == layers.entries.end()) named = layers.entries.find("cloud");
    if (named == layers.entries.end() || named->second.text.empty()) return;
    const CloudEntry profile = named->second;
    layers.entries.erase("profile");
    layers.entries.erase("cloud");
    const std::string section = "public-clouds";
    Layers below;
    std::vector<std::string> known;
    const auto file = search("clouds-public", "", clouds_file, environment, findings);
    if (!file || !lay_over(*file, section, profile.text, below, known, findings)) {
        const std::string written_out = "auth_url and what else it stands for, written out";
        findings.add_error(
            {profile.file, profile.line, profile.key,
             "is " + shown(profile.text) + ", which is in no " + section + " of " +
                 (file ? file->path
                       : "clouds-public.yaml (., ~/.config/openstack, /etc/openstack)"),
             known.empty() ? written_out : "one of " + joined(known) + ", or " + written_out});
        return;
    }
    const bool has_region = layers.regions.IsSequence() || layers.entries.contains("region_name");
    layers.entries.merge(below.entries);
    if (has_region) return;
    layers.regions.reset(below.regions);
    layers.regions_file = below.regions_file;
    layers.regions_key = below.regions_key;
}

/// What belongs into `auth` may stand beside it. Of projects and domains what is in it counts, of
/// all else what is beside it.
void move_into_auth(CloudEntries& entries) {
    std::vector<std::string> beside;
    for (const auto& [name, entry] : entries)
        if (use_of_cloud_key("auth." + name) == CloudKeyUse::read) beside.push_back(name);
    for (const std::string& name : beside) {
        const bool scope = name.find("project") != std::string::npos ||
                           name.find("tenant") != std::string::npos ||
                           name.find("domain") != std::string::npos || name.ends_with("token");
        if (scope)
            entries.emplace("auth." + name, entries.at(name));
        else
            entries.insert_or_assign("auth." + name, entries.at(name));
    }
}

}  // namespace

std::optional<CloudEntries> cloud_of_file(const std::string& name, const std::string& clouds_file,
                                          const ConfigError& asked_by,
                                          const Environment& environment, Findings& findings) {
    const auto fail = [&](const std::string& problem, const std::string& expected,
                          bool unreadable = false) {
        ConfigError error = asked_by;
        error.problem = problem;
        error.expected = expected;
        error.unreadable = unreadable;
        findings.add_error(std::move(error));
        return std::nullopt;
    };
    const bool before = findings.clean();
    const auto clouds = clouds_file.empty()
                            ? search("clouds", "OS_CLIENT_CONFIG_FILE", "", environment, findings)
                            : try_file(clouds_file, environment, findings);
    if (!clouds)
        return fail("no clouds.yaml found",
                    "it in ., ~/.config/openstack or /etc/openstack, or clouds_file", true);
    Layers layers;
    std::vector<std::string> known;
    const bool there = lay_over(*clouds, "clouds", name, layers, known, findings);
    if (!there && before && !findings.clean()) return std::nullopt;  // not readable: said already
    if (!there)
        return fail("no cloud " + shown(name) + " in " + clouds->path,
                    known.empty() ? "clouds: with one of that name" : "one of " + joined(known));
    if (const auto secure =
            search("secure", "OS_CLIENT_SECURE_FILE", clouds_file, environment, findings))
        lay_over(*secure, "clouds", name, layers, known, findings);
    lay_profile_below(layers, clouds_file, environment, findings);
    take_region(layers, findings);
    if (const auto region = layers.entries.find("region_name"); region != layers.entries.end())
        region->second.text = region->second.text.substr(0, region->second.text.find(','));
    move_into_auth(layers.entries);
    fill_in(layers.entries, findings);
    return std::move(layers.entries);
}

CloudEntries cloud_of_variables(const Environment& environment) {
    CloudEntries entries;
    for (const auto& [variable, entry] : variables)
        if (const auto value = environment.variable(variable); value && !value->empty())
            entries.emplace(entry, CloudEntry{*value, "environment", 0, variable});
    return entries;
}

}  // namespace reaper::config
