// The admin API of a daemon, for commands: what it answers, or why it does not, in one line.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reaper/cli/output/terminal.hpp"
#include "reaper/daemon/api_channel.hpp"
#include "reaper/json/json_text.hpp"

namespace reaper::cli {

// What the daemon says when it refuses a call of a command.

/// In one line: the message of `{error: {message}}`; else its status.
inline std::string why_refused(const http::LocalAnswer& answer) {
    using nlohmann::json;
    const std::string unknown = "the daemon answers " + std::to_string(answer.status);
    const json said = parse_bounded(answer.body);
    if (!said.is_object() || !said.contains("error")) return unknown;
    const json& error = said.at("error");
    const json message = error.is_object() ? error.value("message", json{}) : json{};
    return message.is_string() && !message.empty() ? message.get<std::string>() : unknown;
}

class DaemonApi {
public:
    /// The terminal must outlive it.
    DaemonApi(std::unique_ptr<ApiChannel> channel, const Terminal& terminal)
        : channel_(std::move(channel)), terminal_(terminal) {}

    /// The object that is answered with 200 or 202. None, and told, if there is none; `code` is how
    /// the command ends then: `usage` for 400 and what the daemon has off, `not_enough` for 409,
    /// `refused` for 401 and 403 of a remote one, `missing` for a thing that is not there (404),
    /// else `failed`.
    std::optional<nlohmann::json> get(const std::string& target, ExitCode& code,
                                      ExitCode missing = ExitCode::failed);
    /// The same where the command does without: nothing is printed.
    std::optional<nlohmann::json> get_if_there(const std::string& target);
    std::optional<nlohmann::json> post(const std::string& target, const nlohmann::json& body,
                                       ExitCode& code, ExitCode missing = ExitCode::failed);
    /// The lines of an answer of status 200 go to `on_line` as they come. False, and told, if it is
    /// none; then `code` says how to end.
    bool post_lines(const std::string& target, const nlohmann::json& body,
                    const std::function<void(const std::string&)>& on_line, ExitCode& code,
                    ExitCode missing = ExitCode::failed);
    /// The same with GET; `interrupted`: by Ctrl-C, and that was not printed.
    bool get_lines(const std::string& target,
                   const std::function<void(const std::string&)>& on_line, bool& interrupted,
                   ExitCode& code);
    /// How long a whole answer to a GET may take from now on; a minute if nothing is said.
    void wait_for(Duration longest) { channel_->wait_for(longest); }
    /// Whether the last question may have come to the daemon: a connection was made.
    bool heard() const { return channel_->heard(); }
    /// Of the last failure: a remote daemon is away, or in trouble of its own; another try may go
    /// well.
    bool may_pass() const { return may_pass_; }
    /// What it would complain of on the terminal goes there, until it is given an empty one.
    void complain_to(std::function<void(const std::string&)> complain) {
        complain_ = std::move(complain);
    }
    std::string name() const { return channel_->name(); }
    bool remote() const { return channel_->remote(); }

private:
    std::optional<nlohmann::json> understood(const Result<http::LocalAnswer>& answer,
                                             const std::string& target, ExitCode missing,
                                             ExitCode& code);

    std::string older(const std::string& target) const;

    std::unique_ptr<ApiChannel> channel_;
    const Terminal& terminal_;
    std::function<void(const std::string&)> complain_;  ///< empty: to the terminal
    bool may_pass_ = false;
};

/// `/v1/requests?limit=20&...`: what is empty is left out.
std::string target_of(const std::string& path,
                      const std::vector<std::pair<std::string, std::string>>& parameters);

/// The daemon that --api names, or this machine's by its socket. None, and told, if neither can be
/// asked.
std::optional<DaemonApi> daemon_api(const GlobalOptions& global, const Terminal& terminal);

/// What `read` makes of an answer; else how the command ends, with the reason printed.
template <class T>
std::optional<T> taken(Result<T> read, const DaemonApi& api, const Terminal& terminal,
                       ExitCode& code) {
    if (read) return std::move(*read);
    terminal.complain(api.name() + ": its answer is not understood (" + read.error().what +
                      "): its daemon is of another version than this program");
    code = ExitCode::failed;
    return std::nullopt;
}

}  // namespace reaper::cli
