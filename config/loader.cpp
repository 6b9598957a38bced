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
    draft.settings.policy.taggers = {standard_tagger()};
    draft.settings.policy.strategy = standard_strategy();
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

LoadResult load_file(const std::string& name, const FileText& file, const Environment& environment,
                     std::vector<ConfigError>* warnings) {
    Draft draft;
    Findings findings{name};
    try {
        load(name, file.text, environment, draft, findings);
    } catch (const YAML::Exception& exception) {
        const int line = exception.mark.is_null() ? 0 : exception.mark.line + 1;
        findings.add_error({name, line, "", "not understood: " + exception.msg, ""});
    }
    if (file.others_can_read) warn_of_secrets(findings);
    if (warnings != nullptr) *warnings = findings.warnings();
    if (!findings.clean()) return findings.errors();
    return std::move(draft.settings);
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
    return std::vector<ConfigError>{{path, 0, "", "can't be read (" + file.error().what + ")",
                                     "a YAML file; see the sample reaper.yaml"}};
}

std::string default_config_path() {
    return "/etc/reaper/reaper.yaml";
}

}  // namespace reaper::config
