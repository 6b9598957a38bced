// `reaper config`: what is in effect, or only whether it is right.
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "config/broker_url.hpp"
#include "config/loader.hpp"
#include "config/visit.hpp"
#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/cli/cloud/saved_plan.hpp"
#include "reaper/cli/daemon/request_progress.hpp"
#include "reaper/cli/daemon/run_command.hpp"
#include "reaper/cli/daemon/status_report.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/daemon/metrics_source.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/json_status.hpp"
#include "reaper/report/text.hpp"

namespace reaper::cli {
namespace {

using nlohmann::json;

void add_parameters(json& object, const auto& parameters) {
    for (const auto& [name, value] : parameters)
        object[name] = std::visit([](const auto& held) { return json(held); }, value);
}

json json_of(const config::Plugin& plugin) {
    json object = {{"name", plugin.name}};
    add_parameters(object, plugin.parameters);
    return object;
}

json json_of(const config::Module& module) {
    json parameters = json::object();
    add_parameters(parameters, module.parameters);
    return {{"path", module.path}, {"sha256", module.sha256}, {"parameters", parameters}};
}

json json_of(const Cell& cell) {
    return {{"name", cell.name},
            {"hosts", cell.hosts},
            {"aggregates", cell.aggregates},
            {"disabled", cell.disabled}};
}

json json_of(const config::RoleProjects& each) {
    return {{"role", each.role.str()}, {"projects", each.projects}};
}

json json_of(const config::StaticReservation& each) {
    return {{"role", each.role.str()},
            {"hosts", each.hosts},
            {"aggregates", each.aggregates},
            {"resources", report::to_json(each.resources)},
            {"labels", json(each.labels)},
            {"principal", each.principal},
            {"lend", each.lending.lend},
            {"floor", report::to_json(each.lending.floor)},
            {"longest_loan_ms", each.lending.longest.count()}};
}

json json_of(const ReserveRule& rule) {
    return {{"principals", rule.principals}, {"roles", rule.roles}};
}

json json_of(const UnreserveRule& rule) {
    return {{"principals", rule.principals}, {"of", rule.of}};
}

json json_of(const Mark& mark) {
    return {{"class", mark.resource_class.str()}, {"high", mark.high}, {"low", mark.low}};
}

json json_of(const TaggerSpan& span) {
    return {{"tagger", span.tagger}, {"after_ms", span.after.count()}};
}

json json_of(const config::Secret& secret) {
    return secret.empty() ? "" : "***";
}

/// URLs of brokers: where they are, without user and password.
json json_of(const std::vector<config::Secret>& urls) {
    json names = json::array();
    for (const auto& url : urls) {
        const auto parsed = parse_broker_urls(url);
        if (!parsed) names.push_back("***");
        for (std::size_t i = 0; parsed && i < parsed->size(); ++i)
            names.push_back((*parsed)[i].name());
    }
    return names;
}

json json_of(std::chrono::milliseconds span) {
    return span.count();
}

template <class T>
json json_of(const T& value) {
    return value;
}

template <class T>
json json_of(const std::vector<T>& all) {
    json list = json::array();
    for (const T& each : all) list.push_back(json_of(each));
    return list;
}

json& object_at(json& root, std::string_view path) {
    json* object = &root;
    while (!path.empty()) {
        const auto dot = path.find('.');
        object = &(*object)[std::string{path.substr(0, dot)}];
        path = dot == path.npos ? "" : path.substr(dot + 1);
    }
    return *object;
}

/// The keys of the file, nested as there; durations in milliseconds as `KEY_ms`. Secrets are "***"
/// when set, and broker URLs are shown without user and password.
json settings_json(const config::Settings& settings) {
    json root = {{"version", report::json_version}};
    config::for_each_key([&](const config::Section& section, const config::Key& key) {
        // These only say where credentials come from.
        if (section.path == "cloud" &&
            (key.name == "name" || key.name == "clouds_file" || key.name == "from_environment"))
            return;
        const config::Value value = config::value_of(key, settings);
        const bool span = std::holds_alternative<std::chrono::milliseconds>(value);
        object_at(root, section.path)[std::string{key.name} + (span ? "_ms" : "")] =
            std::visit([](const auto& held) { return json_of(held); }, value);
    });
    return root;
}

constexpr const char* credentials = "/run/credentials/";

}  // namespace

namespace {

json shared_settings(const config::Settings& settings) {
    json root = settings_json(settings);
    for (const char* const of_machine : {"admin", "metrics", "log", "record", "journal",
                                         "pause_file", "start_within_ms", "cloud", "http"})
        root.erase(of_machine);
    root["broker"].erase("urls");
    for (const char* const of_machine : {"listen", "tls"}) root["gateway"].erase(of_machine);
    return root;
}

/// FNV-1a: no secret is in it, and a collision gains nothing.
std::string digest_of(const json& settings) {
    std::uint64_t digest = 0xcbf29ce484222325U;
    for (const char c : settings.dump(-1, ' ', true, json::error_handler_t::replace))
        digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(digest));
    return text;
}

}  // namespace

