// The one HTTP client: keep-alive connections per endpoint, TLS, deadlines, bounded concurrency,
// and retries where a retry is safe.
//
// A call is tried again, after an exponential pause with full jitter, on a broken or refused
// connection and on 429, 502, 503 and 504 if it is safe to repeat, and on 500 if it is a GET or
// HEAD; `Retry-After` is honoured if it ends before the deadline does. A kept connection that turns
// out closed by its server is replaced at once. Redirects are not followed: the caller gets the
// 3xx. Proxies of the environment are not used: the reaper talks to the cloud's own network.
//
// Not thread-safe: use it on its executor's thread only.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "reaper/model/error.hpp"
#include "reaper/ports/http_client.hpp"
#include "reaper/runtime/clock.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper::http {

struct TlsOptions {
    std::string ca_file;              ///< PEM; empty: the system's certificates
    std::string cert_file, key_file;  ///< our own certificate, PEM; both or none
    bool verify = true;
    std::string ca_key = "cloud.ca_file";  ///< the setting to name when verification fails
};

struct Options {
    TlsOptions tls;
    Duration call_timeout{30'000};     ///< one call, all of it
    Duration connect_timeout{5'000};   ///< name, TCP and TLS of one connection
    Duration idle_timeout{30'000};     ///< a connection unused for longer is not used again
    std::size_t max_connections = 8;   ///< at a time, per endpoint (scheme, host, port)
    std::size_t max_waiting = 65'536;  ///< calls that wait for a connection, per endpoint
    int max_retries = 4;               ///< after the first try
    Duration backoff{250};
    Duration backoff_max{10'000};
    std::uint64_t max_body_bytes = 256ULL * 1024 * 1024;
    /// Numbers from 0 up to, not including, 1, for the jitter; empty: the client's own.
    std::function<double()> random;
    /// Called after each try; must outlive the calls. Empty: not called.
    CallObserver on_try{};
};

/// `bad_input` if a certificate or key can't be read. Calls that are under way keep what they need
/// alive; `clock` must outlive them.
Result<std::unique_ptr<Client>> make_client(boost::asio::any_io_executor executor, Options options,
                                            Clock& clock);

// One request over a Unix socket, for commands that wait for the answer: a GET, or a POST of JSON.
// `unreachable`: no process listens there; `forbidden`: the socket belongs to another user.

/// The answer has its whole body, whatever its status. `timeout`: nothing came for that time.
/// `connected`: false if surely nothing was sent.
Result<LocalAnswer> ask_locally(const std::string& socket, Method method, const std::string& target,
                                const std::string& body, Duration longest_silence, bool& connected);

/// Waits for the end of the answer. `on_line` gets each line of one of status 200 as it comes.
Result<LocalAnswer> stream_locally(const std::string& socket, Method method,
                                   const std::string& target, const std::string& body,
                                   const std::function<void(const std::string&)>& on_line);

}  // namespace reaper::http
