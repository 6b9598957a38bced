#include "config/loader.hpp"

#include "config/checks.hpp"
#include "config/clouds.hpp"
#include "config/document.hpp"
#include "config/findings.hpp"
#include "config/keys.hpp"
#include "config/plugins.hpp"
#include "config/reader.hpp"

namespace reaper::config {
namespace {

void load(const std::string& name, const std::string& text, const Environment& environment,
          Draft& draft, Findings& findings) {
    auto parsed = parse_document(name, text);
    if (const auto* const error = std::get_if<ConfigError>(&parsed))
        return findings.add_error(*error);
    draft.settings.policy = standard_policy();
    read_document(std::get<YAML::Node>(parsed), environment, draft, findings);
    check_credential_source(draft, findings);
    resolve_credentials(environment, draft, findings);
    check_settings(draft, findings);
    // The table's accessors leave empty entries where the file says nothing.
    std::erase_if(draft.settings.cloud.endpoint_overrides,
                  [](const auto& override) { return override.second.empty(); });
}

void warn_of_secrets(Findings& findings) {
    for (const char* const key :
         {"broker.urls", "cloud.auth.password", "cloud.auth.application_credential_secret"})
        if (findings.has(key))
            findings.warn(key, "stands in a file that everyone can read",
                          "a file of mode 0640 or less, or a secret file");
}

void load_guarded(const std::string& name, const std::string& text, const Environment& environment,
                  Draft& draft, Findings& findings) {
    try {
        load(name, text, environment, draft, findings);
    } catch (const YAML::Exception& exception) {
        const int line = exception.mark.is_null() ? 0 : exception.mark.line + 1;
        findings.add_error({name, line, "", "not understood: " + exception.msg, ""});
    }
}

LoadResult load_file(const std::string& name, const FileText& file, const Environment& environment,
                     std::vector<ConfigError>* warnings) {
    Draft draft;
    Findings findings{name};
    load_guarded(name, file.text, environment, draft, findings);
    if (file.others_can_read) warn_of_secrets(findings);
    if (warnings != nullptr) *warnings = findings.warnings();
    if (!findings.clean()) return findings.errors();
    return std::move(draft.settings);
}

/// Mistakes in sections that say where and how to reach things.
bool of_the_surroundings(const ConfigError& error) {
    const std::string section = error.key.substr(0, error.key.find_first_of(".["));
    return section == "cloud" || section == "http" || section == "broker" || section == "journal" ||
           section == "log";
}

ConfigError unreadable_file(const std::string& path, const Error& error) {
    return {path, 0, "", "can't be read (" + error.what + ")",
            "a YAML file; see the sample reaper.yaml"};
}

}  // namespace

LoadResult load_settings_text(const std::string& name, std::string_view text,
                              const Environment& environment, std::vector<ConfigError>* warnings) {
    return load_file(name, FileText{std::string{text}, false}, environment, warnings);
}

LoadResult load_settings(const std::string& path, const Environment& environment,
                         std::vector<ConfigError>* warnings) {
    const auto file = environment.read_file(path);
    if (file) return load_file(path, *file, environment, warnings);
    return std::vector<ConfigError>{unreadable_file(path, file.error())};
}

std::variant<Policy, std::vector<ConfigError>> load_policy(const std::string& path,
                                                           const Environment& environment) {
    const auto file = environment.read_file(path);
    if (!file) return std::vector<ConfigError>{unreadable_file(path, file.error())};
    Draft draft;
    Findings findings{path};
    load_guarded(path, file->text, environment, draft, findings);
    auto errors = findings.errors();
    std::erase_if(errors, of_the_surroundings);
    // Secrets that it names may be in files that only the service can read.
    std::erase_if(errors, [&](const ConfigError& error) { return error.file != path; });
    if (!errors.empty()) return errors;
    return std::move(draft.settings.policy);
}

Policy standard_policy() {
    Policy policy;
    policy.taggers = {standard_tagger()};
    policy.strategy = standard_strategy();
    return policy;
}

std::string default_config_path() {
    return "/etc/reaper/reaper.yaml";
}

}  // namespace reaper::config