std::string configuration_digest(const config::Settings& settings) {
    return digest_of(shared_settings(settings));
}

std::string digests_of_sections(const config::Settings& settings) {
    const json shared = shared_settings(settings);
    std::string all;
    for (const auto& [name, section] : shared.items())
        all += (all.empty() ? "" : " ") + name + "=" + digest_of(section).substr(8);
    return all;
}

namespace {

/// What systemd gives to a service (LoadCredential=) is for its main process alone: what checks the
/// configuration before a reload, or on a person's behalf, may not read it. In its place stands
/// what is right as a password and as a URL.
config::Environment without_credentials(const Terminal& terminal, bool& any) {
    config::Environment environment = config::system_environment();
    environment.read_file = [read = environment.read_file, &terminal,
                             &any](const std::string& path) {
        Result<config::FileText> file = read(path);
        if (file || !path.starts_with(credentials)) return file;
        terminal.warn(path + ": is for the service alone; not checked");
        any = true;
        return Result<config::FileText>{config::FileText{"amqp://not-read@localhost/", false}};
    };
    return environment;
}

/// What users of the settings would refuse before they ask any service. `unread`: certificates
/// and secrets of theirs may be for the service alone.
std::optional<Error> wrong_for_its_users(const config::Settings& settings, bool unread) {
    if (const auto compiled = compile_settings(settings); !compiled) return compiled.error();
    if (unread) return std::nullopt;
    boost::asio::io_context io{1};
    const auto cloud = connect_cloud(io, settings);
    if (!cloud) return cloud.error();
    const auto& prometheus = settings.oversubscription.prometheus;
    if (prometheus.url.empty()) return std::nullopt;
    const auto metrics = connect_metrics(io.get_executor(), prometheus, *cloud->clock);
    return metrics ? std::nullopt : std::optional<Error>{metrics.error()};
}

ExitCode check_config(const GlobalOptions& global, const Terminal& terminal) {
    std::vector<config::ConfigError> warnings;
    bool unread = false;
    const auto loaded =
        config::load_settings(global.config_file, without_credentials(terminal, unread), &warnings);
    for (const auto& warning : warnings) terminal.warn(config::to_string(warning));
    if (const auto* const errors = std::get_if<std::vector<config::ConfigError>>(&loaded)) {
        for (const auto& error : *errors) terminal.complain(config::to_string(error));
        return ExitCode::usage;
    }
    if (const auto wrong = wrong_for_its_users(std::get<config::Settings>(loaded), unread)) {
        terminal.complain(global.config_file + ": " + wrong->what);
        return ExitCode::usage;
    }
    return show_document(
        terminal,
        [&] {
            return nlohmann::json{{"file", global.config_file}, {"valid", true}};
        },
        [&] { return global.config_file + ": the configuration is valid\n"; });
}

/// Where each value comes from, by the file and this process's own environment.
ExitCode show_origins(const GlobalOptions& global, const Terminal& terminal) {
    const auto all = config::origins(global.config_file, config::system_environment());
    if (all.empty()) {
        terminal.complain(global.config_file +
                          ": can't be read, or is no YAML; 'reaper config --check' tells more");
        return ExitCode::usage;
    }
    const auto origin_of = [](const config::KeyOrigin& each) {
        return each.from.empty() ? std::string{"default"} : each.from;
    };
    return show_document(
        terminal,
        [&] {
            nlohmann::json keys = nlohmann::json::array();
            for (const auto& each : all)
                keys.push_back({{"key", each.key},
                                {"variable", each.variable},
                                {"from", origin_of(each)},
                                {"expected", each.expected}});
            return nlohmann::json{{"version", report::json_version},
                                  {"file", global.config_file},
                                  {"keys", std::move(keys)}};
        },
        [&] {
            std::size_t widest = 0;
            for (const auto& each : all) widest = std::max(widest, each.variable.size());
            std::string text;
            for (const auto& each : all)
                text += each.variable + std::string(widest - each.variable.size() + 2, ' ') +
                        origin_of(each) + "\n";
            return text;
        });
}

}  // namespace

