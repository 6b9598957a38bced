// The HTTP server: listens on an IP address or a Unix socket, with or without TLS, reads requests,
// asks the handler, sends its answers.
//
// One thread with everything else, and no burden to it: headers and bodies are bounded, each step
// of a connection has a deadline, and only so many connections are open at once. When all places
// are taken, the connection that has waited for its client for the longest time (for a whole
// request, or until it reads its answer) is closed, first of the address with the most such
// connections. When all are being answered, a few more are let in, for probes alone, and others
// wait in the kernel's queue. Connections are kept for further requests (HTTP/1.1).
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reaper/model/error.hpp"
#include "reaper/ports/http_handler.hpp"

namespace reaper {

struct HttpServerLimits {
    std::size_t connections = 16;  ///< open at once
    std::size_t for_probes = 4;    ///< beside these
    std::size_t header_bytes = 8192;
    std::size_t body_bytes = 64 * 1024;
    std::chrono::milliseconds read{10'000};   ///< from a request's first byte to its last
    std::chrono::milliseconds write{30'000};  ///< for each piece of an answer
    std::chrono::milliseconds idle{5'000};    ///< between two requests
};

/// PEM files; those that change are read again.
struct HttpServerTls {
    std::string cert_file;  ///< with the chain
    std::string key_file;
    std::string client_ca_file{};  ///< not empty: clients must show a certificate of it
};

struct HttpServerSettings {
    std::string name;  ///< for messages: `admin API`
    /// `IP:PORT` (IPv6 in brackets, port 0: any), or `unix:/PATH`: a socket for its owner alone.
    std::string address;
    std::optional<HttpServerTls> tls{};
    HttpServerLimits limits{};
    /// What clients may call it beside its address (and `localhost`, for one on loopback). A
    /// request under another name, or from a page of another site, is refused.
    std::vector<std::string> names{};
    /// A Unix socket: members of its group may connect too (a directory with the setgid bit gives
    /// it its own).
    bool group_too = false;
    /// Paths that are answered when all places are taken: a daemon that has much to do is alive.
    std::vector<std::string> probes{"/healthz", "/readyz"};
};

/// Listens at once. `bad_input` if an address or a file can't be used, `unreachable` if it can't be
/// listened on (a left-over Unix socket is replaced). `handler` is called on the executor's thread,
/// and must work until the executor's context has ended.
Result<std::unique_ptr<HttpServer>> listen_http(boost::asio::any_io_executor executor,
                                                HttpServerSettings settings, HttpHandler handler);

}  // namespace reaper
