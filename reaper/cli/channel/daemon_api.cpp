#include "reaper/cli/channel/daemon_api.hpp"

#include "reaper/cli/daemon/local_settings.hpp"
#include "reaper/ports/url.hpp"
#include "reaper/report/json.hpp"

namespace reaper::cli {
namespace {

using nlohmann::json;

ExitCode ending_for(const Error& error) {
    if (error.code == Errc::bad_input) return ExitCode::usage;
    const bool refused = error.code == Errc::unauthorized || error.code == Errc::forbidden;
    return refused ? ExitCode::refused : ExitCode::failed;
}

/// Whether it may be otherwise at the next try.
bool goes_by(Errc code) {
    return code != Errc::bad_input && code != Errc::unauthorized && code != Errc::forbidden;
}

bool is_refusal(const json& said) {
    return said.is_object() && said.contains("error");
}

/// No thing's absence begins so.
bool is_unknown_route(const std::string& why) {
    return why.starts_with("there is no /");
}

/// The daemon does not do it at all: `reservations.enabled is false`.
bool is_switched_off(const std::string& why) {
    return why.find(".enabled is false") != std::string::npos;
}

}  // namespace

std::optional<json> DaemonApi::get(const std::string& target, ExitCode& code, ExitCode missing) {
    return understood(channel_->ask(http::Method::get, target, ""), target, missing, code);
}

std::optional<json> DaemonApi::get_if_there(const std::string& target) {
    const auto answer = channel_->ask(http::Method::get, target, "");
    if (!answer || answer->status != 200) return std::nullopt;
    json said = parse_bounded(answer->body);
    if (!said.is_object()) return std::nullopt;
    return std::optional<json>{std::move(said)};
}

std::optional<json> DaemonApi::post(const std::string& target, const json& body, ExitCode& code,
                                    ExitCode missing) {
    return understood(channel_->ask(http::Method::post, target, report::dump(body)), target,
                      missing, code);
}

bool DaemonApi::post_lines(const std::string& target, const json& body,
                           const std::function<void(const std::string&)>& on_line, ExitCode& code,
                           ExitCode missing) {
    const auto answer = channel_->stream(http::Method::post, target, report::dump(body), on_line);
    code = ExitCode::ok;
    if (answer && answer->status == 200) return true;
    understood(answer, target, missing, code);
    return false;
}

bool DaemonApi::get_lines(const std::string& target,
                          const std::function<void(const std::string&)>& on_line, bool& interrupted,
                          ExitCode& code) {
    const auto answer = channel_->stream(http::Method::get, target, "", on_line);
    code = ExitCode::ok;
    interrupted = !answer && answer.error().code == Errc::cancelled;
    if (interrupted || (answer && answer->status == 200)) return true;
    understood(answer, target, ExitCode::failed, code);
    return false;
}

std::optional<json> DaemonApi::understood(const Result<http::LocalAnswer>& answer,
                                          const std::string& target, ExitCode missing,
                                          ExitCode& code) {
    may_pass_ = remote() && (answer ? answer->status >= 500 : goes_by(answer.error().code));
    const auto end = [&](ExitCode how, const std::string& why) {
        if (complain_)
            complain_(why);
        else
            terminal_.complain(why);
        code = how;
        return std::nullopt;
    };
    if (!answer) return end(ending_for(answer.error()), answer.error().what);
    code = ExitCode::ok;
    json said = parse_bounded(answer->body);
    const bool done = answer->status == 200 || answer->status == 202;
    if (done && said.is_object()) return std::optional<json>{std::move(said)};
    if (!is_refusal(said) && remote())
        return end(ExitCode::failed, name() + " answers " + std::to_string(answer->status) +
                                         ", and not as a reaper does: is that its admin.listen?");
    const std::string why = why_refused(*answer);
    switch (answer->status) {
        case 400:
            if (remote() && why.find("unknown parameter") != std::string::npos)
                return end(ExitCode::failed, older(target));
            return end(ExitCode::usage, why);
        case 409: return end(ExitCode::not_enough, why);
        case 401:
            return end(ExitCode::refused,
                       name() + ": 401: " + why +
                           "; is the token (--token-file, OS_TOKEN) still good, and of its cloud?");
        case 403: return end(remote() ? ExitCode::refused : ExitCode::failed, why);
        case 404:
            if (is_switched_off(why)) return end(ExitCode::usage, why);
            if (!is_unknown_route(why)) return end(missing, why);
            return end(ExitCode::failed, older(target));
        default: return end(ExitCode::failed, remote() ? name() + ": " + why : why);
    }
}

/// It does not know what is asked for, or a part of that.
std::string DaemonApi::older(const std::string& target) const {
    return name() + ": its daemon does not know " + target.substr(0, target.find('?')) +
           ", or not all of it: it is older than this program; upgrade it, or run the command of "
           "its own version there";
}

std::string target_of(const std::string& path,
                      const std::vector<std::pair<std::string, std::string>>& parameters) {
    std::string target = path;
    char mark = '?';
    for (const auto& [name, value] : parameters) {
        if (value.empty()) continue;
        target += mark + name + "=" + http::escape(value);
        mark = '&';
    }
    return target;
}

std::optional<DaemonApi> daemon_api(const GlobalOptions& global, const Terminal& terminal) {
    if (!global.api.url.empty()) {
        auto channel = api_channel(global.api, config::system_environment());
        if (channel) return DaemonApi{std::move(*channel), terminal};
        terminal.complain(channel.error().what);
        return std::nullopt;
    }
    const auto settings = local_settings(global, terminal);
    if (!settings) return std::nullopt;
    const std::string& socket = settings->admin.asked_socket();
    if (!socket.empty()) return DaemonApi{socket_channel(socket), terminal};
    terminal.complain(global.config_file +
                      ": admin.socket is not set, so the daemon can't be asked on this machine: "
                      "set admin.socket: /run/reaper/admin.sock and restart the reaper, or use "
                      "--api URL, its admin.listen");
    return std::nullopt;
}

}  // namespace reaper::cli