ExitCode carry_out(const GlobalOptions& global, const ConfigCommand& command,
                   const Terminal& terminal) {
    if (command.check) return check_config(global, terminal);
    if (command.env) return show_origins(global, terminal);
    const auto complain = [&](const std::string& line) { terminal.complain(line); };
    const auto warn = [&](const std::string& line) { terminal.warn(line); };
    const auto settings = load_config(global.config_file, complain, warn);
    if (!settings) return ExitCode::usage;
    return show_document(
        terminal, [&] { return settings_json(*settings); },
        [&] { return config::to_yaml(*settings); });
}

// `reaper apply`: has the running daemon carry out a plan that a person looked at.

namespace {

using nlohmann::json;

json body_of(const SavedPlan& saved) {
    json body = saved.request;
    json victims = json::array();
    for (const Victim& victim : saved.plan.victims()) victims.push_back(victim.server.str());
    body["approved"] = {{"by", operator_name()},
                        {"planned_at", iso_time(saved.planned_at)},
                        {"victims", std::move(victims)}};
    return body;
}

std::string victims_text(const Plan& plan) {
    std::string text;
    for (const Victim& victim : plan.victims())
        text += "  " + report::safe(victim.server.str()) + "  " + report::safe(victim.name) +
                "  on " + report::safe(victim.host) + "\n";
    return text;
}

/// What the daemon would do with it now; nothing is done.
ExitCode check(DaemonApi& api, const SavedPlan& saved, const Terminal& terminal) {
    ExitCode code{};
    const auto answer = api.post("/v1/plan", body_of(saved), code, ExitCode::usage);
    if (!answer) return code;
    const json& said = *answer;
    if (!said.contains("stale")) {
        terminal.complain(api.name() + ": the answer does not say whether the plan is stale");
        return ExitCode::failed;
    }
    const auto paused =
        taken(report::pause_from_json(said.value("pause", json{})), api, terminal, code);
    if (!paused) return code;
    const json& stale = said.at("stale");
    if (wants_document(terminal)) answer_document(terminal, said);
    if (stale.is_string()) {
        terminal.complain(report::safe(stale.get<std::string>()));
        return ExitCode::stale;
    }
    const json& decision = said.at("decision");
    if (decision.value("decision", "plan") != "plan") {
        terminal.complain("no servers would be deleted: " +
                          report::safe(decision.value("reason", "the room is there")));
        return ExitCode::not_enough;
    }
    if (!wants_document(terminal))
        terminal.answer(
            "the plan holds: " + reaper::counted(saved.plan.victims().size(), "server") +
            " would be deleted\n" + victims_text(saved.plan));
    const auto no_help = said.value("no_help", json{});
    if (!*paused && !no_help.is_string()) return ExitCode::ok;
    std::vector<std::string> remarks = pause_remarks(*paused);
    if (!*paused) remarks.push_back("nothing would be done now: " + no_help.get<std::string>());
    if (!wants_document(terminal))
        for (const std::string& remark : remarks)
            terminal.answer("Remark: " + report::safe(remark) + ".\n");
    return ExitCode::not_enough;
}

}  // namespace

ExitCode carry_out(const GlobalOptions& global, const ApplyCommand& command,
                   const Terminal& terminal) {
    const auto saved = read_saved_plan(command.file);
    if (!saved) return terminal.fail(ExitCode::usage, saved.error());
    auto api = daemon_api(global, terminal);
    if (!api) return ExitCode::usage;
    return command.dry_run ? check(*api, *saved, terminal)
                           : show_request(*api, body_of(*saved), terminal);
}

}  // namespace reaper::cli
