// A way to the admin API of a running daemon: its Unix socket, or its port over the network.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "config/secret.hpp"
#include "reaper/ports/http_client.hpp"

namespace reaper {

namespace config {
struct Environment;
}

/// `localhost`, or an address of the loopback.
bool is_this_machine(const std::string& host);

/// A daemon that is asked over its admin API instead of what is on this machine.
struct ApiOptions {
    std::string url;         ///< --api or REAPER_API; empty: this machine
    std::string ca_file;     ///< PEM; empty: the system's
    std::string cert_file;   ///< PEM, shown to the daemon; empty: none
    std::string key_file;    ///< PEM, of that
    std::string token_file;  ///< empty: OS_TOKEN, or Keystone
    /// Keystone's, as long as this program runs; empty: none was needed.
    std::shared_ptr<config::Secret> fetched = std::make_shared<config::Secret>();
};

class ApiChannel {
public:
    virtual ~ApiChannel() = default;
    /// How long a whole answer to a GET may take from now on; a minute if nothing is said.
    void wait_for(Duration longest) { longest_ = longest; }
    /// The answer with its whole body, whatever its status; `body` is JSON, or empty. Failures say
    /// where it was, and what to do: `unreachable`, `timeout`, `tls`, `bad_input` (a token that
    /// can't be read or must not be sent), `unauthorized` and `forbidden` (Keystone's), ...
    virtual Result<http::LocalAnswer> ask(http::Method method, const std::string& target,
                                          const std::string& body) = 0;
    /// The same; the lines of an answer of status 200 go to `on_line` as they come. One that breaks
    /// off ends as one that is over. Over the network Ctrl-C ends it: `cancelled`.
    virtual Result<http::LocalAnswer> stream(
        http::Method method, const std::string& target, const std::string& body,
        const std::function<void(const std::string&)>& on_line) = 0;
    /// `https://controller:8787`; of a socket its path.
    virtual std::string name() const = 0;
    /// False: surely not a byte of the last question of `ask` went out.
    virtual bool heard() const { return true; }
    /// Over the network, or through whatever --api names.
    virtual bool remote() const { return true; }

protected:
    Duration longest_{60'000};
};

/// The socket of this machine's daemon.
std::unique_ptr<ApiChannel> socket_channel(const std::string& path);

/// What --api names: `https://HOST:PORT`, `http://HOST:PORT` or `unix:/PATH`, with or without a
/// path before `/v1`. The token of --token-file or OS_TOKEN identifies the caller; else, once the
/// daemon demands one, by a new token of Keystone, as the other OS_* variables say. A token goes
/// over TLS or to this machine only. `bad_input` for what can't be an address.
Result<std::unique_ptr<ApiChannel>> api_channel(const ApiOptions& options,
                                                const config::Environment& environment);

}  // namespace reaper
