#include "config/clouds.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "config/checks.hpp"
#include "config/cloud_entries.hpp"
#include "config/reader.hpp"
#include "config/values.hpp"

namespace reaper::config {
namespace {

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

std::optional<bool> truth(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
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
