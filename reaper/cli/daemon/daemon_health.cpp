#include "reaper/cli/daemon/daemon_health.hpp"

#include <utility>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/cli/daemon/local_settings.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/daemon/api_channel.hpp"
#include "reaper/json/json_text.hpp"
#include "reaper/model/text.hpp"
#include "reaper/report/json.hpp"

namespace reaper::cli {
namespace {

using nlohmann::json;
using State = DaemonHealth::State;

constexpr std::chrono::seconds patience{5};
constexpr std::size_t longest_why = 500;

/// `broker: not connected; cache: not read yet`: the checks that are not ok.
std::string failing_checks(const json& said) {
    std::string text;
    for (const json& check : said.value("checks", json::array())) {
        if (!check.is_object() || check.value("ok", false)) continue;
        text += (text.empty() ? "" : "; ") + check.value("name", std::string{}) + ": " +
                check.value("detail", std::string{});
    }
    return printable(text, longest_why);
}

bool has_note(const json& said, const std::string& name) {
    for (const json& note : said.value("notes", json::array()))
        if (note.is_object() && note.value("name", std::string{}) == name) return true;
    return false;
}

bool is_probe(const json& said) {
    return said.is_object() && said.contains("checks") && said.at("checks").is_array() &&
           said.contains("notes") && said.at("notes").is_array();
}

DaemonHealth unanswered(const Error& error) {
    DaemonHealth health;
    health.why = printable(error.what, longest_why);
    if (error.code == Errc::unreachable) health.state = State::not_running;
    if (error.code == Errc::timeout) health.state = State::silent;
    return health;
}

/// 200 and 503 are answers of a probe; else the result says why not.
DaemonHealth health_in(const http::LocalAnswer& answer, State good, State bad) {
    const json said = parse_bounded(answer.body);
    DaemonHealth health;
    if (!is_probe(said)) {
        // It refuses before it is up.
        health.state = answer.status == 503 ? bad : State::unknown;
        health.why = printable(why_refused(answer), longest_why);
        return health;
    }
    health.state = answer.status == 200 ? good : bad;
    health.why = failing_checks(said);
    health.dry_run = has_note(said, "dry-run");
    return health;
}

/// Who listens on all addresses is asked on loopback.
std::string reachable(const std::string& listen) {
    for (const auto& [all, loopback] :
         {std::pair{"0.0.0.0:", "127.0.0.1:"}, std::pair{"[::]:", "[::1]:"}})
        if (listen.starts_with(all)) return loopback + listen.substr(std::string{all}.size());
    return listen;
}

}  // namespace

const char* to_string(State state) {
    switch (state) {
        case State::ready: return "ready";
        case State::not_ready: return "not ready";
        case State::failing: return "failing";
        case State::silent: return "silent";
        case State::not_running: return "not running";
        case State::unknown: return "not known";
    }
    return "not known";
}

std::string to_text(const DaemonHealth& health) {
    return std::string{"daemon: "} + to_string(health.state) +
           (health.dry_run ? ", in a dry run" : "") +
           (health.why.empty() ? "" : " (" + health.why + ")");
}

json to_json(const DaemonHealth& health) {
    const bool told = health.state == State::ready || health.state == State::not_ready ||
                      health.state == State::failing;
    return {{"state", to_string(health.state)},
            {"why", health.why.empty() ? json(nullptr) : json(health.why)},
            {"dry_run", told ? json(health.dry_run) : json(nullptr)}};
}

DaemonHealth health_from(const Result<http::LocalAnswer>& live,
                         const Result<http::LocalAnswer>& ready) {
    if (!live) return unanswered(live.error());
    const DaemonHealth lives = health_in(*live, State::ready, State::failing);
    if (lives.state != State::ready) return lives;
    if (!ready) return unanswered(ready.error());
    return health_in(*ready, State::ready, State::not_ready);
}

std::string where_to_ask(const config::LocalSettings& settings) {
    const std::string& socket = settings.admin.asked_socket();
    if (!socket.empty()) return "unix:" + socket;
    if (!settings.metrics.listen.empty()) return "http://" + reachable(settings.metrics.listen);
    if (settings.admin.listen.empty() || !settings.admin.cert_file.empty()) return {};
    return "http://" + reachable(settings.admin.listen);
}

namespace {

DaemonHealth health_by(ApiChannel& channel) {
    const auto live = channel.ask(http::Method::get, "/healthz", "");
    if (!live) return unanswered(live.error());
    return health_from(live, channel.ask(http::Method::get, "/readyz", ""));
}

DaemonHealth health_at(const ApiOptions& options, const config::Environment& environment) {
    const auto channel = api_channel(options, environment);
    return channel ? health_by(**channel) : unanswered(channel.error());
}

}  // namespace

DaemonHealth local_health(const config::LocalSettings& settings) {
    const std::string where = where_to_ask(settings);
    if (where.empty()) {
        DaemonHealth health;
        health.why =
            "the configuration has neither admin.socket nor metrics.listen, so no client can ask "
            "it: set metrics.listen: 127.0.0.1:9787 (or admin.socket: /run/reaper/admin.sock) and "
            "restart the reaper";
        return health;
    }
    const std::string& socket = settings.admin.asked_socket();
    if (!socket.empty()) {
        const auto channel = socket_channel(socket);
        channel->wait_for(patience);
        return health_by(*channel);
    }
    // The probes ask for no token: none goes to another program that may listen there.
    ApiOptions options;
    options.url = where;
    config::Environment nothing = config::system_environment();
    nothing.variable = [](const std::string&) { return std::optional<std::string>(); };
    return health_at(options, nothing);
}

DaemonHealth health_over(const ApiOptions& options) {
    return health_at(options, config::system_environment());
}

// `reaper health`: whether the daemon runs and is ready, for health checks of containers.

namespace {

using State = DaemonHealth::State;

/// None, with the reason printed, if no daemon can be asked.
std::optional<DaemonHealth> asked(const GlobalOptions& global, const Terminal& terminal) {
    if (global.api.url.empty()) {
        const auto settings = local_settings(global, terminal);
        if (!settings) return std::nullopt;
        return local_health(*settings);
    }
    return health_over(global.api);
}

ExitCode code_of(const DaemonHealth& health, bool only_live) {
    switch (health.state) {
        case State::ready: return ExitCode::ok;
        case State::not_ready: return only_live ? ExitCode::ok : ExitCode::attention;
        default: return ExitCode::failed;
    }
}

}  // namespace

ExitCode carry_out(const GlobalOptions& global, const HealthCommand& command,
                   const Terminal& terminal) {
    const auto health = asked(global, terminal);
    if (!health) return ExitCode::usage;
    const auto document = [&] {
        return nlohmann::json{{"version", report::json_version}, {"daemon", to_json(*health)}};
    };
    const ExitCode shown =
        show_document(terminal, document, [&] { return to_text(*health) + "\n"; });
    return shown == ExitCode::ok ? code_of(*health, command.live) : shown;
}

}  // namespace reaper::cli
