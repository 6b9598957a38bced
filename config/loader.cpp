#include "config/loader.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>

#include "config/checks.hpp"
#include "config/document.hpp"
#include "config/dry_run.hpp"
#include "config/plugins.hpp"
#include "config/reader.hpp"
#include "config/sections.hpp"
#include "config/visit.hpp"
#include "reaper/model/text.hpp"

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
        if (entry.first.IsScalar() && std::ranges::find(names, entry.first.Scalar()) != names.end())
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
    std::string name = "REAPER_" + to_upper(join_path(section.path, key.name));
    std::ranges::replace(name, '.', '_');
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

namespace {

void load(const std::string& name, const std::string& text, const Environment& environment,
          Draft& draft, Findings& findings) {
    auto parsed = parse_document(name, text);
    if (const auto* const error = std::get_if<ConfigError>(&parsed))
        return findings.add_error(*error);
    draft.settings.policy = standard_policy();
    draft.settings.oversubscription.estimator = standard_estimator();
    draft.settings.oversubscription.qos = standard_qos();
    auto& root = std::get<YAML::Node>(parsed);
    add_variables(root, environment, findings);
    read_document(root, environment, draft, findings);
    if (!findings.has("taggers")) draft.settings.policy.taggers.clear();
    check_credential_source(draft, findings);
    resolve_credentials(environment, draft, findings);
    check_settings(draft, findings);
    check_oversubscription(draft.settings, findings);
    check_duties(draft.settings.policy, findings);
    finish_reservations(draft.settings.reservations, findings);
    draft.settings.policy.scheduler.res_type_traits = !draft.settings.gateway.listen.empty();
    // The table's accessors leave empty entries where the file says nothing.
    std::erase_if(draft.settings.cloud.endpoint_overrides,
                  [](const auto& override) { return override.second.empty(); });
}

void warn_of_secrets(Findings& findings) {
    for (const char* const key :
         {"broker.urls", "cloud.auth.password", "cloud.auth.application_credential_secret",
          "oversubscription.prometheus.password", "oversubscription.prometheus.token"})
        if (findings.has(key))
            findings.warn(key, "is in a file that everyone can read",
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

void keep_apart(Settings& settings) {
    if (!settings.dry_run) return;
    auto kept = kept_by_dry_run(settings.journal, settings.record);
    settings.journal = std::move(kept.journal);
    settings.record = std::move(kept.record);
}

LoadResult load_file(const std::string& name, const FileText& file, const Environment& environment,
                     std::vector<ConfigError>* warnings) {
    Draft draft;
    Findings findings{name};
    load_guarded(name, file.text, environment, draft, findings);
    if (file.others_can_read) warn_of_secrets(findings);
    if (warnings != nullptr) *warnings = findings.warnings();
    if (!findings.clean()) return findings.errors();
    keep_apart(draft.settings);
    return std::move(draft.settings);
}

std::string section_of(const ConfigError& error) {
    return error.key.substr(0, error.key.find_first_of(".["));
}

/// Mistakes in sections that say where and how to reach things. Without taggers, the owner of the
/// servers says which are revocable.
bool of_the_surroundings(const ConfigError& error, const Draft&) {
    if (error.key == "taggers" && error.line == 0) return true;
    if (error.key.starts_with("oversubscription.prometheus.")) return true;
    const std::string section = section_of(error);
    return section == "cloud" || section == "http" || section == "broker" || section == "journal" ||
           section == "log";
}

/// Mistakes that LocalSettings has no part in; those without a key are about all of the file.
bool not_local(const ConfigError& error, const Draft&) {
    const std::string section = section_of(error);
    return !section.empty() && section != "journal" && section != "admin" &&
           section != "pause_file" && section != "dry_run";
}

/// Mistakes that GatewaySettings has no part in.
bool not_gateway(const ConfigError& error, const Draft& draft) {
    const std::string section = section_of(error);
    if (section.empty() || section == "gateway" || section == "http" || section == "log" ||
        section == "start_within")
        return false;
    if (section != "cloud") return true;
    for (const char* const used :
         {"cloud.ca_file", "cloud.cert_file", "cloud.key_file", "cloud.verify_tls"})
        if (error.key == used) return false;
    const auto& overrides = draft.settings.cloud.endpoint_overrides;
    const auto placement = overrides.find("placement");
    // It is known where Placement is: Keystone need not be asked.
    return !draft.settings.gateway.placement_url.empty() ||
           (placement != overrides.end() && !placement->second.empty());
}

ConfigError unreadable_file(const std::string& path, const Error& error) {
    return {path,
            0,
            "",
            "can't be read (" + error.what + ")",
            "a YAML file that this user may read (sudo -u reaper reaper ...); see the sample "
            "reaper.yaml",
            true};
}

using PlaysNoPart = bool (*)(const ConfigError&, const Draft&);

/// The text, as far as it is right but for mistakes that play no part.
std::variant<Draft, std::vector<ConfigError>> load_part_of(const std::string& path,
                                                           const std::string& text,
                                                           const Environment& environment,
                                                           PlaysNoPart plays_no_part) {
    Draft draft;
    Findings findings{path};
    load_guarded(path, text, environment, draft, findings);
    auto errors = findings.errors();
    for (const ConfigError& error : errors)
        if (draft.broker_unknown.empty() && section_of(error) == "broker")
            draft.broker_unknown = to_string(error);
    std::erase_if(errors, [&](const ConfigError& error) { return plays_no_part(error, draft); });
    // Secrets that it names may be in files that only the service can read.
    std::erase_if(errors, [&](const ConfigError& error) {
        return error.file != path && !error.file.ends_with(in_environment);
    });
    if (!errors.empty()) return errors;
    return draft;
}

/// The same of a file.
std::variant<Draft, std::vector<ConfigError>> load_part(const std::string& path,
                                                        const Environment& environment,
                                                        PlaysNoPart plays_no_part) {
    const auto file = environment.read_file(path);
    if (!file) return std::vector<ConfigError>{unreadable_file(path, file.error())};
    return load_part_of(path, file->text, environment, plays_no_part);
}

/// Of `policy`, what the key is: a section of it, or a key at the top.
bool decides(std::string_view key) {
    const std::string_view section = key.substr(0, key.find('.'));
    for (const std::string_view known :
         {"taggers", "tagger_conflict", "strategy", "alternatives", "watched_aggregates",
          "host_cooldown", "scheduler", "protect", "limits", "thrash", "notice", "shelve",
          "breaker", "project_breaker", "shape_cooldown", "short_lived"})
        if (section == known) return true;
    return false;
}

/// Why not, if it can't be.
std::optional<ConfigError> override_key(YAML::Node root, const Override& wanted) {
    const auto& [key, value] = wanted;
    if (!decides(key))
        return ConfigError{"--set", 0, key, "does not decide which servers go",
                           "a key such as limits.victims_per_window, protect.min_run_time, "
                           "strategy or alternatives"};
    std::size_t at = 0;
    for (std::size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.', at)) {
        root.reset(root[key.substr(at, dot - at)]);
        at = dot + 1;
        if (root.IsDefined() && !root.IsNull() && !root.IsMap())
            return ConfigError{"--set", 0, key, "is inside a value", "a key of the file"};
    }
    root[key.substr(at)] = YAML::Load(value);
    return std::nullopt;
}

/// The document with the overrides in it, as text again.
std::variant<std::string, ConfigError> with_overrides(const std::string& name,
                                                      std::string_view text,
                                                      const std::vector<Override>& overrides) {
    auto parsed = parse_document(name, text);
    if (auto* const error = std::get_if<ConfigError>(&parsed)) return std::move(*error);
    YAML::Node root = std::get<YAML::Node>(parsed);
    for (const Override& each : overrides) {
        try {
            if (auto wrong = override_key(root, each)) return std::move(*wrong);
        } catch (const YAML::Exception& exception) {
            return ConfigError{"--set", 0, each.first, "not understood: " + exception.msg,
                               "a value as in the file"};
        }
    }
    // A user without taggers leaves them out.
    if (root["taggers"] && root["taggers"].IsSequence() && root["taggers"].size() == 0)
        root.remove("taggers");
    YAML::Emitter out;
    out << root;
    return std::string{out.c_str()};
}

}  // namespace

std::vector<ConfigError> load_modules(const std::string& path, const Environment& environment) {
    if (!environment.read_file(path)) return {};
    auto loaded = load_part(path, environment, [](const ConfigError& error, const Draft&) {
        return section_of(error) != "modules";
    });
    if (auto* const errors = std::get_if<std::vector<ConfigError>>(&loaded))
        return std::move(*errors);
    return {};
}

LoadResult load_settings(const std::string& path, const Environment& environment,
                         std::vector<ConfigError>* warnings) {
    const auto file = environment.read_file(path);
    if (file) return load_file(path, *file, environment, warnings);
    return std::vector<ConfigError>{unreadable_file(path, file.error())};
}

std::variant<Policy, std::vector<ConfigError>> load_policy(const std::string& path,
                                                           const Environment& environment) {
    auto loaded = load_part(path, environment, of_the_surroundings);
    if (auto* const draft = std::get_if<Draft>(&loaded)) return std::move(draft->settings.policy);
    return std::get<std::vector<ConfigError>>(std::move(loaded));
}

std::variant<Policy, std::vector<ConfigError>> load_policy_text(
    const std::string& name, std::string_view text, const std::vector<Override>& overrides,
    const Environment& environment) {
    auto changed = with_overrides(name, text, overrides);
    if (auto* const error = std::get_if<ConfigError>(&changed))
        return std::vector<ConfigError>{std::move(*error)};
    // What was recorded, or is asked for, is all of it.
    Environment without = environment;
    without.variable =
        [given = environment.variable](const std::string& variable) -> std::optional<std::string> {
        if (variable.starts_with("REAPER_")) return std::nullopt;
        return given(variable);
    };
    auto loaded = load_part_of(name, std::get<std::string>(changed), without, of_the_surroundings);
    auto* const draft = std::get_if<Draft>(&loaded);
    if (draft == nullptr) return std::get<std::vector<ConfigError>>(std::move(loaded));
    return std::move(draft->settings.policy);
}

std::string to_yaml(const Policy& policy) {
    Settings settings;
    settings.policy = policy;
    settings.oversubscription.estimator = standard_estimator();
    settings.oversubscription.qos = standard_qos();
    return to_yaml(settings);
}

std::variant<LocalSettings, std::vector<ConfigError>> load_local(const std::string& path,
                                                                 const Environment& environment) {
    auto loaded = load_part(path, environment, not_local);
    if (auto* const draft = std::get_if<Draft>(&loaded)) {
        Settings& settings = draft->settings;
        JournalSettings configured = settings.journal;
        JournalSettings of_dry_run = kept_by_dry_run(settings.journal, settings.record).journal;
        keep_apart(settings);
        JournalSettings other = settings.dry_run ? std::move(configured) : std::move(of_dry_run);
        if (other.place() == settings.journal.place()) other = JournalSettings{""};
        return LocalSettings{settings.dry_run,
                             std::move(settings.journal),
                             std::move(settings.pause_file),
                             std::move(settings.admin),
                             std::move(settings.policy.safeguards),
                             std::move(settings.broker),
                             std::move(draft->broker_unknown),
                             std::move(settings.gateway),
                             std::move(settings.record),
                             std::move(settings.metrics),
                             std::move(other)};
    }
    return std::get<std::vector<ConfigError>>(std::move(loaded));
}

std::variant<GatewaySettings, std::vector<ConfigError>> load_gateway(
    const std::string& path, const Environment& environment) {
    auto loaded = load_part(path, environment, not_gateway);
    auto* const draft = std::get_if<Draft>(&loaded);
    if (draft == nullptr) return std::get<std::vector<ConfigError>>(std::move(loaded));
    Settings& settings = draft->settings;
    if (settings.gateway.listen.empty())
        return std::vector<ConfigError>{
            {path, 0, "gateway.listen", "is not there", "IP:PORT, such as 127.0.0.1:8780"}};
    return GatewaySettings{std::move(settings.gateway), std::move(settings.cloud), settings.http,
                           std::move(settings.log), settings.start_within};
}

std::variant<Cloud, std::vector<ConfigError>> load_cloud_of_environment(
    const Environment& environment) {
    Draft draft;
    draft.from_environment = true;
    Findings findings{"environment"};
    try {
        resolve_credentials(environment, draft, findings);
    } catch (const YAML::Exception& exception) {
        findings.add_error({"clouds.yaml", 0, "", "not understood: " + exception.msg, ""});
    }
    if (findings.clean()) return std::move(draft.settings.cloud);
    return findings.errors();
}

Policy standard_policy() {
    Policy policy;
    policy.taggers = {standard_tagger()};
    policy.strategy = standard_strategy();
    return policy;
}

}  // namespace reaper::config
