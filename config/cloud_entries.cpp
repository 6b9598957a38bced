#include "config/cloud_entries.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

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

/// Is it an entry that something here is made of?
bool is_read(const std::string& name) {
    return name == "auth" || name == "regions" ||
           std::any_of(variables.begin(), variables.end(),
                       [&](const auto& each) { return name == each.second; });
}

/// clouds.yaml or secure.yaml of one place.
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
        for (const char* const ending : {".yaml", ".yml"})
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

/// Where the entries of a file go.
struct CloudKey {
    const std::string& file;
    const std::string key;  ///< `clouds.NAME`
    CloudEntries& entries;
    Findings& findings;
};

void flatten(const YAML::Node& node, const std::string& prefix, const CloudKey& target);

/// The first of the regions, as OpenStack's own tools take it, with what it sets.
void take_region(const YAML::Node& regions, const CloudKey& target) {
    if (regions.size() == 0) return;
    const YAML::Node first = regions[0];
    const YAML::Node region = first.IsMap() ? first["name"] : first;
    if (region.IsDefined() && region.IsScalar())
        target.entries["regions"] = {region.Scalar(), target.file, line_of(region),
                                     target.key + ".regions"};
    if (first.IsMap()) flatten(first["values"], "", target);
}

void flatten(const YAML::Node& node, const std::string& prefix, const CloudKey& target) {
    YAML::Node regions;
    for (const auto& [spelling, value] : members_of(node)) {
        std::string name = prefix + spelling;
        std::replace(name.begin(), name.end(), '-', '_');
        const std::string full = target.key + "." + prefix + spelling;
        if (value.IsScalar())
            target.entries[name] = {value.Scalar(), target.file, line_of(value), full};
        else if (name == "auth" && value.IsMap())
            flatten(value, "auth.", target);
        else if (name == "regions" && value.IsSequence())
            regions.reset(value);  // what it sets is laid over the rest
        else if (!value.IsNull() && is_read(name))
            target.findings.add_error({target.file, line_of(value), full,
                                       value.IsMap() ? "is a mapping" : "is a list",
                                       name == "auth" ? "a mapping" : "a text"});
    }
    if (regions.IsSequence()) take_region(regions, target);
}

/// The entries of one file laid over `entries`; false if the file is wrong or lacks the cloud.
bool lay_over(const Found& found, const std::string& name, CloudEntries& entries,
              std::vector<std::string>& known, Findings& findings) {
    auto parsed = parse_document(found.path, found.file.text);
    if (const auto* const error = std::get_if<ConfigError>(&parsed)) {
        findings.add_error(*error);
        return false;
    }
    const YAML::Node clouds = std::get<YAML::Node>(parsed)["clouds"];
    if (!clouds.IsDefined() || !clouds.IsMap()) return false;
    bool there = false;
    for (const auto& entry : clouds) {
        if (!entry.first.IsScalar()) continue;
        known.push_back(entry.first.Scalar());
        if (entry.first.Scalar() != name || !entry.second.IsMap()) continue;
        flatten(entry.second, "", {found.path, "clouds." + name, entries, findings});
        there = true;
    }
    const bool secret =
        entries.contains("auth.password") || entries.contains("auth.application_credential_secret");
    if (there && secret && found.file.others_can_read)
        findings.add_warning({found.path, 0, "", "everyone can read this file with a secret",
                              "a file of mode 0640 or less"});
    return there;
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
    CloudEntries entries;
    std::vector<std::string> known;
    const bool there = lay_over(*clouds, name, entries, known, findings);
    if (!there && before && !findings.clean()) return std::nullopt;  // not readable: said already
    if (!there)
        return fail("no cloud " + shown(name) + " in " + clouds->path,
                    known.empty() ? "clouds: with one of that name" : "one of " + joined(known));
    if (const auto secure =
            search("secure", "OS_CLIENT_SECURE_FILE", clouds_file, environment, findings))
        lay_over(*secure, name, entries, known, findings);
    // What belongs into `auth` may stand beside it.
    for (const auto& [variable, entry] : variables) {
        const std::string_view of_auth = entry;
        if (!of_auth.starts_with("auth.")) continue;
        const auto beside = entries.find(std::string(of_auth.substr(5)));
        if (beside != entries.end()) entries.emplace(entry, beside->second);
    }
    return entries;
}

CloudEntries cloud_of_variables(const Environment& environment) {
    CloudEntries entries;
    for (const auto& [variable, entry] : variables)
        if (const auto value = environment.variable(variable); value && !value->empty())
            entries.emplace(entry, CloudEntry{*value, "environment", 0, variable});
    return entries;
}

}  // namespace reaper::config
