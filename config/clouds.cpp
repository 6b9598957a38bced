#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/checks.hpp"
#include "config/document.hpp"
#include "config/reader.hpp"
#include "config/values.hpp"
#include "reaper/model/text.hpp"

namespace reaper::config {

// The keys that OpenStack's own tools know in a cloud of clouds.yaml, and what becomes of each
// here.
//
// Source: openstacksdk's openstack/config: loader.py, cloud_region.py, schema.json and
// vendor-schema.json; keystoneauth's plugins `password` and `v3applicationcredential`.

enum class CloudKeyUse {
    read,     ///< by this file, which refuses what it can't use
    idle,     ///< it is of no matter to the reaper: how to upload images, which network is public
    unused,   ///< it would change how the cloud is asked, and does not here: it is reported
    unknown,  ///< to OpenStack's tools too, as far as is known here: it is reported
};

// One cloud as flat entries (`auth.auth_url`, `region_name`, ...), each with where it was found.

struct CloudEntry {
    std::string text;
    std::string file;  ///< `environment` for a variable
    int line = 0;
    std::string key;  ///< for messages
};
using CloudEntries = std::map<std::string, CloudEntry>;

namespace {

constexpr std::array<std::string_view, 17> read_keys{
    "auth",          "auth_type",   "auth_plugin", "profile",
    "cloud",         "region_name", "regions",     "interface",
    "endpoint_type", "verify",      "insecure",    "cacert",
    "cert",          "key",         "passcode",    "identity_api_version",
    "auth_methods"};

/// In `auth`, or beside it.
constexpr std::array<std::string_view, 26> auth_keys{"auth_url",
                                                     "username",
                                                     "user_name",
                                                     "user_id",
                                                     "password",
                                                     "user_domain_name",
                                                     "user_domain_id",
                                                     "project_name",
                                                     "project_id",
                                                     "tenant_name",
                                                     "tenant_id",
                                                     "project_domain_name",
                                                     "project_domain_id",
                                                     "domain_id",
                                                     "domain_name",
                                                     "default_domain",
                                                     "default_domain_id",
                                                     "default_domain_name",
                                                     "application_credential_id",
                                                     "application_credential_name",
                                                     "application_credential_secret",
                                                     "system_scope",
                                                     "trust_id",
                                                     "token",
                                                     "auth_token",
                                                     "passcode"};

constexpr std::array<std::string_view, 24> idle_keys{"api_timeout",
                                                     "timeout",
                                                     "timing",
                                                     "floating_ip_source",
                                                     "requires_floating_ip",
                                                     "networks",
                                                     "external_network",
                                                     "internal_network",
                                                     "secgroup_source",
                                                     "image_api_use_tasks",
                                                     "image_format",
                                                     "disable_vendor_agent",
                                                     "vendor_hook",
                                                     "message",
                                                     "status",
                                                     "metrics",
                                                     "connect_retries",
                                                     "connect_retry_delay",
                                                     "status_code_retries",
                                                     "status_code_retry_delay",
                                                     "retriable_status_codes",
                                                     "default_microversion",
                                                     "verbose_level",
                                                     "debug"};

constexpr std::array<std::string_view, 2> unused_keys{"force_ipv4", "prefer_ipv6"};

/// Of each service: `compute_endpoint_override`.
constexpr std::array<std::string_view, 7> service_keys{
    "_interface",    "_endpoint_type",     "_region_name", "_service_type",
    "_service_name", "_endpoint_override", "_endpoint"};
constexpr std::array<std::string_view, 10> idle_service_keys{
    "_api_version",     "_default_microversion", "_min_version",         "_max_version",
    "_connect_retries", "_connect_retry_delay",  "_status_code_retries", "_status_code_retry_delay",
    "_timeout",         "_disabled_reason"};

template <class Names>
bool has(const Names& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

template <class Endings>
bool ends_with_one_of(const Endings& endings, std::string_view name) {
    return std::ranges::any_of(endings, [&](std::string_view ending) {
        return name.size() > ending.size() && name.ends_with(ending);
    });
}

/// `name`: with `_` for `-`, of what is in `auth` as `auth.NAME`.
CloudKeyUse use_of_cloud_key(std::string_view name) {
    constexpr std::string_view of_auth = "auth.";
    if (name.starts_with(of_auth))
        return has(auth_keys, name.substr(of_auth.size())) ? CloudKeyUse::read
                                                           : CloudKeyUse::unknown;
    if (has(read_keys, name) || has(auth_keys, name) || ends_with_one_of(service_keys, name))
        return CloudKeyUse::read;
    if (has(idle_keys, name) || ends_with_one_of(idle_service_keys, name) ||
        name.starts_with("has_"))
        return CloudKeyUse::idle;
    return has(unused_keys, name) ? CloudKeyUse::unused : CloudKeyUse::unknown;
}

/// For messages: the key that was meant, or what is expected.
std::string meant_cloud_key(std::string_view name) {
    const std::string_view last = name.substr(name.rfind('.') + 1);
    std::vector<std::string> known(auth_keys.begin(), auth_keys.end());
    if (last == name) known.insert(known.end(), read_keys.begin(), read_keys.end());
    const auto near = nearest(last, known);
    return near ? *near : "a key that OpenStack's own tools know";
}

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
            if (std::ranges::none_of(
                    members, [&](const auto& member) { return member.first == brought.first; }))
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
        std::ranges::replace(name, '-', '_');
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

/// The cloud `name` of clouds.yaml, secure.yaml laid over, and below both the profile of
/// clouds-public.yaml that it names; `clouds_file` replaces the search if not empty. What belongs
/// into `auth` is there, and `region_name` is the region. `asked_by` is the key or variable that
/// named the cloud. None, with an error, if there is none.
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

/// What the OS_* variables say.
CloudEntries cloud_of_variables(const Environment& environment) {
    CloudEntries entries;
    for (const auto& [variable, entry] : variables)
        if (const auto value = environment.variable(variable); value && !value->empty())
            entries.emplace(entry, CloudEntry{*value, "environment", 0, variable});
    return entries;
}

struct Texts {
    const char* entry;
    std::string Credentials::*member;
};
constexpr std::array<Texts, 14> credential_texts{{
    {"auth.auth_url", &Credentials::auth_url},
    {"auth.username", &Credentials::username},
    {"auth.user_name", &Credentials::username},
    {"auth.user_id", &Credentials::user_id},
    {"auth.user_domain_name", &Credentials::user_domain_name},
    {"auth.user_domain_id", &Credentials::user_domain_id},
    {"auth.project_name", &Credentials::project_name},
    {"auth.tenant_name", &Credentials::project_name},
    {"auth.project_id", &Credentials::project_id},
    {"auth.tenant_id", &Credentials::project_id},
    {"auth.project_domain_name", &Credentials::project_domain_name},
    {"auth.project_domain_id", &Credentials::project_domain_id},
    {"auth.application_credential_id", &Credentials::application_credential_id},
    {"auth.application_credential_name", &Credentials::application_credential_name},
}};

struct Files {
    const char* entry;
    const char* key;  ///< of the main file, which wins
    std::string Cloud::*member;
};
constexpr std::array<Files, 3> tls_files{{{"cacert", "cloud.ca_file", &Cloud::ca_file},
                                          {"cert", "cloud.cert_file", &Cloud::cert_file},
                                          {"key", "cloud.key_file", &Cloud::key_file}}};

const CloudEntry* find(const CloudEntries& entries, const std::string& name) {
    const auto at = entries.find(name);
    return at == entries.end() ? nullptr : &at->second;
}

void complain(const CloudEntry& entry, const std::string& problem, const std::string& expected,
              Findings& findings, bool unreadable = false) {
    findings.add_error({entry.file, entry.line, entry.key, problem, expected, unreadable});
}

std::optional<bool> truth(const std::string& given) {
    const std::string text = to_lower(given);
    for (const char* const yes : {"true", "yes", "on", "1"})
        if (text == yes) return true;
    for (const char* const no : {"false", "no", "off", "0"})
        if (text == no) return false;
    return std::nullopt;
}

void default_domain(const CloudEntries& entries, Credentials& credentials) {
    const auto* const id = find(entries, "auth.default_domain_id");
    const auto* const name = find(entries, "auth.default_domain_name");
    if (id == nullptr && name == nullptr) return;
    if (credentials.user_domain_id.empty() && credentials.user_domain_name.empty())
        (id ? credentials.user_domain_id : credentials.user_domain_name) = (id ? id : name)->text;
    if (credentials.project_domain_id.empty() && credentials.project_domain_name.empty())
        (id ? credentials.project_domain_id : credentials.project_domain_name) =
            (id ? id : name)->text;
}

/// One domain for user and project, where a project is the scope; else it is the scope.
void common_domain(const CloudEntries& entries, Credentials& credentials, Findings& findings) {
    const bool project = !credentials.project_id.empty() || !credentials.project_name.empty();
    const auto* const id = find(entries, "auth.domain_id");
    const auto* const name = find(entries, "auth.domain_name");
    for (const CloudEntry* const entry : {id, name})
        if (entry != nullptr && !project)
            complain(*entry, "is not read", "the scope of a project: project_name or project_id",
                     findings);
    const auto fill = [&](std::string& of_id, std::string& of_name) {
        if (id != nullptr && of_id.empty()) {
            of_id = id->text;
            of_name.clear();
        } else if (name != nullptr && of_id.empty() && of_name.empty()) {
            of_name = name->text;
        }
    };
    if (!project) return;
    fill(credentials.user_domain_id, credentials.user_domain_name);
    fill(credentials.project_domain_id, credentials.project_domain_name);
}

/// Leaves only what the type uses: people keep both kinds side by side and choose by it.
void keep_type(const CloudEntries& entries, Credentials& credentials, Findings& findings) {
    const auto* type = find(entries, "auth_type");
    if (type == nullptr) type = find(entries, "auth_plugin");
    if (type == nullptr) return;
    if (type->text == "v3applicationcredential") {
        credentials.password = Secret{};
    } else if (type->text == "password" || type->text == "v3password") {
        credentials.application_credential_id.clear();
        credentials.application_credential_name.clear();
        credentials.application_credential_secret = Secret{};
    } else {
        complain(*type, "is " + shown(type->text),
                 "password or v3applicationcredential (the others can't be renewed)", findings);
    }
}

void take_credentials(const CloudEntries& entries, Credentials& credentials, Findings& findings) {
    for (const auto& [entry, member] : credential_texts)
        if (const auto* const found = find(entries, entry);
            found != nullptr && (credentials.*member).empty())
            credentials.*member = found->text;
    if (const auto* const password = find(entries, "auth.password"))
        credentials.password = Secret{password->text};
    if (const auto* const secret = find(entries, "auth.application_credential_secret"))
        credentials.application_credential_secret = Secret{secret->text};
    common_domain(entries, credentials, findings);
    default_domain(entries, credentials);
    keep_type(entries, credentials, findings);
    if (const auto* const url = find(entries, "auth.auth_url"))
        if (const auto problem = url_problem(url->text, {"http", "https"}))
            complain(*url, *problem, "http://HOST:PORT or https://HOST:PORT", findings);
}

void take_interface(const CloudEntries& entries, Cloud& cloud, Findings& findings) {
    const auto* entry = find(entries, "interface");
    if (entry == nullptr) entry = find(entries, "endpoint_type");
    if (entry == nullptr || findings.has("cloud.interface")) return;
    std::string name = entry->text;
    if (name.ends_with("URL")) name.resize(name.size() - 3);
    if (name == "public" || name == "internal" || name == "admin")
        cloud.interface = name;
    else
        complain(*entry, "is " + shown(entry->text), "public, internal or admin", findings);
}

void take_tls(const CloudEntries& entries, Cloud& cloud, const Environment& environment,
              Findings& findings) {
    for (const auto& [name, key, member] : tls_files) {
        const auto* const entry = find(entries, name);
        if (entry == nullptr || findings.has(key)) continue;
        std::string path = entry->text;
        if (const auto home = environment.variable("HOME"); home && path.starts_with("~/"))
            path.replace(0, 1, *home);
        if (const auto file = environment.read_file(path); !file)
            complain(*entry, unreadable(path, file.error()), "the path of a readable file",
                     findings, true);
        cloud.*member = std::move(path);
    }
    if (findings.has("cloud.verify_tls")) return;
    for (const char* const name : {"verify", "insecure"}) {
        const auto* const entry = find(entries, name);
        if (entry == nullptr) continue;
        const auto value = truth(entry->text);
        if (!value)
            complain(*entry, "is " + shown(entry->text), "true or false", findings);
        else if (*value == (std::string_view{name} == "insecure"))
            cloud.verify_tls = false;
    }
}

void take_endpoints(const CloudEntries& entries, Cloud& cloud, Findings& findings) {
    for (const std::string service : {"compute", "placement", "identity", "image"}) {
        const auto* entry = find(entries, service + "_endpoint_override");
        if (entry == nullptr || entry->text.empty()) entry = find(entries, service + "_endpoint");
        if (entry == nullptr || findings.has("cloud.endpoints." + service)) continue;
        if (const auto problem = url_problem(entry->text, {"http", "https"}))
            complain(*entry, *problem, "http://HOST:PORT or https://HOST:PORT", findings);
        cloud.endpoint_overrides[service] = entry->text;
    }
}

/// What OpenStack's own tools go by and this reads nothing of: to leave it out would ask another
/// cloud, or as another user.
void refuse_others(const CloudEntries& entries, Findings& findings) {
    const std::string project = "the scope of a project: project_name or project_id";
    const std::pair<const char*, std::string> others[]{
        {"auth.system_scope", project},
        {"auth.trust_id", project},
        {"auth.passcode", "password"},
        {"auth_methods", "auth_type"},
        {"auth.auth_token", "password or v3applicationcredential (a token can't be renewed)"},
        {"auth.token", "password or v3applicationcredential (a token can't be renewed)"}};
    for (const auto& [name, expected] : others)
        if (const auto* const entry = find(entries, name); entry != nullptr && !entry->text.empty())
            complain(*entry, "is not read", expected, findings);
    if (const auto* const version = find(entries, "identity_api_version"))
        if (!version->text.starts_with('3'))
            complain(*version, "is " + shown(version->text), "3", findings);
    for (const std::string service : {"compute", "placement", "identity", "image"})
        for (const char* const what :
             {"_interface", "_endpoint_type", "_region_name", "_service_type", "_service_name"})
            if (const auto* const entry = find(entries, service + what)) {
                const auto* const all = find(entries, what + 1);
                const bool usual =
                    std::string_view{what} == "_service_type" && entry->text == service;
                if (!usual && (all == nullptr || all->text != entry->text))
                    complain(*entry, "is not read", service + "_endpoint_override", findings);
            }
}

void take(const CloudEntries& entries, const Environment& environment, Cloud& cloud,
          Findings& findings) {
    refuse_others(entries, findings);
    take_credentials(entries, cloud.credentials, findings);
    const auto* const region = find(entries, "region_name");
    if (region != nullptr && !findings.has("cloud.region")) cloud.region = region->text;
    take_interface(entries, cloud, findings);
    take_tls(entries, cloud, environment, findings);
    take_endpoints(entries, cloud, findings);
}

/// Where the entries came from, for what is missing in them.
CredentialPlace place_of(const CloudEntries& entries, const std::string& cloud) {
    if (cloud.empty()) return {"environment", 0, "OS_*"};
    for (const char* const name : {"auth.auth_url", "auth.username", "auth.password"})
        if (const auto* const entry = find(entries, name); entry != nullptr && entry->line > 0)
            return {entry->file, entry->line, "clouds." + cloud};
    return {"clouds.yaml", 0, "clouds." + cloud};
}

std::optional<CloudEntries> entries_of_environment(const Environment& environment,
                                                   const Draft& draft, std::string& cloud_name,
                                                   Findings& findings) {
    CloudEntries entries = cloud_of_variables(environment);
    const auto name = environment.variable("OS_CLOUD");
    if (!name || name->empty()) return entries;
    cloud_name = *name;
    auto of_file =
        cloud_of_file(*name, draft.clouds_file, ConfigError{"environment", 0, "OS_CLOUD", "", ""},
                      environment, findings);
    // OS_CLOUD chose a cloud; other variables only complete it.
    if (of_file) of_file->merge(entries);
    return of_file;
}

}  // namespace

void resolve_credentials(const Environment& environment, Draft& draft, Findings& findings) {
    Cloud& cloud = draft.settings.cloud;
    if (findings.has("cloud.auth")) {
        const CredentialPlace place{findings.file(), findings.line("cloud.auth"), "cloud.auth"};
        return check_credentials(cloud.credentials, place, findings);
    }
    std::string name = draft.cloud_name;
    std::optional<CloudEntries> entries;
    if (!name.empty()) {
        const ConfigError asked_by{findings.file(), findings.line("cloud.name"), "cloud.name", "",
                                   ""};
        entries = cloud_of_file(name, draft.clouds_file, asked_by, environment, findings);
    } else if (draft.from_environment) {
        entries = entries_of_environment(environment, draft, name, findings);
    }
    if (!entries) return;
    take(*entries, environment, cloud, findings);
    check_credentials(cloud.credentials, place_of(*entries, name), findings);
}

}  // namespace reaper::config
